"""Goes to the first page of an application, where recordings of its subtasks start, by ordinary actions on
the task bar, so a recording that includes them is complete."""

from collections.abc import Sequence
from dataclasses import dataclass

from taskloom.environments.agent import Decision
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Recording, record_steps
from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.records.interaction import ClickInput, Control, KeyboardInput, Observation
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import TrajectoryStep

TASK_BAR_BUTTON = "TaskBarButton"
"""Control type of the buttons that the environment owns: one per application, and those that navigate."""
UNRESPONSIVE, WAIT_ON = "Page unresponsive", "Wait"
"""Title of the window that asks what to do with an unresponsive page, and its button to wait."""
START_PAGE = "Start page"
"""Text of the task bar button that leads to the application's first page, with its state kept."""
ENVIRONMENT = "environment"
"""Application name of controls that the environment owns."""
LEAVE = "Leave"
"""Text of the button that leaves a page despite unsaved changes."""

_STEP_LIMIT = 8
_KINDS_OF_THE_PAGE = frozenset(
    {ResourceKind.OPEN_DOCUMENT, ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
)


def needs_open_page(instance: BoundSubtask) -> bool:
    """Whether `instance` reads what only the open page holds, so the page must not be left."""
    return any(item.kind in _KINDS_OF_THE_PAGE for item in instance.inputs)


@dataclass(slots=True)
class StartingPlaceAgent:
    """Brings an application to the front and, if wanted, to its first page. It first closes windows of the
    environment, and leaves a page that asks for confirmation."""

    application: str
    title: str
    """Its title on the task bar."""
    first_page: bool
    """Whether to go to its first page."""
    _requested_first_page: bool = False

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action towards the starting place."""
        windows = [control for control in observation.controls if _in_window(control)]
        leave = next((control for control in windows if control.text == LEAVE), None)
        if leave is not None:
            return _continue_with(
                ClickInput(control_label=leave.label),
                "The page asks whether to leave it; nothing on it is needed any more, so I leave it.",
            )
        if windows:
            return _continue_with(
                KeyboardInput(keys="{ESC}"),
                "A window is still open and in the way, so I close it with Escape.",
            )
        if observation.active_application != self.application:
            reason = f"The next work is to be done in {self.title}, which is not in front, so I change to it."
            return _press(observation, self.title, reason)
        if self.first_page and not self._requested_first_page:
            self._requested_first_page = True
            reason = f"The next work starts on the first page of {self.title}, so I go there."
            return _press(observation, START_PAGE, reason)
        return Decision(status="finish")


async def go_to_starting_place(
    environment: Environment,
    application: str,
    title: str,
    observation: Observation,
    *,
    first_page: bool,
    history: Sequence[TrajectoryStep] = (),
) -> Recording:
    """Go to the starting place from `observation`; step numbers continue those of `history`."""
    agent = StartingPlaceAgent(application, title, first_page)
    return await record_steps(environment, agent, "", observation, step_limit=_STEP_LIMIT, history=history)


def _in_window(control: Control) -> bool:
    return control.application == ENVIRONMENT and control.control_type != TASK_BAR_BUTTON


def _press(observation: Observation, text: str, reason: str) -> Decision:
    for control in observation.controls:
        if control.control_type == TASK_BAR_BUTTON and control.text == text:
            return _continue_with(ClickInput(control_label=control.label), reason)
    return Decision(status="give_up", message=f"the task bar has no button {text!r}")


def _continue_with(action: ClickInput | KeyboardInput, thought: str) -> Decision:
    return Decision(status="continue", thought=thought, action=action)
