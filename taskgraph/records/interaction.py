"""What an agent sees and does: controls, observations and actions (App. A.2, A.3)."""

from __future__ import annotations

import hashlib
import re

from pydantic import Field

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Action as Action
from taskloom.taskgraph.records.gestures import ClickInput as ClickInput
from taskloom.taskgraph.records.gestures import DragInput as DragInput
from taskloom.taskgraph.records.gestures import HoldInput as HoldInput
from taskloom.taskgraph.records.gestures import KeyboardInput as KeyboardInput
from taskloom.taskgraph.records.gestures import MoveInput as MoveInput
from taskloom.taskgraph.records.gestures import WaitInput as WaitInput
from taskloom.taskgraph.records.gestures import WheelMouseInput as WheelMouseInput


class Rectangle(Record):
    """A rectangle on the screenshot, in pixels; right and bottom are exclusive."""

    left: int
    """Left edge."""
    top: int
    """Top edge."""
    right: int
    """Right edge."""
    bottom: int
    """Bottom edge."""

    @property
    def center(self) -> tuple[int, int]:
        """The middle point."""
        return ((self.left + self.right) // 2, (self.top + self.bottom) // 2)

    def contains(self, x: float, y: float) -> bool:
        """Whether the point is inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def at(self, fraction_x: float, fraction_y: float) -> tuple[float, float]:
        """The point at a fraction of width and height."""
        return (
            self.left + (self.right - self.left) * fraction_x,
            self.top + (self.bottom - self.top) * fraction_y,
        )


class Control(Record):
    """An element of the accessibility tree, flattened."""

    label: str
    """Number drawn on the annotated screenshot; unique within one observation."""
    text: str
    """Its name on the screen."""
    control_type: str
    """`Button`, `Edit`, `Hyperlink`, `MenuItem`, `ListItem`, `TreeItem`, `TabItem`, `CheckBox`, `Text`, …"""
    parent_text: str = ""
    """Text of the parent control."""
    parent_type: str = ""
    """Type of the parent control."""
    row: str = ""
    """Name of the row, list item or card that contains it; empty without one and for the item itself."""
    section: str = ""
    """Heading above it."""
    rectangle: Rectangle
    """Where it is."""
    free_point: tuple[int, int] | None = None
    """An uncovered point of it; None if that is its centre."""
    value: str = ""
    """Content of an input control."""
    checked: bool | None = None
    """State of a check box or radio button."""
    disabled: bool = False
    """Whether it cannot be used."""
    focused: bool = False
    """Whether it has the keyboard focus."""
    application: str = ""
    """Application it belongs to; `environment` for the environment's own task bar and file picker."""

    def describe(self) -> ControlQuery:
        """The query that describes this control by what is visible, without its ordinal."""
        return ControlQuery(
            text=self.text,
            control_type=self.control_type,
            parent_text=self.parent_text,
            parent_type=self.parent_type,
            row=self.row,
            section=self.section,
        )

    @property
    def point(self) -> tuple[int, int]:
        """Where to click it."""
        return self.free_point or self.rectangle.center


class Screenshot(Record):
    """A PNG picture, identified by the hash of its bytes; the bytes are stored once, next to the tables."""

    sha256: str
    """SHA-256 of the PNG bytes, in hexadecimal."""
    png: bytes = Field(default=b"", exclude=True, repr=False)
    """The picture; empty if only the hash was loaded."""

    @classmethod
    def of(cls, png: bytes) -> Screenshot:
        """The record of `png`."""
        return cls(sha256=hashlib.sha256(png).hexdigest(), png=png)


class Observation(Record):
    """What an agent sees at one step."""

    screenshot: Screenshot
    """The unannotated screen."""
    controls: tuple[Control, ...]
    """Visible controls, in reading order of the accessibility tree."""
    active_application: str = ""
    """Application in front."""
    window_title: str = ""
    """Title of the window in front."""
    url: str = ""
    """Address of the page in front, for web applications."""
    screen_size: tuple[int, int] = (1280, 800)
    """Width and height of the screenshot, in pixels."""

    def control(self, label: str) -> Control | None:
        """The control with `label`, or None."""
        return next((control for control in self.controls if control.label == label), None)


_SPECIAL_KEYS = re.compile(r"[+^%~(){}\[\]]")


def escape_keys(text: str) -> str:
    r"""Write literal `text` in the key syntax of `keyboard_input`.

    >>> escape_keys("50% (a+b)\n")
    '50{%} {(}a{+}b{)}{ENTER}'
    """
    return (
        _SPECIAL_KEYS.sub(lambda match: "{" + match.group() + "}", text)
        .replace("\n", "{ENTER}")
        .replace("\t", "{TAB}")
    )
