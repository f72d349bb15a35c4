"""What must be seen after a labelled case for it to count as performed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from pydantic import model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.subtask import fill


class Shown(Record):
    """One thing to be seen at the end; exactly one of the places, with what is and is not in it."""

    file: str = ""
    """Path, or glob pattern, of a file that must be there; with several, one of them must have all that is
    asked."""
    gone: str = ""
    """Path or glob pattern of files and folders that must not be there."""
    folder: str = ""
    """Path of a folder that must be there."""
    screen: bool = False
    """The controls on the screen, by text and value."""
    window: bool = False
    """The title of the window."""
    clipboard: bool = False
    """The text in the clipboard."""
    has: tuple[str, ...] = ()
    """Texts that must be there."""
    lacks: tuple[str, ...] = ()
    """Texts that must not be there."""
    times: int = 0
    """How often each text of `has` must be there; 0: at least once."""
    is_text: str | None = None
    """The whole text, except for white space around it."""

    @model_validator(mode="after")
    def _one_place(self) -> Shown:
        if sum(map(bool, (self.file, self.gone, self.folder, self.screen, self.window, self.clipboard))) != 1:
            raise ValueError("must name exactly one of file, gone, folder, screen, window and clipboard")
        return self

    def filled(self, parameters: Mapping[str, str]) -> Shown:
        """The same with values for its placeholders."""
        places = {name: fill(getattr(self, name), parameters) for name in ("file", "gone", "folder")}
        texts = {
            name: tuple(fill(text, parameters) for text in getattr(self, name)) for name in ("has", "lacks")
        }
        whole = None if self.is_text is None else fill(self.is_text, parameters)
        return self.model_copy(update={**places, **texts, "is_text": whole})

    def missing_in(self, evidence: Evidence) -> str:
        """What is not as it must be, or nothing."""
        if self.gone:
            paths = [*(file.path for file in evidence.files), *evidence.directories]
            found = [path for path in paths if fnmatchcase(path, self.gone)]
            return f"{found[0]} is still there" if found else ""
        if self.folder:
            return "" if self.folder in evidence.directories else f"there is no folder {self.folder}"
        if self.file:
            files = [file for file in evidence.files if fnmatchcase(file.path, self.file)]
            if not files:
                return f"there is no file {self.file}"
            answers = [self._missing_in_file(file) for file in files]
            return "" if "" in answers else answers[0]
        if self.screen:
            shown = "\n".join(f"{control.text}\n{control.value}" for control in evidence.controls)
            return self._missing_in_text(shown, "the screen")
        if self.window:
            return self._missing_in_text(evidence.window_title, "the window's title")
        return self._missing_in_text(evidence.clipboard.text or "", "the clipboard")

    def _missing_in_file(self, file: FileState) -> str:
        if not self.has and not self.lacks and self.is_text is None:
            return ""
        if file.text is None:
            return f"{file.path} has no text"
        return self._missing_in_text(file.text, file.path)

    def _missing_in_text(self, text: str, place: str) -> str:
        if self.is_text is not None and text.strip() != self.is_text.strip():
            return f"{place} is {text[:200]!r}, not {self.is_text!r}"
        for wanted in self.has:
            count = text.count(wanted)
            if not count or (self.times and count != self.times):
                return f"{place} has {wanted!r} {count} times; it begins with {text[:200]!r}"
        for unwanted in self.lacks:
            if unwanted in text:
                return f"{place} has {unwanted!r}"
        return ""


def not_shown(shows: Sequence[Shown], evidence: Evidence) -> str:
    """The first thing that is not as it must be, or nothing."""
    return next(filter(None, (item.missing_in(evidence) for item in shows)), "")
