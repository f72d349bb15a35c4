"""TaskBench: imported tasks given back in their own files. Other tasks are refused: their nodes are no tool
calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.given_back import given_back
from taskloom.warehouse.exporting.record_files import write_json, write_lines
from taskloom.warehouse.records import ImportedItem

REFUSES_TASKS = True
"""Whether tasks that it cannot write are refused by their ids."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write `data.json` (one task per line) and `graph_desc.json` of every domain.

    Raises:
        ExportRefusedError: no task was imported from TaskBench.
    """
    found, refused = given_back(source, "taskbench", "TaskBench")
    by_file: dict[str, list[object]] = defaultdict(list)
    for item in sorted(found, key=lambda item: _position(item.place)):
        by_file[item.place.rpartition(":")[0]].append(item.content)
    for place, contents in by_file.items():
        write_lines(folder / place, _objects(contents))
    whole = "format = 'taskbench' AND item_kind = 'file'"
    for item in source.warehouse.read(ImportedItem, whole):
        if any(Path(item.place).parent == Path(place).parent for place in by_file):
            write_json(folder / item.place, item.content)
    return ExportOutcome(counts={"tasks": len(found)}, refused=refused)


def _position(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)


def _objects(contents: list[object]) -> Iterator[Mapping[str, object]]:
    for content in contents:
        if isinstance(content, dict):
            yield content
