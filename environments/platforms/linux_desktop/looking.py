"""What a machine tells of its desktop, as an observation with the task bar below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ConfigDict, TypeAdapter

from taskloom.environments.machines.machine import Reply
from taskloom.environments.task_bar import TaskBarButton, as_controls
from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle, Screenshot


class _Seen(Record):
    """One control as the server tells it."""

    model_config = ConfigDict(extra="ignore")

    type: str
    text: str
    value: str
    parent_text: str
    parent_type: str
    row: str
    section: str
    box: tuple[int, int, int, int]
    point: tuple[int, int]
    checked: bool | None
    disabled: bool
    focused: bool
    application: str


_CONTROLS: TypeAdapter[list[_Seen]] = TypeAdapter(list[_Seen])


@dataclass(frozen=True, slots=True)
class View:
    """The screen at one moment, with what is needed to act on it."""

    observation: Observation
    """What an agent is given."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Per label of a task bar button what it does."""


def view_of(reply: Reply, front: str, buttons: Sequence[TaskBarButton], screen_size: tuple[int, int]) -> View:
    """The screen that a machine told of, with the application `front` in front."""
    controls = [_as_control(item, str(label)) for label, item in enumerate(_told(reply), 1)]
    bar = as_controls(buttons, len(controls) + 1)
    observation = Observation(
        screenshot=Screenshot.of(reply.content),
        controls=(*controls, *bar),
        active_application=front,
        window_title=reply.document["title"],
        screen_size=screen_size,
    )
    commands = {control.label: button.command for control, button in zip(bar, buttons, strict=True)}
    return View(observation, commands)


def controls_now(reply: Reply) -> list[Control]:
    """The controls alone."""
    return [_as_control(item, str(label)) for label, item in enumerate(_told(reply), 1)]


def _told(reply: Reply) -> list[_Seen]:
    return _CONTROLS.validate_python(reply.document["controls"])


def _as_control(item: _Seen, label: str) -> Control:
    left, top, width, height = item.box
    place = Rectangle(left=left, top=top, right=left + width, bottom=top + height)
    x, y = item.point
    central = abs(place.center[0] - x) <= 1 and abs(place.center[1] - y) <= 1
    return Control(
        label=label,
        text=item.text,
        control_type=item.type,
        parent_text=item.parent_text,
        parent_type=item.parent_type,
        row=item.row,
        section=item.section,
        rectangle=place,
        free_point=None if central else (x, y),
        value=item.value,
        checked=item.checked,
        disabled=item.disabled,
        focused=item.focused,
        application=item.application,
    )
