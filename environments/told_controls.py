"""Controls as the script in a page, or the server in a machine, tells them."""

from collections.abc import Callable
from typing import Any

from taskloom.taskgraph.records.interaction import Control, Rectangle

ToldControl = dict[str, Any]
"""`type`, `text`, `value`, `parent_text`, `parent_type`, `row`, `section`, `point`, `checked`, `disabled`,
`focused`, and its place."""


def told_control(
    told: ToldControl, label: int, place: Rectangle, application: str, shown: Callable[[str], str] = str
) -> Control:
    """The control with its label; `shown` makes what is shown of its texts."""
    x, y = (round(value) for value in told["point"])
    central = abs(place.center[0] - x) <= 1 and abs(place.center[1] - y) <= 1
    return Control(
        label=str(label),
        control_type=told["type"],
        parent_type=told["parent_type"],
        rectangle=place,
        free_point=None if central else (x, y),
        application=application,
        **{name: shown(told[name]) for name in ("text", "parent_text", "row", "section", "value")},
        **{name: told[name] for name in ("checked", "disabled", "focused")},
    )
