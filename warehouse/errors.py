"""Errors of the warehouse.

WarehouseError
├── WarehouseUnavailableError  the place cannot be opened: missing, not a warehouse, read-only, full, extension absent
├── WarehouseBusyError         other processes held the catalogue for too long (transient)
├── WarehouseTooNewError       written by a later taskloom
├── RowInvalidError            a record that does not fit its table, or a stored row that is no valid record
├── QueryRefusedError          SQL that could change or leave the warehouse
├── QueryFailedError           SQL that does not run: syntax, unknown column, bad parameter
├── UnknownQueryError          no named query of that name (names the known ones)
├── VersionError               unknown or already taken dataset version
├── ScreenshotMissingError     a picture is asked for that was never stored
├── SelectionInvalidError      a selection that names unknown things or asks for the impossible
├── ExportRefusedError         an export that cannot be made as asked
├── UnknownFormatError         no export or import of that name (names the known ones)
└── ImportRefusedError         a file that does not have the structure of its format: file, field and reason
"""

from __future__ import annotations

from resources.errors import TaskloomError


class WarehouseError(TaskloomError):
    """Anything that goes wrong with stored data."""


class WarehouseUnavailableError(WarehouseError):
    """The warehouse cannot be opened or written."""


class WarehouseBusyError(WarehouseError):
    """Other processes held the catalogue longer than the time limit."""

    transient = True


class WarehouseTooNewError(WarehouseError):
    """The stored schema is later than the one this taskloom knows."""


class RowInvalidError(WarehouseError):
    """A record does not fit its table, or a stored row is no valid record."""


class QueryRefusedError(WarehouseError):
    """The SQL could change the warehouse or reach out of it."""


class QueryFailedError(WarehouseError):
    """The SQL does not run."""


class UnknownQueryError(WarehouseError):
    """No named query of that name."""


class VersionError(WarehouseError):
    """A dataset version that does not exist, or whose name is taken."""


class ScreenshotMissingError(WarehouseError):
    """No picture is stored under the hash."""


class SelectionInvalidError(WarehouseError):
    """A selection that cannot be understood."""


class ExportRefusedError(WarehouseError):
    """An export that cannot be made as asked; nothing was written."""


class UnknownFormatError(WarehouseError):
    """No export or import of that name."""


class ImportRefusedError(WarehouseError):
    """A file to import breaks its format; nothing was imported."""

    def __init__(self, file: str, field: str, reason: str) -> None:
        """Keep the place and the reason, and say them in one line."""
        super().__init__(f"{file}: {field}: {reason}" if field else f"{file}: {reason}")
        self.file = file
        self.field = field
        self.reason = reason
