"""Going to the first page of an application, where its subtasks are recorded from, by ordinary actions on the
task bar: a recording that holds them leads from its first screen to its last."""

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
"""Title of the window that asks what to do with a page that does not answer, and its button to wait."""
START_PAGE = "Start page"
"""Text of the task bar button that leads to the application's first page, with its state kept."""
ENVIRONMENT = "environment"
"""Application name of controls that the environment owns."""
LEAVE = "Leave"
"""Text of the button that leaves a page although it holds unsaved changes."""

_MOST_STEPS = 8
_STAYS_OPEN = frozenset(
    {ResourceKind.OPEN_DOCUMENT, ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
)


def needs_open_page(instance: BoundSubtask) -> bool:
    """Whether `instance` reads what only the page that is open now holds, which must not be left then."""
    return any(item.kind in _STAYS_OPEN for item in instance.inputs)


@dataclass(slots=True)
class StartingPlaceAgent:
    """Brings an application to the front and, if wanted, to its first page. Windows of the environment are
    closed first; a page that asks whether to leave it is left."""

    application: str
    title: str
    """What the task bar calls it."""
    first_page: bool
    """Whether to go to its first page."""
    _asked_for_it: bool = False

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action on the way."""
        windows = [control for control in observation.controls if _in_window(control)]
        leave = next((control for control in windows if control.text == LEAVE), None)
        if leave is not None:
            return _do(
                ClickInput(control_label=leave.label),
                "The page asks whether to leave it; nothing on it is needed any more, so I leave it.",
            )
        if windows:
            return _do(
                KeyboardInput(keys="{ESC}"),
                "A window is still open and in the way, so I close it with Escape.",
            )
        if observation.active_application != self.application:
            reason = f"The next work is to be done in {self.title}, which is not in front, so I change to it."
            return _press(observation, self.title, reason)
        if self.first_page and not self._asked_for_it:
            self._asked_for_it = True
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
    """Go there from `observation` on; the steps are numbered on from `history`."""
    agent = StartingPlaceAgent(application, title, first_page)
    return await record_steps(environment, agent, "", observation, step_limit=_MOST_STEPS, history=history)


def _in_window(control: Control) -> bool:
    return control.application == ENVIRONMENT and control.control_type != TASK_BAR_BUTTON


def _press(observation: Observation, text: str, reason: str) -> Decision:
    for control in observation.controls:
        if control.control_type == TASK_BAR_BUTTON and control.text == text:
            return _do(ClickInput(control_label=control.label), reason)
    return Decision(status="give_up", message=f"the task bar has no button {text!r}")


def _do(action: ClickInput | KeyboardInput, thought: str) -> Decision:
    return Decision(status="continue", thought=thought, action=action)
