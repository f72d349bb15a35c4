"""Errors of the warehouse.

WarehouseError
├── WarehouseUnavailable    the place cannot be opened: missing, not a warehouse, read-only, full, extension absent
├── WarehouseBusy           other processes held the catalogue for too long (transient)
├── WarehouseTooNew         written by a later taskloom
├── RowInvalid              a record that does not fit its table, or a stored row that is no valid record
├── QueryRefused            SQL that could change or leave the warehouse
├── QueryFailed             SQL that does not run: syntax, unknown column, bad parameter
├── UnknownQuery            no named query of that name (names the known ones)
├── VersionProblem          unknown or already taken dataset version
├── ScreenshotMissing       a picture is asked for that was never stored
├── SelectionInvalid        a selection that names unknown things or asks for the impossible
├── ExportRefused           an export that cannot be made as asked
├── UnknownFormat           no export or import of that name (names the known ones)
└── ImportRefused           a file that does not have the structure of its format: file, field and reason
"""

from __future__ import annotations


class WarehouseError(Exception):
    """Anything that goes wrong with stored data."""

    transient = False


class WarehouseUnavailable(WarehouseError):
    """The warehouse cannot be opened or written."""


class WarehouseBusy(WarehouseError):
    """Other processes held the catalogue longer than the time limit."""

    transient = True


class WarehouseTooNew(WarehouseError):
    """The stored schema is later than the one this taskloom knows."""


class RowInvalid(WarehouseError):
    """A record does not fit its table, or a stored row is no valid record."""


class QueryRefused(WarehouseError):
    """The SQL could change the warehouse or reach out of it."""


class QueryFailed(WarehouseError):
    """The SQL does not run."""


class UnknownQuery(WarehouseError):
    """No named query of that name."""


class VersionProblem(WarehouseError):
    """A dataset version that does not exist, or whose name is taken."""


class ScreenshotMissing(WarehouseError):
    """No picture is stored under the hash."""


class SelectionInvalid(WarehouseError):
    """A selection that cannot be understood."""


class ExportRefused(WarehouseError):
    """An export that cannot be made as asked; nothing was written."""


class UnknownFormat(WarehouseError):
    """No export or import of that name."""


class ImportRefused(WarehouseError):
    """A file to import breaks its format; nothing was imported."""

    def __init__(self, file: str, field: str, reason: str) -> None:
        """Keep the place and the reason, and say them in one line."""
        super().__init__(f"{file}: {field}: {reason}" if field else f"{file}: {reason}")
        self.file = file
        self.field = field
        self.reason = reason
