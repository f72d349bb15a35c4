"""What a program elsewhere needs to judge a task by the files in a home folder, before and after the work."""

from pydantic import Field

from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import Allowance, SideEffects


class JudgedSubtask(Record):
    """One subtask of the task, with the evaluation function that judges it."""

    instance_id: str
    """The subtask bound to its parameters."""
    instruction: str = ""
    """What it asks for."""
    source: str
    """Evaluation function."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """What the function is called with."""
    made_before: tuple[str, ...] = ()
    """Files that earlier subtasks of the task make: at the start of this one they are there already."""
    as_left: tuple[str, ...] = ()
    """Files of applications in which earlier subtasks made what this one takes over: its start is what they
    left, which is there at the end."""
    given_from: dict[str, str] = Field(default_factory=dict)
    """Files whose text earlier subtasks put into the clipboard or opened in an editor for this one: by
    `clipboard`, or by the path that stands for the open document."""
    left_out: tuple[str, ...] = ()
    """Checks taken out: of screen and clipboard, and of what other subtasks of the task change."""


class JudgingSheet(Record):
    """How a task is judged by what its home folder holds at the end."""

    task_id: str
    """The task."""
    instruction: str
    """What it asks for."""
    subtasks: tuple[JudgedSubtask, ...] = Field(min_length=1)
    """Subtasks that are judged, producers before consumers."""
    through_others: tuple[str, ...] = ()
    """Subtasks that leave no file behind: they are judged through those that use what they make."""
    edges: tuple[tuple[str, str], ...] = ()
    """Producer and consumer of every dependency."""
    allowed: tuple[tuple[tuple[Allowance, ...], dict[str, str]], ...] | None = None
    """What the work of each subtask may change, with its parameters; None where it is not known of all."""
    noise: tuple[NoisePlace, ...] = ()
    """Places that were measured to change by themselves."""


class SubtaskJudgement(Record):
    """What the judge says of one subtask."""

    instance_id: str
    """The subtask."""
    success: bool
    """Whether its function said success."""
    message: str = ""
    """What the function said, or why it could not answer."""


class HomeJudgement(Record):
    """What the judge says of a task."""

    task_id: str
    """The task."""
    reward: float
    """1 when every judged subtask succeeded, 0 otherwise."""
    coverage: float
    """Share of the judged subtasks that succeeded."""
    subtasks: tuple[SubtaskJudgement, ...]
    """Every subtask, in the order of the sheet."""
    side_effects: SideEffects | None = None
    """What was changed beside the work; None where the sheet does not say what the work may change."""

    @property
    def clean(self) -> bool | None:
        """Whether nothing was changed beside the work; None where nobody can tell."""
        return None if self.side_effects is None else not self.side_effects.total
