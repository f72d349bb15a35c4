"""CRAB: imported tasks given back in their own files. Other tasks are refused: CRAB's subtasks are its own
programs."""

from __future__ import annotations

from pathlib import Path

from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.record_files import write_json
from taskloom.warehouse.importing.originals import originals

REFUSES_TASKS = True
"""Whether tasks that it cannot write are refused by their ids."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per task, under the path it came from.

    Raises:
        ExportRefusedError: no task was imported from CRAB.
    """
    found, refused = originals(source, "crab")
    if not found:
        raise ExportRefusedError(
            "None of the selected tasks was imported from CRAB, and only those can be written back."
        )
    for item in found:
        write_json(folder / item.place, item.content)
    return ExportOutcome(counts={"tasks": len(found)}, refused=tuple(refused))
