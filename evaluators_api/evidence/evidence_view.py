"""Evidence indexed for the checks: what several of them need is computed once per piece of evidence."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from threading import Lock

from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.sandbox_paths import is_windows_path, relative_to_home
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.text_matching import count_phrases, shown_exactly
from taskloom.taskgraph.records.evidence import CLIPBOARD, Evidence, FileState
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import same_label

CANVAS = "Custom"
"""Type of the controls on which something is drawn."""
_MOST_VIEWS = 256
_WRITING_KEYS = {"enter": "\n", "tab": "\t", "space": " "}
"""Characters that keys write."""


class EvidenceView:
    """One piece of evidence with lazy indexes; never changes, so threads may share it.

    Methods that take a path raise `CheckUnavailableError` if the evidence holds nothing about it.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.answers: dict[
            tuple[int, str, str, str], tuple[EvidenceView | None, dict[str, str], bool | str | int | float]
        ] = {}
        """Answers of checks about this evidence, by the start that it is compared with and by the call."""

    @cached_property
    def clicks(self) -> tuple[str, ...]:
        """What was clicked, as text: the control's own, or its parent's if an icon has none."""
        clicked = (event.control for event in self.evidence.inputs if event.kind == "click")
        texts = (control.text or control.parent_text for control in clicked if control is not None)
        return tuple(dict.fromkeys(text for text in texts if text))

    @cached_property
    def typed(self) -> tuple[str, ...]:
        """What was typed: each run of characters into one control, its lines, each event, keys by name."""
        runs = [""]
        single: list[str] = []
        focus = ""
        for event in self.evidence.inputs:
            where = event.control.text + "/" + event.control.control_type if event.control else focus
            if event.kind == "text":
                if where != focus:
                    runs.append("")
                runs[-1] += event.text
                focus = where
                single.append(event.text)
            elif event.kind == "key":
                name = event.text.casefold()
                single.append(event.text)
                if name in _WRITING_KEYS:
                    runs[-1] += _WRITING_KEYS[name]
                elif name == "backspace":
                    runs[-1] = runs[-1][:-1]
                elif name != "shift":
                    runs.append("")
            elif event.kind == "click":
                runs.append("")
                focus = where
        lines = [line for run in runs for line in run.replace("\t", "\n").split("\n")]
        return tuple(dict.fromkeys(text for text in (*runs, *lines, *single) if text.strip()))

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Every text the controls show: names and contents."""
        texts = (text for control in self.evidence.controls for text in (control.text, control.value))
        return tuple(dict.fromkeys(text for text in texts if text))

    @cached_property
    def files(self) -> dict[str, FileState]:
        """Files by their paths relative to the home folder, as spelled in the evidence."""
        return self.evidence.files_by_path()

    @cached_property
    def directories(self) -> frozenset[str]:
        """Directories, including those that only appear in the path of a file."""
        implied = (
            path[:index]
            for path in (*self.files, *(f"{name}/" for name in self.evidence.directories))
            for index, character in enumerate(path)
            if character == "/"
        )
        return frozenset((*self.evidence.directories, *implied, ""))

    def node(self, path: str, address: tuple[str, ...]) -> Node | None:
        """The node at `address` in the file at `path`."""
        tree = self.tree(path)
        return None if tree is None else tree.at(address)

    def _covered_path(self, path: str) -> str | None:
        """`path` relative to the home, if the evidence covers it; None outside the home."""
        relative = relative_to_home(path)
        if relative is not None and relative not in self.files and relative not in self.directories:
            self.must_be_seen(relative)
        return relative

    def must_be_seen(self, relative: str, *, below: bool = False) -> None:
        """Make sure that the evidence covers this path and, if `below` is true, all below it."""
        for place in self.evidence.unseen:
            covers = not place or relative == place or relative.startswith(f"{place}/")
            if covers or (below and (not relative or place.startswith(f"{relative}/"))):
                raise CheckUnavailableError(
                    f"The evidence holds nothing about {place or 'the home folder'}, so nothing can be said"
                    f" of {relative or 'all files'}."
                )

    def file(self, path: str) -> FileState | None:
        """The file at `path`, written in any of the accepted ways, or None."""
        relative = self._covered_path(path)
        if relative is not None and is_windows_path(path):
            return {name.casefold(): file for name, file in self.files.items()}.get(relative.casefold())
        return None if relative is None else self.files.get(relative)

    def place(self, path: str) -> FileState | None:
        """The file at `path`; for `CLIPBOARD` a file with its text, which is empty after copying a file."""
        if path != CLIPBOARD:
            return self.file(path)
        clipboard = self.evidence.clipboard
        text = clipboard.text if clipboard.text is not None else "" if clipboard.file_name else None
        return None if text is None else FileState(path=CLIPBOARD, size=0, sha256="", text=text)

    def tree(self, path: str) -> Node | None:
        """The content of the file at `path` as a tree; None if there is no file or it holds no text."""
        file = self.file(path)
        return None if file is None or file.text is None else read(file.path, file.text)[1]

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory below the sandbox home, or the home."""
        relative = self._covered_path(path)
        if relative is None or not is_windows_path(path):
            return relative in self.directories
        return relative.casefold() in map(str.casefold, self.directories)

    @cached_property
    def rows(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of the controls in each row, list item or card of the screen, by the name of the row."""
        rows: dict[str, list[str]] = {}
        for control in self.evidence.controls:
            if control.row:
                rows.setdefault(control.row, []).append(control.text)
        return {name: tuple(texts) for name, texts in rows.items()}

    def times_shown(self, text: str) -> int:
        """How often exactly `text` is shown: the number of controls with this text or, if greater, of its
        occurrences in one control's text."""
        named = [item for item in self.evidence.controls if shown_exactly(text, item.text)]
        parents = {(item.parent_text, item.parent_type) for item in named}
        innermost = sum((item.text, item.control_type) not in parents for item in named)
        phrases = max((count_phrases(text, item.text) for item in self.evidence.controls), default=0)
        return max(innermost, phrases) if named else 0

    @cached_property
    def canvases(self) -> tuple[str, ...]:
        """The texts drawn on each canvas: a custom control has all texts in it as its own text."""
        texts = (item.text.split() for item in self.evidence.controls if item.control_type == CANVAS)
        return tuple(dict.fromkeys(" ".join(words) for words in texts if words))

    def controls_named(self, text: str) -> tuple[Control, ...]:
        """Controls called `text`."""
        return tuple(control for control in self.evidence.controls if same_label(text, control.text))


_views: OrderedDict[int, EvidenceView] = OrderedDict()
_views_lock = Lock()


def view(evidence: Evidence) -> EvidenceView:
    """The view of `evidence`; the same object gets the same view while it is among the last few hundred."""
    key = id(evidence)
    with _views_lock:
        found = _views.get(key)
        if found is None or found.evidence is not evidence:
            found = _views[key] = EvidenceView(evidence)
        _views.move_to_end(key)
        while len(_views) > _MOST_VIEWS:
            _views.popitem(last=False)
        return found
