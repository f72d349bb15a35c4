"""CRAB: imported tasks given back in their own files. Other tasks are refused: CRAB's subtasks are its own
programs."""

from __future__ import annotations

from pathlib import Path

from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.given_back import given_back
from taskloom.warehouse.exporting.record_files import write_json

REFUSES_TASKS = True
"""Whether tasks that it cannot write are refused by their ids."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per task, under the path it came from.

    Raises:
        ExportRefusedError: no task was imported from CRAB.
    """
    found, refused = given_back(source, "crab", "CRAB")
    for item in found:
        write_json(folder / item.place, item.content)
    return ExportOutcome(counts={"tasks": len(found)}, refused=refused)
