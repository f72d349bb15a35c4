"""The base of all errors that taskloom raises on purpose, and the errors of the catalogue.

TaskloomError                 what happened, the value, what is allowed; `hint` says what to do next
PluginBrokenError             a plug-in of another package cannot be used (names the package)
JsonInvalidError              a text is not JSON, or is ambiguous
CatalogError
├── CatalogEntryInvalidError  a YAML file violates its schema (file, line, field, allowed values)
└── UnknownCatalogEntryError  a name is not defined (names the known ones)
"""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


def no_such(kind: str, name: str, known: Iterable[str]) -> str:
    """A message that there is no `kind` called `name`, with the nearest and all known names.

    >>> no_such("query", "funel", ["funnel", "levels"])
    "There is no query named 'funel'. Did you mean 'funnel'? Known: funnel, levels."
    """
    hint = suggest(name, known)
    return f"There is no {kind} named {name!r}. {hint[0].upper()}{hint[1:]}."


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest of the `known` names, and all of them.

    >>> suggest("csv_pth", ["text_path", "csv_path"])
    "did you mean 'csv_path'? Known: csv_path, text_path"
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}Known: {', '.join(names) or 'none'}"


class ExitCode(IntEnum):
    """Exit codes of commands; documented in `docs/cli.md`."""

    DONE = 0
    """Everything requested is done."""
    NEGATIVE_ANSWER = 1
    """The command ran and the answer is no (a check failed, a run produced nothing)."""
    BAD_INPUT = 2
    """Bad input: nothing was changed."""
    BUDGET_EXHAUSTED = 3
    """The budget is used up: everything finished is kept, a rerun continues."""
    MISSING_REQUIREMENT = 4
    """This machine lacks something (browser, application, key): the message says how to get it."""
    GATE_FAILED = 6
    """A gate of the next dataset version failed: the previous version stays the newest, everything made is
    kept."""
    INTERRUPTED = 130
    """Interrupted: everything finished is kept, a rerun continues."""
    TERMINATED = 143
    """Terminated by another program: everything finished is kept, a rerun continues."""


class TaskloomError(Exception):
    """The base of all errors that taskloom raises on purpose."""

    exit_code: ExitCode = ExitCode.BAD_INPUT
    """Exit code of a command that ends with this error."""
    transient: bool = False
    """Whether trying again can help; nothing else determines retries."""
    hint: str = ""
    """What to do next, if the message does not say it; shown on a line of its own."""


class PluginBrokenError(TaskloomError):
    """A plug-in of another package cannot be used; the message names the package."""


class JsonInvalidError(TaskloomError):
    """A text is not JSON, or is ambiguous. The message continues a sentence that begins with the text's name:
    "is not JSON: …"."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line

    def of(self, name: str) -> str:
        """The whole sentence about the text called `name`, with the line if it is known."""
        return f"{name} {self}{f' (line {self.line})' if self.line else ''}."


class CatalogError(TaskloomError):
    """The base of errors in catalogue data; never transient."""


class CatalogEntryInvalidError(CatalogError):
    """A catalogue file does not follow its schema."""


class UnknownCatalogEntryError(CatalogError):
    """A requested name is not defined in the catalogue."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(no_such(kind, name, known))
        self.kind = kind
        self.name = name
