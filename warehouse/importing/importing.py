"""Takes other people's data into the warehouse: everything of an import in one commit, or nothing.

A format is a module in `imports/` with one function, `read(path) -> Iterator[Record]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from resources.record import Record
from taskgraph.records.task import Rejection, Task
from warehouse.errors import ImportRefusedError
from warehouse.lookup import import_module_of
from warehouse.records import ImportedItem
from warehouse.schema import TABLE_OF_RECORD
from warehouse.store import Warehouse


class ImportSummary(Record):
    """What an import brought."""

    format: str
    """Import format."""
    counts: dict[str, int]
    """Records per table."""
    infeasible: int
    """Tasks that their makers declare impossible."""
    rejected: tuple[Rejection, ...] = ()
    """Tasks that could not be understood, with the reason."""


def read_import(format_name: str, path: Path) -> list[Record]:
    """All records of `path`, checked, without storing any.

    Raises:
        ImportRefusedError: something breaks the format; file, field and reason are named.
        UnknownFormatError: no such format.
    """
    records: list[Record] = list(import_module_of(format_name).read(path))
    if not records:
        raise ImportRefusedError(str(path), "", f"holds nothing that {format_name} describes")
    return records


def run_import(warehouse: Warehouse, format_name: str, path: Path) -> ImportSummary:
    """Store everything of `path`; importing it again changes nothing.

    Raises:
        ImportRefusedError: something breaks the format; nothing was stored.
        UnknownFormatError: no such format.
        WarehouseUnavailableError: the warehouse cannot be written; nothing was stored.
    """
    return store_import(warehouse, format_name, read_import(format_name, path))


def store_import(warehouse: Warehouse, format_name: str, records: Sequence[Record]) -> ImportSummary:
    """Store what `read_import` read, all or nothing.

    Raises:
        WarehouseUnavailableError: the warehouse cannot be written; nothing was stored.
    """
    warehouse.write(records)
    counts = Counter(TABLE_OF_RECORD[type(item)].name for item in records)
    if not any(isinstance(item, Task) for item in records):
        counts["tasks"] = 0
    return ImportSummary(
        format=format_name,
        counts=dict(sorted(counts.items())),
        infeasible=sum(isinstance(item, ImportedItem) and item.infeasible for item in records),
        rejected=tuple(item for item in records if isinstance(item, Rejection)),
    )
