"""Reading prompts as a model would: controls, screens and lists out of plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_CONTROL = re.compile(r"^\[(?P<label>[^\]]+)\] (?:(?P<type>[A-Z]\w*) ?)?(?P<rest>.*)$")
_STRING = r'"(?:[^"\\]|\\.)*"'
_TEXT = re.compile(rf"^({_STRING})")
_VALUE = re.compile(rf"(?:^|\s)= ({_STRING})")
_ROW = re.compile(rf" in row ({_STRING})")
_BAR = re.compile(rf"\[([^\]]+)\] ({_STRING})")


@dataclass(frozen=True)
class Seen:
    """A control in a prompt."""

    label: str
    """Its label."""
    type: str
    """Its type; empty for plain text."""
    text: str
    """Its text."""
    value: str = ""
    """What it holds."""
    row: str = ""
    """Its row."""
    disabled: bool = False
    """Whether it cannot be used."""


@dataclass(frozen=True)
class SeenPage:
    """A screen in a prompt of exploration."""

    path: tuple[str, ...]
    """Texts of the controls to click."""
    by_buttons: bool
    """Whether one of them is a button, which may do more than show something."""
    controls: tuple[Seen, ...]
    """Controls."""


def controls_in(text: str) -> tuple[Seen, ...]:
    """The controls that the lines of a text list."""
    return tuple(_controls(text))


def _controls(text: str) -> Iterator[Seen]:
    for line in text.splitlines():
        if line.startswith("TaskBarButton: "):
            for label, name in _BAR.findall(line):
                yield Seen(label, "TaskBarButton", json.loads(name))
            continue
        match = _CONTROL.match(line)
        if match is None:
            continue
        rest = match["rest"]
        found, value, row = _TEXT.match(rest), _VALUE.search(rest), _ROW.search(rest)
        yield Seen(
            match["label"],
            match["type"] or "",
            json.loads(found[1]) if found else "",
            json.loads(value[1]) if value else "",
            json.loads(row[1]) if row else "",
            " disabled" in rest,
        )


def pages_in(text: str) -> list[SeenPage]:
    """The first screen, then those beyond it."""
    first = text.partition("Controls on the first screen")[2]
    pages = [SeenPage((), False, controls_in(first.partition("\nPropose")[0]))]
    for part in text.partition("Controls on the first screen")[0].split("#### After ")[1:]:
        heading, _, lines = part.partition("\n")
        names = re.findall(r"[A-Z]\w* '((?:[^'\\]|\\.)*)'", heading.partition(": ")[0])
        by_buttons = "Button '" in heading.partition(": ")[0]
        pages.append(SeenPage(tuple(names), by_buttons, controls_in(lines)))
    return pages


def listed(text: str, heading: str) -> list[str]:
    """The lines of the list that follows the line that begins with `heading`."""
    found: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(heading):
            for item in lines:
                if not item.startswith("- "):
                    break
                found.append(item[2:])
    return found


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of `#`."""
    after = text.partition(f"{heading}\n")[2]
    return re.split(r"\n#+ ", after)[0].strip()


def slug(text: str) -> str:
    """A name in lower case with underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:30] or "value"
