"""Errors of the warehouse.

WarehouseError
├── WarehouseUnavailableError  cannot be opened: not a warehouse, read-only, full, extension absent
│   └── WarehouseMissingError  no warehouse at this location
├── WarehouseBusyError         other processes held the catalogue for too long (transient)
├── WarehouseTooNewError       written by a newer taskloom
├── RowInvalidError            a record that does not fit its table, or a stored row that is not a record
├── QueryRefusedError          SQL that could change the warehouse or reach outside it
├── QueryFailedError           SQL that does not run: syntax, unknown column, bad parameter
│   └── TableMissingError      names a table that does not exist, or did not at that time
├── UnknownQueryError          no named query with that name (names the known ones)
├── VersionError               unknown or already taken dataset version
├── ScreenshotMissingError     a picture that was never stored
├── ReviewInvalidError         a review that is contradictory or incomplete
├── SelectionInvalidError      a selection that names unknown things or asks for the impossible
├── ExportRefusedError         an export that cannot be made as asked
├── InexpressibleError         a task that an export's format cannot express; the message is the reason
├── UnknownFormatError         no export or import with that name (names the known ones)
└── ImportRefusedError         data that violate their format: every fault with file, field and reason
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from taskloom.resources.errors import TaskloomError

BROKEN: Final = "format_broken"
"""The code of an item that breaks its format."""
GOAL_NOT_WRITTEN: Final = "goal_not_written"
"""The code of an item whose instruction its collection generates when a task starts: not the item's fault."""
_FAULTS_SHOWN: Final = 50


class WarehouseError(TaskloomError):
    """Any error of the warehouse."""


class WarehouseUnavailableError(WarehouseError):
    """The warehouse cannot be opened or written."""


class WarehouseMissingError(WarehouseUnavailableError):
    """There is no warehouse at this location."""


class WarehouseBusyError(WarehouseError):
    """Other processes held the catalogue longer than the time limit."""

    transient = True


class WarehouseTooNewError(WarehouseError):
    """The stored schema is newer than the one this taskloom knows."""


class RowInvalidError(WarehouseError):
    """A record does not fit its table, or a stored row is not a valid record."""


class QueryRefusedError(WarehouseError):
    """The SQL could change the warehouse or reach outside it."""


class QueryFailedError(WarehouseError):
    """The SQL does not run."""


class TableMissingError(QueryFailedError):
    """The SQL names a table, column or function that does not exist, or did not in the version queried."""


class UnknownQueryError(WarehouseError):
    """No named query has that name."""


class VersionError(WarehouseError):
    """A dataset version that does not exist, or whose name is taken."""


class ScreenshotMissingError(WarehouseError):
    """No picture is stored under the hash."""


class ReviewInvalidError(WarehouseError):
    """A contradictory or incomplete review; it was not stored."""


class SelectionInvalidError(WarehouseError):
    """A selection that names unknown things or asks for the impossible."""


class ExportRefusedError(WarehouseError):
    """An export that cannot be made as asked; nothing was written."""


class InexpressibleError(WarehouseError):
    """A format cannot express a task, or cannot judge it; the message is the reason."""


class UnknownFormatError(WarehouseError):
    """No export or import has that name."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where foreign data violate their format."""

    file: str
    field: str
    """Field in the file, such as `line 3.tool_nodes[0].task`; empty for the whole file."""
    reason: str

    def __str__(self) -> str:
        """The fault in one line."""
        return f"{self.file}: {self.field}: {self.reason}" if self.field else f"{self.file}: {self.reason}"


class ImportRefusedError(WarehouseError):
    """Data to import violate their format; nothing was imported. The message lists every fault."""

    def __init__(self, file: str, field: str, reason: str, *, code: str = BROKEN) -> None:
        """Describe one fault, or the first of several; `code` groups rejections of this kind."""
        self.file, self.field, self.reason, self.code = file, field, reason, code
        self.faults: tuple[Fault, ...] = (Fault(file, field, reason),)
        super().__init__(str(self.faults[0]))

    @classmethod
    def listing(cls, faults: Sequence[Fault], hint: str = "", code: str = BROKEN) -> Self:
        """The error for several faults, of which the message shows the first fifty."""
        first = faults[0]
        error = cls(first.file, first.field, first.reason, code=code)
        error.faults = tuple(faults)
        error.hint = hint
        lines = [str(fault) for fault in faults[:_FAULTS_SHOWN]]
        if len(faults) > len(lines):
            lines.append(f"… and {len(faults) - len(lines)} more faults")
        error.args = ("\n".join(lines),)
        return error
