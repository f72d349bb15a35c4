"""What the explorer is shown of subtasks and screens."""

from taskloom.resources.applications import SubtaskTemplate, SubtaskWording
from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control


class SubtaskToDeclare(SubtaskWording):
    """A proposed subtask without the declarations of others, so that the answer is independent of them."""

    fresh: tuple[str, ...] = ()
    """Parameters free to take any new value."""

    @classmethod
    def of(cls, template: SubtaskTemplate) -> "SubtaskToDeclare":
        """`template` without what it declares to read and write."""
        return cls.model_validate(template.model_dump(exclude={"inputs", "outputs"}))


class ResourceInView(Record):
    """A resource as a model sees it."""

    category: str
    """Resource category."""
    value: str = ""
    """Path, name or document; empty for a bare slot."""
    kind: str = ""
    """Kind of the category, where the reader needs it."""


class KnownSubtask(Record):
    """A subtask that is verified already."""

    name: str
    """Name within the application."""
    instruction_template: str
    """Instruction with placeholders."""
    makes: tuple[ResourceInView, ...] = ()
    """What it makes with the values that it was verified with."""


class RejectedSubtask(KnownSubtask):
    """A proposal of an earlier exploration that was rejected."""

    reason: str
    """Why."""


class ScreenInView(Record):
    """A screen beyond the first."""

    path: tuple[str, ...]
    """Controls to click one after the other, from the first page on."""
    window_title: str = ""
    """Title of the window."""
    controls: tuple[Control, ...] = ()
    """Controls that no earlier screen shows."""
