"""Imports other people's data into the warehouse: all of it in one commit, or nothing.

A format is a module in `imports/` with one function, `read(path) -> Iterator[Record | BrokenItem]`.
"""

import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol, cast

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome
from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.warehouse.errors import BROKEN, ImportRefusedError
from taskloom.warehouse.importing.items import BrokenItem
from taskloom.warehouse.lookup import IMPORTS
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.store import Warehouse

_OF_ANOTHER_KIND: Final = 10
"""Broken items, none in order, from which a collection is taken for one of another format."""
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
    """Tasks that their makers declare impossible."""
    rejected: tuple[Rejection, ...] = ()
    """Broken items that were skipped, with the reason."""


@dataclass(frozen=True, slots=True)
class ImportReading:
    """What a collection holds."""

    records: tuple[Record, ...]
    broken: tuple[BrokenItem, ...]

    def with_rejections(self, format_name: str) -> list[Record]:
        """Records of the valid items, and rejections in place of the broken ones."""
        rejected = (record for item in self.broken for record in item.records(format_name))
        return [*self.records, *rejected]


def survey_import(format_name: str, path: Path) -> ImportReading:
    """Everything in `path`, a file, folder or `.zip`, valid or broken; stores nothing. Refused where nothing
    is there that the format describes, or of many items none is."""
    records: list[Record] = []
    broken: list[BrokenItem] = []
    module = cast(ImportFormat, IMPORTS.load(format_name))
    with unpacked(path) as place:
        for item in module.read(place):
            if isinstance(item, BrokenItem):
                broken.append(item)
            else:
                records.append(item)
    if not records and not broken:
        raise ImportRefusedError(str(path), "", f"holds nothing that {format_name} describes")
    if not records and len(broken) >= _OF_ANOTHER_KIND and {item.code for item in broken} == {BROKEN}:
        raise ImportRefusedError(str(path), "", _another_kind(format_name, broken))
    return ImportReading(tuple(records), tuple(broken))


def _another_kind(format_name: str, broken: Sequence[BrokenItem]) -> str:
    faults = Counter(
        f"{_PLACE.sub('', fault.field)} {fault.reason}".strip() for item in broken for fault in item.faults
    )
    most, count = faults.most_common(1)[0]
    names = Counter(PurePosixPath(fault.file).name for item in broken for fault in item.faults[:1])
    listed = ", ".join(name for name, _ in names.most_common(_NAMES))
    expected = " ".join(IMPORTS.text_of(format_name).partition("\n\n")[0].split())
    return (
        f"none of its {len(broken)} items is one of {format_name}; found: {listed}"
        f"{', …' if len(names) > _NAMES else ''}, most often ({count} times): {most}; expected: {expected}"
    )


def read_import(format_name: str, path: Path, *, skip_broken: bool = False) -> list[Record]:
    """All records in `path`, checked but not stored; with `skip_broken`, rejections replace broken items,
    else `ImportRefusedError` names every fault."""
    reading = survey_import(format_name, path)
    if not reading.broken:
        return list(reading.records)
    if not skip_broken:
        faults = [fault for item in reading.broken for fault in item.faults]
        good = sum(isinstance(item, Task) for item in reading.records)
        raise ImportRefusedError.listing(
            faults,
            hint=(
                f"{len(reading.broken)} items are broken. `--skip-broken` imports the {good} tasks that are"
                " in order and records the others as rejections."
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


_MOST_BYTES: Final = 4_000_000_000
_MOST_FILES: Final = 500_000


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder of a `.zip` file, called as the file or as its one folder; anything else as it is. Refused
    is what is not a whole zip file, encrypted, or larger unpacked than 4 GB or 500,000 files."""
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
    """Names that lead out of the folder are led into it by `zipfile`; links become plain files."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise ImportRefusedError(
                    str(path),
                    "",
                    f"unpacks to more than {_MOST_FILES} files or {_MOST_BYTES} bytes; unpack it first",
                )
            archive.extractall(folder)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise ImportRefusedError(str(path), "", f"is not a zip file that can be read: {error}") from None
    except OSError as error:
        raise ImportRefusedError(str(path), "", f"cannot be unpacked: {error.strerror or error}") from None
