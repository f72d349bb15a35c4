"""Imported tasks given back in the format they came in, field for field."""

from __future__ import annotations

from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import ExportSource, Refused
from taskloom.warehouse.records import ImportedItem


def given_back(
    source: ExportSource, format_name: str, title: str
) -> tuple[list[ImportedItem], tuple[Refused, ...]]:
    """The tasks that were imported from a format, as they came in, and the others with the reason.

    Raises:
        ExportRefusedError: none was.
    """
    found: list[ImportedItem] = []
    refused: list[Refused] = []
    for task, item in source.with_originals():
        if item is not None and item.format == format_name:
            found.append(item)
        else:
            refused.append(Refused(item_id=task.task_id, reason=f"not imported from {format_name}"))
    if not found:
        raise ExportRefusedError(
            f"None of the selected tasks was imported from {title}, and only those can be written back."
        )
    return found, tuple(refused)
