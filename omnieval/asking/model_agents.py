"""Agents that only ask a model, read from `model_agents.yaml` under their names for `--agent` and in
experiments. They ask in one conversation in the format that the model was trained for, for one action as JSON
per step, or through the provider's computer tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import ClassVar, Literal, cast

from pydantic import Field, JsonValue, TypeAdapter
from ruamel.yaml import YAML

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.annotated import annotate
from taskloom.environments.computer_use import ActionQueue, ComputerConversation, resized
from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.formats import GRID_WORDS, ReadReply, ReplyFormat, read_reply
from taskloom.omnieval.replies.verbs import writable
from taskloom.prompts.actor_actions import action_of_reply, in_history
from taskloom.prompts.agent_inputs import ApplicationInView, SpokenActorInput
from taskloom.prompts.inputs import ActorInput, ComputerActorInput
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerReply, ComputerTurn, Exchange
from taskloom.taskgraph.records.gestures import Coordinates
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.trajectory import TrajectoryStep

Shows = Literal["marks_and_list", "marks", "list", "picture"]
"""What a chat model sees of the screen."""
_MAXIMUM_LOOKS = 3


class ModelAgent(Record):
    """An agent as a row instead of a module; without `form` and `shows` it uses a provider's tool."""

    description: str
    """What it is; after a blank line, the source of its format and its settings."""
    form: ReplyFormat | None = None
    """The format that its model was trained for."""
    shows: Shows | None = None
    """What a chat model sees of the screen."""
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Allowed values of some of its settings, the default first."""
    MODEL: ClassVar[bool] = True

    def create(self, brief: AgentBrief) -> Agent:
        """A new agent for one attempt."""
        self.check(brief.settings)
        if self.form is not None:
            return _SpokenAgent(brief, self.form)
        return _tool_agent(brief) if self.shows is None else _TypedAgent(brief, self.shows)

    def check(self, settings: Mapping[str, JsonValue]) -> None:
        """Raise an `AgentError` if a setting has a value that is not allowed."""
        for name, allowed in self.choices.items():
            value = settings.get(name, allowed[0])
            if value not in allowed:
                *others, last = allowed
                raise AgentError(
                    f"The setting {name} is {value!r}; it must be {', '.join(others)} or {last}."
                )


@dataclass(slots=True)
class _SpokenAgent:
    """Carries out the actions of a reply one by one, then asks for the next reply.

    The conversation keeps all texts and the last pictures, as many as the setting `pictures` says. A reply
    without an action is reported to the model, once per step.
    """

    brief: AgentBrief
    form: ReplyFormat
    _past: list[Exchange] = field(default_factory=list)
    _queue: ActionQueue = field(default_factory=ActionQueue)
    _parsed: ReadReply = field(default_factory=ReadReply)
    _reply: str = ""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        problem = history[-1].problem if history else ""
        if problem:
            self._queue.refuse(problem)
            self._parsed = ReadReply()
        for _ in range(_MAXIMUM_LOOKS):
            decision = self._next_decision()
            if decision is not None:
                return decision
            messages = [f"The last action was not carried out: {problem}"] if problem else []
            messages += [step.told for step in history[-1:] if step.told]
            await self._ask(instruction, observation, " ".join(messages))
            problem = " ".join(dict.fromkeys(self._queue.problems.values()))
        return self._next_decision() or Decision(
            status="give_up",
            message="the model only looked at the screen, again and again",
            reply=self._reply,
        )

    def _next_decision(self) -> Decision | None:
        gesture = self._queue.next_gesture()
        ending = self._parsed.ending
        decision = Decision(status="finish", thought=self._parsed.thought, reply=self._reply)
        if gesture is not None:
            return decision.model_copy(update={"status": "continue", "action": gesture})
        if ending is None or self._queue.problems:
            return None
        if ending.status == "finish":
            return decision.model_copy(update={"answer": ending.words})
        # A question that cannot be answered counts as giving up.
        asks = ending.status == "ask_user" and self.brief.task.can_ask
        message = ending.words or decision.thought or "the model says that it cannot be done"
        return decision.model_copy(update={"status": "ask_user" if asks else "give_up", "message": message})

    async def _ask(self, instruction: str, observation: Observation, outcome: str) -> None:
        """Ask for the next reply, and queue its actions."""
        form, task = self.form, self.brief.task
        size = form.sizing.of(observation.screen_size)
        picture = resized(observation.screenshot, size)
        question = SpokenActorInput(
            instruction=instruction,
            applications=task.applications,
            actions=form.functions,
            grid=GRID_WORDS[form.grid],
            shape=form.shape,
            picture_size=size,
            step_limit=task.step_limit,
            first=not self._past,
            outcome=outcome,
            screenshot=picture,
            past=self._earlier_turns(),
            functions=form.declarations(),
            own_prompt=self.brief.prompt,
        )
        reply = await self.brief.ask(question)
        self._reply = text = writable(reply.text)
        self._past.append(
            Exchange(told=question.rendered().user, pictures=(picture,), said=text or "(nothing)")
        )
        self._queue.problems = {}
        self._parsed = ReadReply()
        try:
            self._parsed = read_reply(text, form, sent=size, screen=observation.screen_size)
        except CallUnusableError as error:
            raise UnusableReplyError(str(error), text) from None
        self._queue.fill(("", action) for action in self._parsed.actions)

    def _earlier_turns(self) -> tuple[Exchange, ...]:
        """The conversation so far, with those of its pictures that are still shown."""
        first = len(self._past) - _earlier_pictures(self.brief, self.form.pictures)
        return tuple(
            exchange if number >= first else exchange.model_copy(update={"pictures": ()})
            for number, exchange in enumerate(self._past)
        )


@dataclass(slots=True)
class _TypedAgent:
    """Asks a chat model separately for every step, with the steps so far in words and the last screens, as
    many as the setting `pictures` says. With only a picture, the model points, as set in `coordinates`."""

    brief: AgentBrief
    shows: Shows

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        brief, application = self.brief, _merge_applications(self.brief.task)
        coordinates: Coordinates = "labels"
        if self.shows == "picture":
            coordinates = cast(Coordinates, brief.settings.get("coordinates", "thousandths"))
        earlier = _earlier_pictures(brief, 1)
        question = ActorInput(
            application=application.name,
            title=application.title,
            manual=application.manual,
            instruction=instruction,
            history=tuple(in_history(step) for step in history),
            steps_left=max(0, brief.task.step_limit - len(history)),
            window_title=observation.window_title,
            controls=observation.controls,
            coordinates=coordinates,
            screen_size=observation.screen_size,
            screenshot=observation.screenshot
            if self.shows in ("picture", "list")
            else Screenshot.of(annotate(observation, include_text=False)),
            shows=self.shows,
            own_prompt=brief.prompt,
            earlier=tuple(step.observation_screenshot for step in history[-earlier:] if earlier),
        )
        reply = await brief.ask(question)
        text = reply.model_dump_json(exclude_defaults=True)
        decision = Decision(status="finish", description=reply.observation, thought=reply.thought, reply=text)
        if reply.status == "FINISH":
            return decision.model_copy(update={"answer": reply.message})
        if reply.status == "GIVE_UP":
            return decision.model_copy(update={"status": "give_up", "message": reply.message})
        action = action_of_reply(reply, coordinates, observation.screen_size)
        if action is None:
            name = repr(reply.function or "of the reply")
            raise UnusableReplyError(f"The function {name} lacks what it needs; nothing was done.", text)
        return decision.model_copy(update={"status": "continue", "action": action})


def _tool_agent(brief: AgentBrief) -> Agent:
    """An agent with the computer tool; `safety_checks: acknowledge` overrides the provider's doubts."""
    application = _merge_applications(brief.task)

    async def ask(instruction: str, first: Screenshot, turns: tuple[ComputerTurn, ...]) -> ComputerReply:
        question = ComputerActorInput(
            application=application.name,
            title=application.title,
            manual=application.manual,
            instruction=instruction,
            step_limit=brief.task.step_limit,
            screenshot=first,
            computer=turns,
            own_prompt=brief.prompt,
        )
        return await brief.ask(question)

    doubts = brief.settings.get("safety_checks")
    return ComputerConversation(ask, "acknowledge" if doubts == "acknowledge" else "refuse")


def _merge_applications(task: AgentTask) -> ApplicationInView:
    """All applications of a task combined into one."""
    return ApplicationInView(
        name=", ".join(item.name for item in task.applications),
        title=", ".join(item.title for item in task.applications),
        manual="\n\n".join(f"# {item.title}\n{item.manual}" for item in task.applications),
    )


def _earlier_pictures(brief: AgentBrief, default: int) -> int:
    """How many pictures are shown besides the current one."""
    return max(0, int(str(brief.settings.get("pictures", default))) - 1)


_TEXT = (files("taskloom.omnieval.asking") / "model_agents.yaml").read_text(encoding="utf-8")
ROWS: dict[str, ModelAgent] = TypeAdapter(dict[str, ModelAgent]).validate_python(YAML(typ="safe").load(_TEXT))
"""The agents by name."""
