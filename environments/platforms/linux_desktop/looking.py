"""What a machine tells of its desktop, as an observation with the task bar below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.server_client import Reply
from taskloom.environments.task_bar import TaskBarButton, as_controls
from taskloom.environments.told_controls import told_control
from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle, Screenshot


@dataclass(frozen=True, slots=True)
class View:
    """The screen at one moment, with what is needed to act on it."""

    observation: Observation
    """What an agent is given."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Per label of a task bar button what it does."""


def view_of(reply: Reply, front: str, buttons: Sequence[TaskBarButton], screen_size: tuple[int, int]) -> View:
    """The screen that a machine told of, with the application `front` in front."""
    controls = controls_now(reply)
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
    found = []
    for label, item in enumerate(reply.document["controls"], 1):
        left, top, width, height = item["box"]
        place = Rectangle(left=left, top=top, right=left + width, bottom=top + height)
        found.append(told_control(item, label, place, item["application"]))
    return found
