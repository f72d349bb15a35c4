"""What must be visible after a labelled case for it to count as performed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from pydantic import model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.subtask import fill


class ExpectedState(Record):
    """One expectation about the state at the end: exactly one place, with what it contains and what not."""

    file: str = ""
    """Path or glob pattern of a file that must exist; of several, one must meet the whole expectation."""
    gone: str = ""
    """Path or glob pattern of files and folders that must not exist."""
    folder: str = ""
    """Path of a folder that must exist."""
    screen: bool = False
    """The controls on the screen, by text and value."""
    window: bool = False
    """The title of the window."""
    clipboard: bool = False
    """The text in the clipboard."""
    has: tuple[str, ...] = ()
    """Texts that must occur."""
    lacks: tuple[str, ...] = ()
    """Texts that must not occur."""
    times: int = 0
    """How often each text of `has` must occur; 0: at least once."""
    is_text: str | None = None
    """The whole text, except for white space around it."""

    @model_validator(mode="after")
    def _require_one_place(self) -> ExpectedState:
        if sum(map(bool, (self.file, self.gone, self.folder, self.screen, self.window, self.clipboard))) != 1:
            raise ValueError("must name exactly one of file, gone, folder, screen, window and clipboard")
        return self

    def filled(self, parameters: Mapping[str, str]) -> ExpectedState:
        """The expectation with its placeholders filled."""
        places = {name: fill(getattr(self, name), parameters) for name in ("file", "gone", "folder")}
        texts = {
            name: tuple(fill(text, parameters) for text in getattr(self, name)) for name in ("has", "lacks")
        }
        is_text = None if self.is_text is None else fill(self.is_text, parameters)
        return self.model_copy(update={**places, **texts, "is_text": is_text})

    def mismatch_in(self, evidence: Evidence) -> str:
        """What differs from the expectation; empty if nothing does."""
        if self.gone:
            paths = [*(file.path for file in evidence.files), *evidence.directories]
            remaining = [path for path in paths if fnmatchcase(path, self.gone)]
            return f"{remaining[0]} is still there" if remaining else ""
        if self.folder:
            return "" if self.folder in evidence.directories else f"there is no folder {self.folder}"
        if self.file:
            files = [file for file in evidence.files if fnmatchcase(file.path, self.file)]
            if not files:
                return f"there is no file {self.file}"
            mismatches = [self._mismatch_in_file(file) for file in files]
            return "" if "" in mismatches else mismatches[0]
        if self.screen:
            shown = "\n".join(f"{control.text}\n{control.value}" for control in evidence.controls)
            return self._mismatch_in_text(shown, "the screen")
        if self.window:
            return self._mismatch_in_text(evidence.window_title, "the window's title")
        return self._mismatch_in_text(evidence.clipboard.text or "", "the clipboard")

    def _mismatch_in_file(self, file: FileState) -> str:
        if not self.has and not self.lacks and self.is_text is None:
            return ""
        if file.text is None:
            return f"{file.path} has no text"
        return self._mismatch_in_text(file.text, file.path)

    def _mismatch_in_text(self, text: str, place: str) -> str:
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


def first_mismatch(shows: Sequence[ExpectedState], evidence: Evidence) -> str:
    """The first difference from the expectations; empty if there is none."""
    return next(filter(None, (item.mismatch_in(evidence) for item in shows)), "")
