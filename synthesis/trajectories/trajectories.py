"""Trajectories: a model performs subtasks in an environment (B.2, E.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from pydantic import Field

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.recorded_agent import RecordedAgent
from taskloom.environments.annotated import annotate
from taskloom.environments.computer_use import ComputerConversation, SafetyPolicy
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, run_episode
from taskloom.environments.errors import AgentError, EnvironmentFailureError
from taskloom.environments.lookup import platform_of
from taskloom.environments.screen_words import NOTHING_CHANGED, ONLY_THE_PICTURE
from taskloom.environments.starting_place import needs_open_page
from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.actor_actions import action_of_reply, in_history
from taskloom.prompts.inputs import ActorInput, ComputerActorInput
from taskloom.prompts.replies import ActorReply
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.synthesis.ports import Environments, Models
from taskloom.synthesis.trajectories.settled_ends import EndCheck
from taskloom.synthesis.trajectories.setup_trajectories import (
    PreparedEnvironment,
    SetupTrajectory,
    fixtures_laid,
    made_files,
)
from taskloom.taskgraph.records.computer_use import ComputerReply, ComputerTurn
from taskloom.taskgraph.records.gestures import Coordinates
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
    WaitInput,
)
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

STAGE = "trajectories"
_MOST_STARTS = 2
"""Maximum starts of a performance if the environment fails in a way that another try may avoid."""
_REPEATS_BEFORE_WARNING = 3
"""Number of equal actions without effect after which the actor is warned."""
_MOST_REPEATS = 5
"""Number of such actions after which the attempt ends."""
_GRAPHICAL = frozenset({"Canvas", "Video"})
"""Types of controls whose content no list describes."""
_NAMED_BY_TEXT = frozenset({"Button", "Hyperlink", "MenuItem", "TabItem"})
"""Types of controls that say nothing without a name."""

Picture = Callable[[Observation], Screenshot]
"""Makes the picture of a screen that the model sees."""


def plain_picture(observation: Observation) -> Screenshot:
    """The screen as it is."""
    return observation.screenshot


def annotated_picture(observation: Observation) -> Screenshot:
    """The screen at its own size, with a numbered box around every control that can be used."""
    return Screenshot.of(annotate(observation, include_text=False))


class TrajectorySettings(Record):
    """Settings of performances."""

    step_limit: int = Field(default=30, ge=1)
    """Maximum steps per performance."""
    coordinates: Coordinates = "labels"
    """How the actor points: by `labels` of controls, or also by points in `pixels`, `fractions` or
    `thousandths`."""
    actor: Literal["reply", "computer_tool"] = "reply"
    """How the actor is called: for one action as JSON per step, with the list of controls; or through its
    provider's own `computer` tool (OpenAI, Anthropic), which sees only the screen."""
    pictures: Literal["needed", "always"] = "needed"
    """When the actor also sees the screen: `always`, or as `needed` (at its first step, and where the list of
    controls does not show what happened or what is there). The computer tool always sees it."""
    safety_checks: SafetyPolicy = "refuse"
    """With the computer tool: what happens to actions that the provider flags as unsafe. `acknowledge`
    carries them out."""
    another_way: bool = True
    """Whether the second performance of a subtask is to take another route, so that functions are tested on
    two."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an actor of any kind is told about one performance before it begins."""

    item_id: str
    """Id of what is performed, to account for model calls."""
    application: Application
    """The application; for a whole task, one record with the manuals of all applications."""
    step_limit: int
    attempt: int = 0
    feedback: tuple[str, ...] = ()


@dataclass(slots=True)
class ModelAgent:
    """An agent that asks the actor model for every decision.

    If the model wants to finish while a dialog, menu or question is open that was not open at the start, it
    is told so and asked again, once.
    """

    models: Models
    briefing: Briefing
    picture: Picture = plain_picture
    coordinates: Coordinates = "labels"
    sparing: bool = False
    """Whether it sees the screen only when the list of controls is not enough."""
    another_way: bool = False
    _end: EndCheck = field(default_factory=EndCheck)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The model's decision.

        Raises:
            AgentError: the model refused or gave no usable reply.
            ModelClientError: calls cannot go on at all.
        """
        repeated = ineffective_repeats(history)
        if repeated >= _MOST_REPEATS:
            return Decision(status="give_up", message=describe_repeats(history, repeated))
        reply = await self._ask(instruction, observation, history)
        if reply.status == "FINISH" and self._end.objects(instruction, observation.controls, history):
            reply = await self._ask(instruction, observation, history)
        return self._decision(reply, observation)

    async def _ask(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> ActorReply:
        briefing = self.briefing
        repeated = ineffective_repeats(history)
        shown = not self.sparing or self._end.objections or must_be_seen(observation.controls, history)
        loops = (describe_repeats(history, repeated),) if repeated >= _REPEATS_BEFORE_WARNING else ()
        question = ActorInput(
            application=briefing.application.name,
            title=briefing.application.title,
            manual=briefing.application.manual,
            instruction=instruction,
            feedback=briefing.feedback,
            remarks=(*self._end.objections, *loops),
            another_way=self.another_way,
            history=tuple(in_history(step) for step in history),
            steps_left=max(0, briefing.step_limit - len(history)),
            window_title=observation.window_title,
            controls=observation.controls,
            coordinates=self.coordinates,
            screen_size=observation.screen_size,
            screenshot=self.picture(observation) if shown else None,
            sparing=self.sparing,
        )
        try:
            return await self.models.ask(
                question, stage=STAGE, item_id=briefing.item_id, attempt=briefing.attempt
            )
        except CallFailedError as error:
            raise AgentError(str(error)) from error

    def _decision(self, reply: ActorReply, observation: Observation) -> Decision:
        fields = {"description": reply.observation, "thought": reply.thought}
        if reply.status == "FINISH":
            return Decision(status="finish", **fields)
        if reply.status == "GIVE_UP":
            return Decision(status="give_up", message=reply.message, **fields)
        named = next((item for item in observation.controls if item.label == reply.control_label), None)
        if named is not None and named.text and not reply.control_text.strip():
            message = (
                f"The label {named.label} is {named.control_type} {named.text!r}; an action needs its text in"
                " `control_text`, too. Nothing was done."
            )
            return Decision(status="continue", message=message, **fields)
        action = action_of_reply(reply, self.coordinates, observation.screen_size)
        return Decision(status="continue", action=action, **fields)


def actor(
    models: Models,
    briefing: Briefing,
    settings: TrajectorySettings,
    picture: Picture,
    *,
    another_way: bool = False,
) -> Agent:
    """The agent that asks the actor model as `settings` say; only `reply` can be asked for another route."""
    if settings.actor == "computer_tool":
        return ComputerAgent(models, briefing, settings.safety_checks)
    sparing = settings.pictures == "needed" and settings.coordinates == "labels"
    return ModelAgent(models, briefing, picture, settings.coordinates, sparing, another_way)


async def perform_subtask(
    instance: BoundSubtask,
    applications: Mapping[str, Application],
    *,
    models: Models,
    environments: Environments,
    settings: TrajectorySettings,
    setup: SetupTrajectory | None = None,
    attempt: int = 0,
    feedback: Sequence[str] = (),
    another_way: bool = False,
    original: Trajectory | None = None,
    picture: Picture = plain_picture,
    provenance: Provenance,
) -> Trajectory:
    """Perform `instance` once in a fresh environment, after `setup`, by the actor or as in `original`.

    Always returns a trajectory; its termination says whether the environment failed or the start lacked what
    the subtask reads. If another try may help, the performance is started again.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    application = applications[instance.application]
    setup = setup or SetupTrajectory()
    without = made_files([*(performed for performed, _ in setup.performed), instance])
    touched = {
        item.value for performed, _ in setup.performed for item in (*performed.outputs, *performed.consumed)
    }
    opened = [application, *(applications[name] for name in setup.applications)]
    fixture_hashes = fixtures_laid(opened, without | touched)
    briefing = Briefing(instance.instance_id, application, settings.step_limit, attempt, tuple(feedback))
    for _ in range(_MOST_STARTS):
        failures: list[EnvironmentFailureError] = []
        if original is not None:
            agent: Agent = RecordedAgent(original)
        else:
            agent = actor(models, briefing, settings, picture, another_way=another_way)
        async with environments.lease(platform_of(opened), [item.name for item in opened]) as environment:
            prepared: Environment = environment
            if setup.performed:
                first_page = not needs_open_page(instance)
                prepared = PreparedEnvironment(environment, setup, opened[1:], first_page=first_page)
            trajectory = await run_episode(
                prepared,
                agent,
                assignment=Assignment.of_subtask(instance),
                applications=[application],
                step_limit=settings.step_limit,
                without=without,
                check_start=lambda evidence: missing_at_start(instance.inputs, evidence, fixture_hashes),
                attempt=attempt,
                provenance=provenance.model_copy(update={"stage": STAGE}),
                on_failure=failures.append,
            )
        if trajectory.termination != "invalid_start" and not any(item.transient for item in failures):
            break
    return trajectory


def must_be_seen(controls: Sequence[Control], history: Sequence[TrajectoryStep]) -> bool:
    """Whether the list of controls does not show all that the actor needs to know.

    That is so at the first step, after a step that was refused or whose effect the list does not show, after
    waiting and pointer movements, and if a control is graphical or has no name. A nameless control was
    seen when it appeared, and is not shown again while it stays in place: a wait shows the screen.
    """
    last = history[-1] if history else None
    nameless = {_place(item) for step in history for item in step.observation_controls if _is_nameless(item)}
    return (
        last is None
        or not isinstance(last.action, ClickInput | KeyboardInput)
        or last.change in ("", NOTHING_CHANGED, ONLY_THE_PICTURE)
        or any(item.control_type in _GRAPHICAL for item in controls)
        or any(_is_nameless(item) and _place(item) not in nameless for item in controls)
    )


def _is_nameless(control: Control) -> bool:
    return control.control_type in _NAMED_BY_TEXT and not (control.text or control.row)


def _place(control: Control) -> tuple[str, Rectangle]:
    return control.control_type, control.rectangle


def ineffective_repeats(history: Sequence[TrajectoryStep]) -> int:
    """How many of the last steps repeated the same action on the same control, refused or without effect on
    the screen.

    Waiting does not count: a screen may change later.
    """

    def is_ineffective(step: TrajectoryStep) -> bool:
        without_effect = bool(step.problem) or step.change == NOTHING_CHANGED
        is_repeated = _action_key(step) == _action_key(history[-1])
        return without_effect and is_repeated and not isinstance(step.action, WaitInput)

    return sum(1 for _ in takewhile(is_ineffective, reversed(history)))


def describe_repeats(history: Sequence[TrajectoryStep], times: int) -> str:
    """The message about ineffective repeats, for the actor and for its next attempt."""
    last = history[-1]
    target = f" on {last.target.text!r}" if last.target is not None and last.target.text else ""
    result = last.problem or NOTHING_CHANGED
    return f"{last.action.operation}{target} was done {times} times with the same result: {result}"


def _action_key(step: TrajectoryStep) -> tuple[Action, object, str]:
    labels = {"control_label": "", "end_label": "", "point": None, "points": ()}
    if step.target is None:
        labels.pop("point")
    update = {name: value for name, value in labels.items() if name in type(step.action).model_fields}
    return step.action.model_copy(update=update), step.target, step.problem


class ComputerAgent:
    """Asks the actor model through its computer tool, and asks again, once, if it wants to finish while
    something is open that was not open at the start; satisfies `taskloom.environments.agent.Agent`."""

    def __init__(self, models: Models, briefing: Briefing, safety: SafetyPolicy = "refuse") -> None:
        """An agent with what the actor is told about the performance."""
        self._models, self._briefing = models, briefing
        self._end = EndCheck()
        self._conversation = ComputerConversation(self._ask, safety, self._may_end)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next pending action, or the next one that the model asks for once none is pending.

        Raises:
            AgentError: the model refused or gave no usable reply.
            ModelClientError: calls cannot go on at all.
        """
        return await self._conversation.decide(instruction, observation, history)

    def _may_end(self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]) -> bool:
        return not self._end.objects(instruction, observation.controls, history)

    async def _ask(
        self, instruction: str, first: Screenshot, turns: tuple[ComputerTurn, ...]
    ) -> ComputerReply:
        briefing = self._briefing
        question = ComputerActorInput(
            application=briefing.application.name,
            title=briefing.application.title,
            manual=briefing.application.manual,
            instruction=instruction,
            feedback=(*briefing.feedback, *self._end.objections),
            step_limit=briefing.step_limit,
            screenshot=first,
            computer=turns,
        )
        try:
            return await self._models.ask(
                question, stage=STAGE, item_id=briefing.item_id, attempt=briefing.attempt
            )
        except CallFailedError as error:
            raise AgentError(str(error)) from error
