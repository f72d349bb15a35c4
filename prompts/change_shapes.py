"""The shape of what a subtask may change, for a writer that must not see what the performances did."""

from __future__ import annotations

from taskloom.resources.record import Record


class ChangeShape(Record):
    """One kind of change that right work makes, without its value where that depends on parameters."""

    container: str
    """Path of the file or directory in terms of the parameters, or `clipboard`, `window`, `screen`."""
    format: str = ""
    """Format that the file is read as."""
    address: tuple[str, ...] = ()
    """Where in it, in terms of the parameters; `*` for positions and generated ids."""
    kind: str
    """What happens there: added, removed or changed."""
    value_type: str = ""
    """Type of the value that is there at the end: `text`, `number`, `date`, `yes or no`, `group`; empty for
    what is removed."""
    always: str = ""
    """Value that is there after every performance and that no parameter is in; empty for none."""
    samples: tuple[str, ...] = ()
    """Values that other records have at the same place at the start."""


class StartingFile(Record):
    """A file at the start."""

    path: str
    """Path relative to the home."""
    format: str = ""
    """Format that it is read as; empty where it holds no text."""
    fields: tuple[str, ...] = ()
    """Names of its tables, columns or keys: those of the records that changed, then the first ones."""


class TaskShape(Record):
    """What the subtask is about: where it starts from, and what may change."""

    files: tuple[StartingFile, ...] = ()
    """Files at the start that the subtask may concern."""
    clipboard: str = ""
    """Text in the clipboard at the start, cut where it is long."""
    changes: tuple[ChangeShape, ...] = ()
    """What right work changes; the same for all performances."""
