"""An agent that asks a model in the format it was trained for, in one conversation with the last pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from taskloom.environments.agent import Decision
from taskloom.environments.computer_use import ActionQueue, resized
from taskloom.environments.errors import UnusableReplyError
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.arguments import writable
from taskloom.omnieval.replies.formats import GRID_WORDS, ReplyFormat
from taskloom.omnieval.replies.reading import ReadReply, read_reply
from taskloom.prompts.agent_inputs import SpokenActorInput
from taskloom.taskgraph.records.computer_use import Exchange
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_MOST_LOOKS = 3


@dataclass(slots=True)
class SpokenAgent:
    """Carries out the actions of a reply one by one, then asks for the next; satisfies
    `taskloom.environments.agent.Agent`.

    The conversation keeps all words and the last pictures. A reply that is no action is told back to the
    model, once per step.
    """

    brief: AgentBrief
    """What it is made from; its setting `pictures` says how many pictures are shown."""
    form: ReplyFormat
    """The format."""
    _past: list[Exchange] = field(default_factory=list)
    _queue: ActionQueue = field(default_factory=ActionQueue)
    _read: ReadReply = field(default_factory=ReadReply)
    _said: str = ""

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the last reply, or of the one asked for now; errors as `AgentBrief.ask`."""
        problem = history[-1].problem if history else ""
        if problem:
            self._queue.refuse(problem)
            self._read = ReadReply()
        for _ in range(_MOST_LOOKS):
            decision = self._next_decision()
            if decision is not None:
                return decision
            told = [f"The last action was not carried out: {problem}"] if problem else []
            told += [step.told for step in history[-1:] if step.told]
            await self._ask(instruction, observation, " ".join(told))
            problem = " ".join(dict.fromkeys(self._queue.problems.values()))
        return self._next_decision() or Decision(
            status="give_up", message="the model only looked at the screen, again and again", reply=self._said
        )

    def _next_decision(self) -> Decision | None:
        gesture = self._queue.next_gesture()
        if gesture is not None:
            return Decision(status="continue", thought=self._read.thought, action=gesture, reply=self._said)
        ending, thought = self._read.ending, self._read.thought
        if ending is None or self._queue.problems:
            return None
        if ending.status == "finish":
            return Decision(status="finish", thought=thought, answer=ending.words, reply=self._said)
        # A question that nobody answers is giving up.
        asks = ending.status == "ask_user" and self.brief.task.can_ask
        message = ending.words or thought or "the model says that it cannot be done"
        return Decision(
            status="ask_user" if asks else "give_up", thought=thought, message=message, reply=self._said
        )

    async def _ask(self, instruction: str, observation: Observation, outcome: str) -> None:
        """Ask for the next reply and take it in."""
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
            past=self._remembered(),
            functions=form.declarations(),
            own_prompt=self.brief.prompt,
        )
        reply = await self.brief.ask(question)
        self._said = said = writable(reply.text)
        self._past.append(
            Exchange(told=question.rendered().user, pictures=(picture,), said=said or "(nothing)")
        )
        self._queue.problems = {}
        try:
            self._read = read_reply(said, form, sent=size, screen=observation.screen_size)
        except CallUnusableError as error:
            self._read = ReadReply()
            raise UnusableReplyError(str(error), said) from None
        self._queue.fill(("", action) for action in self._read.actions)

    def _remembered(self) -> tuple[Exchange, ...]:
        """The conversation so far, with as many of its pictures as are shown beside the present one."""
        shown = max(0, int(str(self.brief.settings.get("pictures", self.form.pictures))) - 1)
        first = len(self._past) - shown
        return tuple(
            exchange if number >= first else exchange.model_copy(update={"pictures": ()})
            for number, exchange in enumerate(self._past)
        )
