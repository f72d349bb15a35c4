"""Imports foreign data into the warehouse, in one commit or not at all; and reads published instructions
to compare tasks with.

A format is a module in `imports/` with one function, `read(path) -> Iterator[Record | BrokenItem]`, which
returns the records of a collection and its broken items.
"""

import csv
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol, cast

from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome
from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.warehouse.errors import BROKEN, ImportRefusedError
from taskloom.warehouse.importing.items import BrokenItem, items_of, table_rows
from taskloom.warehouse.importing.json_reading import read_text
from taskloom.warehouse.lookup import IMPORTS
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.store import Warehouse

_WRONG_FORMAT_ITEMS: Final = 10
"""Number of broken items, without a valid one, from which a collection is taken for another format's."""
_NAMES: Final = 3
_PLACE: Final = re.compile(r"^(?:line \d+|\[\d+\])\.?")


class ImportFormat(Protocol):
    """What an import format offers."""

    @staticmethod
    def read(path: Path) -> Iterator[Record | BrokenItem]:
        """The records of a collection, and its broken items."""
        ...


class ImportSummary(Record):
    """What an import stored."""

    format: str
    """Import format."""
    counts: dict[str, int]
    """Records per table."""
    infeasible: int
    """Tasks that their authors declare infeasible."""
    rejected: tuple[Rejection, ...] = ()
    """Broken items that were skipped, with the reason."""


@dataclass(frozen=True, slots=True)
class ImportReading:
    """The valid records and the broken items of a collection."""

    records: tuple[Record, ...]
    broken: tuple[BrokenItem, ...]

    def with_rejections(self, format_name: str) -> list[Record]:
        """Records of the valid items, and rejections in place of the broken ones."""
        rejected = (record for item in self.broken for record in item.records(format_name))
        return [*self.records, *rejected]


def survey_import(format_name: str, path: Path) -> ImportReading:
    """Everything in `path`, a file, folder or `.zip`, valid or broken; stores nothing. Refused if it
    holds nothing in the format, or many items of which none is valid."""
    records: list[Record] = []
    broken: list[BrokenItem] = []
    module = cast(ImportFormat, IMPORTS.load(format_name))
    with unpacked(path) as root:
        for item in module.read(root):
            if isinstance(item, BrokenItem):
                broken.append(item)
            else:
                records.append(item)
    if not records and not broken:
        raise ImportRefusedError(str(path), "", f"holds nothing in the format {format_name}")
    if not records and len(broken) >= _WRONG_FORMAT_ITEMS and {item.code for item in broken} == {BROKEN}:
        raise ImportRefusedError(str(path), "", _wrong_format_reason(format_name, broken))
    return ImportReading(tuple(records), tuple(broken))


def _wrong_format_reason(format_name: str, broken: Sequence[BrokenItem]) -> str:
    faults = Counter(
        f"{_PLACE.sub('', fault.field)} {fault.reason}".strip() for item in broken for fault in item.faults
    )
    fault, count = faults.most_common(1)[0]
    names = Counter(PurePosixPath(fault.file).name for item in broken for fault in item.faults[:1])
    first_names = ", ".join(name for name, _ in names.most_common(_NAMES))
    expected = " ".join(IMPORTS.text_of(format_name).partition("\n\n")[0].split())
    return (
        f"none of its {len(broken)} items is in the format {format_name}; found: {first_names}"
        f"{', …' if len(names) > _NAMES else ''}, most often ({count} times): {fault}; expected: {expected}"
    )


def read_import(format_name: str, path: Path, *, skip_broken: bool = False) -> list[Record]:
    """All records in `path`, checked but not stored; with `skip_broken`, rejections replace broken items;
    otherwise `ImportRefusedError` names every fault."""
    reading = survey_import(format_name, path)
    if not reading.broken:
        return list(reading.records)
    if not skip_broken:
        faults = [fault for item in reading.broken for fault in item.faults]
        valid = sum(isinstance(item, Task) for item in reading.records)
        raise ImportRefusedError.listing(
            faults,
            hint=(
                f"{len(reading.broken)} items are broken. `--skip-broken` imports the {valid} tasks that are"
                " valid and records the others as rejections."
            ),
            code=reading.broken[0].code,
        )
    return reading.with_rejections(format_name)


def store_import(warehouse: Warehouse, format_name: str, records: Sequence[Record]) -> ImportSummary:
    """Store what `read_import` read, all or nothing."""
    verdicts = [item for item in records if isinstance(item, JudgedOutcome)]
    if verdicts:
        warehouse.write(verdicts, replace=True)
    warehouse.write([item for item in records if not isinstance(item, JudgedOutcome)])
    counts = Counter(TABLE_OF_RECORD[type(item)].name for item in records)
    if not any(isinstance(item, (Task, JudgedOutcome)) for item in records):
        counts["tasks"] = 0
    return ImportSummary(
        format=format_name,
        counts=dict(sorted(counts.items())),
        infeasible=sum(isinstance(item, ImportedItem) and item.infeasible for item in records),
        rejected=tuple(item for item in records if isinstance(item, Rejection)),
    )


_MAX_BYTES: Final = 4_000_000_000
_MAX_FILES: Final = 500_000


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The unpacked folder of a `.zip` file, named like the file or its only folder; any other path unchanged.
    A zip file that is incomplete, encrypted, or larger unpacked than 4 GB or 500,000 files is refused."""
    if path.suffix.casefold() != ".zip" or not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="taskloom-import-") as place:
        folder = Path(place, path.stem)
        folder.mkdir()
        _unpack(path, folder)
        inside = list(folder.iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _unpack(path: Path, folder: Path) -> None:
    """`zipfile` keeps names that would escape the folder inside it, and turns links into plain files."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_FILES or sum(entry.file_size for entry in entries) > _MAX_BYTES:
                raise ImportRefusedError(
                    str(path),
                    "",
                    f"unpacks to more than {_MAX_FILES} files or {_MAX_BYTES} bytes; unpack it first",
                )
            archive.extractall(folder)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise ImportRefusedError(str(path), "", f"is not a readable zip file: {error}") from None
    except OSError as error:
        raise ImportRefusedError(str(path), "", f"cannot be unpacked: {error.strerror or error}") from None


FIELDS: Final = ("instruction", "intent", "confirmed_task", "description", "goal", "task_description", "task")
"""Fields in which collections keep an instruction; the first that an item has is used."""
_JSON: Final = (".json", ".jsonl", ".ndjson")
_TEXT_TYPES: Final = ("string", "large_string")
_ROWS: Final = 1000
_TABLES: Final = (".parquet", *_JSON, ".csv", ".tsv")


def instructions_in(source: str) -> list[str]:
    """The instructions of a source; refused if it cannot be read, or has none.

    A source is `FORMAT:PATH` for a collection in an import format; a table (Parquet, JSON, JSON Lines,
    CSV), followed by `:COLUMN` if its instructions have another name; or a text file, one per line.
    """
    name, _, place = source.partition(":")
    if place and name in IMPORTS:
        return _instructions_of_collection(name, Path(place))
    path, column = Path(source), ""
    if not path.is_file() and Path(source.rpartition(":")[0]).is_file():
        path, column = Path(source.rpartition(":")[0]), source.rpartition(":")[2]
    if path.suffix not in _TABLES:
        if column:
            raise ImportRefusedError(
                str(path),
                "",
                f"is read line by line and has no column {column!r}; tables end with {', '.join(_TABLES)}",
            )
        return read_text(path, str(path)).splitlines()
    return _instructions_of_table(path, column)


def _instructions_of_collection(format_name: str, path: Path) -> list[str]:
    """Instructions of broken items are included, because they have been published too."""
    reading = survey_import(format_name, path)
    instructions = [item.instruction for item in reading.records if isinstance(item, Task)]
    return instructions + [text for item in reading.broken if (text := _instruction(item.content, ""))]


def _instructions_of_table(path: Path, column: str) -> list[str]:
    instructions: list[str] = []
    columns: dict[str, None] = {}
    for row in _read_rows(path):
        if isinstance(row, dict):
            columns.update(dict.fromkeys(row))
        if text := _instruction(row, column):
            instructions.append(text)
    if not instructions:
        expected = repr(column) if column else f"any of {', '.join(FIELDS)}"
        raise ImportRefusedError(
            str(path),
            "",
            f"has no text under {expected}; it has: {', '.join(columns) or 'nothing'}. Add the column of"
            f" instructions after the file, as in {path.name}:question",
        )
    return instructions


def _instruction(row: JsonValue | Mapping[str, object], column: str) -> str:
    if isinstance(row, str):
        return "" if column else row
    if not isinstance(row, Mapping):
        return ""
    texts = (row.get(name) for name in ((column,) if column else FIELDS))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _read_rows(path: Path) -> Iterator[JsonValue]:
    if path.suffix in _JSON:
        for item in items_of([(path, str(path))]):
            if isinstance(item, BrokenItem):
                raise ImportRefusedError.listing(item.faults)
            yield item.value
    elif path.suffix == ".parquet":
        # The other columns may be large.
        yield from table_rows(path, str(path), _ROWS, lambda column: str(column.type) in _TEXT_TYPES)
    else:
        lines = read_text(path, str(path)).splitlines(keepends=True)
        yield from csv.DictReader(lines, restkey="", delimiter="\t" if path.suffix == ".tsv" else ",")
