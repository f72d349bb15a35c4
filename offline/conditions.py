"""Conditions that a recorded change suggests: candidates for the checks of an evaluation function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from offline.expressions import Expression, generalise
from prompts.inputs import Performance
from prompts.observed_changes import ObservedChange
from taskgraph.source_parsing import parse_source

CLIPBOARD = Expression((("call", "get_clipboard_text()"),))
"""The text in the clipboard, whatever it is."""

Kind = Literal[
    "file",
    "directory",
    "content",
    "clipboard",
    "copy",
    "filled",
    "window",
    "screen",
    "vanished",
    "typed",
    "clicked",
]

_RANK: dict[Kind, int] = {
    "file": 0,
    "directory": 1,
    "clipboard": 1,
    "copy": 2,
    "filled": 3,
    "content": 2,
    "window": 4,
    "screen": 5,
    "vanished": 6,
    "typed": 8,
    "clicked": 9,
}
_COMPLAINTS: dict[Kind, tuple[str, str]] = {
    "file": ("there is no file {0}", "the file {0} is still there"),
    "directory": ("there is no folder {0}", "the folder {0} is still there"),
    "clipboard": ("the clipboard does not hold what it should", "the clipboard holds what it should not"),
    "copy": ("{0} does not hold the text in the clipboard", "{0} holds the text in the clipboard"),
    "filled": ("there is no text in the clipboard", "there is a text in the clipboard"),
    "content": ("{0} does not contain {1}", "{0} still contains {1}"),
    "window": ("the window is not called {0}", "the window is still called {0}"),
    "screen": ("{0} is not shown", "{0} is shown"),
    "vanished": ("{0} is not shown", "{0} is still shown"),
    "typed": ("{0} was not typed", "{0} was typed"),
    "clicked": ("{0} was not clicked", "{0} was clicked"),
}
"""What an unmet condition, or an unmet negated one, is complained of as."""

_ROUTE: frozenset[Kind] = frozenset({"typed", "clicked"})
_LONGEST_TEXT = 160
_SHORTEST_TEXT = 2
_ASIDE = re.compile(
    r"(^|[/._-])(logs?|backups?|bak|caches?|te?mp|history|checkpoints?)($|[/._-])|~$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One call of a check, or its negation."""

    kind: Kind
    """What it looks at."""
    check: str
    """Name of the check."""
    arguments: tuple[Expression, ...]
    """Its arguments."""
    negated: bool = False
    """Whether the check must say no."""
    differs: bool = False
    """Whether the check answers with a text, which must not be empty."""

    @property
    def rank(self) -> int:
        """Preference: what lasts before what shows, and both before the way that led there.

        A shown text with a number in it comes last: it counts something that another day has more or fewer of.
        """
        counted = self.kind in ("window", "screen") and any(
            not form and any(character.isdigit() for character in text)
            for argument in self.arguments
            for form, text in argument.parts
        )
        return _RANK[self.kind] + (10 if counted else 0)

    @property
    def is_route(self) -> bool:
        """Whether it reads the input log."""
        return self.kind in _ROUTE

    @property
    def parameters(self) -> frozenset[str]:
        """Parameters it depends on."""
        return frozenset[str]().union(*(argument.parameters for argument in self.arguments))

    @property
    def literal_length(self) -> int:
        """How much of it is fixed text."""
        return sum(argument.literal_length for argument in self.arguments)

    def call(self) -> str:
        """The call as Python, in its one normal form."""
        source = f"{self.check}({', '.join(argument.source() for argument in self.arguments)})"
        return ast.unparse(parse_source(source))

    def source(self) -> str:
        """The condition as Python."""
        if self.differs:
            return f"{self.call()} != ''"
        return f"not {self.call()}" if self.negated else self.call()

    def complaint(self) -> str:
        """Python for the message of a function that finds it unmet."""
        words = _COMPLAINTS[self.kind][self.negated]
        values = [argument.source() for argument in self.arguments]
        parts = []
        for piece in re.split(r"(\{\d\})", words):
            if re.fullmatch(r"\{\d\}", piece):
                parts.append(values[int(piece[1])])
            elif piece:
                parts.append(repr(piece))
        return " + ".join(parts)

    def frozen(self, parameters: Mapping[str, str]) -> Condition:
        """The condition of one parameter set only."""
        arguments = tuple(argument.frozen(parameters) for argument in self.arguments)
        return Condition(self.kind, self.check, arguments, self.negated)


def shared_conditions(performances: tuple[Performance, ...]) -> dict[Condition, int]:
    """Conditions that all performances suggest, each with the last step (in any of them) that made it true.

    The steps tell which conditions a performance that was cut off cannot meet.
    """
    shared: dict[Condition, int] | None = None
    for performance in performances:
        steps: dict[Condition, int] = {}
        for step in performance.steps:
            for condition in _suggested(step.change, performance.parameters):
                steps[condition] = step.step
        found = {
            condition: steps.get(condition, 0)
            for condition in _suggested(performance.change, performance.parameters)
        }
        if shared is None:
            shared = found
        else:
            shared = {
                condition: max(step, found[condition])
                for condition, step in shared.items()
                if condition in found
            }
    return shared or {}


def _suggested(change: ObservedChange, parameters: Mapping[str, str]) -> Iterator[Condition]:
    def of(kind: Kind, check: str, *texts: str, negated: bool = False) -> Condition:
        return Condition(kind, check, tuple(generalise(text, parameters) for text in texts), negated)

    for path in change.created_files:
        yield of("file", "check_file_exists", path)
    for path in change.deleted_files:
        yield of("file", "check_file_exists", path, negated=True)
    for path in change.created_directories:
        yield of("directory", "check_directory_exists", path)
    for path in change.deleted_directories:
        yield of("directory", "check_directory_exists", path, negated=True)
    for item in change.texts:
        if _ASIDE.search(item.path):
            continue
        for line in item.added_lines:
            for text in _pieces(line, parameters):
                yield of("content", "check_file_contains", item.path, text)
        for line in item.removed_lines:
            for text in _pieces(line, parameters):
                if not any(text in added for added in item.added_lines):
                    yield of("content", "check_file_contains", item.path, text, negated=True)
    if change.clipboard_text and len(change.clipboard_text) <= _LONGEST_TEXT:
        yield of("clipboard", "clipboard_contains_text", change.clipboard_text)
    if change.clipboard_text:
        yield Condition("filled", "get_clipboard_text", (), differs=True)
    if change.clipboard_image:
        yield of("clipboard", "clipboard_contains_image")
    if change.clipboard_file:
        yield of("clipboard", "clipboard_contains_file", change.clipboard_file)
    for path in change.clipboard_text_in:
        if generalise(path, parameters).parameters:
            yield Condition("copy", "check_file_contains", (generalise(path, parameters), CLIPBOARD))
    if change.window_title:
        yield of("window", "check_window", change.window_title)
    for text in _short(change.appeared_texts):
        yield of("screen", "check_text_exists_via_control", text)
    for text in _short(change.vanished_texts):
        yield of("vanished", "check_text_exists_via_control", text, negated=True)
    for text in _short(change.typed):
        yield of("typed", "check_keyboard_types", text)
    for text in _short(change.clicked):
        yield of("clicked", "check_mouse_clicks", text)


def _pieces(line: str, parameters: Mapping[str, str]) -> Iterator[str]:
    """The whole line where it is short, and each parameter value that stands in it on its own."""
    text = line.strip()
    if 0 < len(text) <= _LONGEST_TEXT:
        yield text
    for value in parameters.values():
        if len(value) > 2 and value in text and value != text:
            yield value


def _short(texts: tuple[str, ...]) -> Iterator[str]:
    for text in texts:
        if len(text.strip()) <= _LONGEST_TEXT and sum(map(str.isalnum, text)) >= _SHORTEST_TEXT:
            yield text.strip()
