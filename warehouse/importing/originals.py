"""Exports imported tasks in the format they came in, field for field."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.warehouse.exporting.exporting import ExportSource, Refused
from taskloom.warehouse.records import ImportedItem


def originals(source: ExportSource, format_name: str) -> tuple[list[ImportedItem], list[Refused]]:
    """The selected tasks that were imported from `format_name`, and the others with the reason."""
    found: list[ImportedItem] = []
    refused: list[Refused] = []
    for task, item in source.with_originals():
        if item is not None and item.format == format_name:
            found.append(item)
        else:
            refused.append(Refused(item_id=task.task_id, reason=f"not imported from {format_name}"))
    return found, refused


def file_items(source: ExportSource, format_name: str) -> Iterator[ImportedItem]:
    """Files that were imported whole with the tasks, such as a description of all tools."""
    yield from source.warehouse.read(
        ImportedItem, "format = $format AND item_kind = 'file'", {"format": format_name}
    )
