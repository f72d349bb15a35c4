"""What an experiment asks for: one order per agent, one planned attempt per task, variant and repeat."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from taskloom.omnieval.experiments.specification import AgentEntry, ExperimentFile, Variant
from taskloom.omnieval.graph_evaluator import Outcome
from taskloom.omnieval.lookup import PROTOCOLS
from taskloom.resources.record import Record
from taskloom.taskgraph.records.agent_run import End
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Termination


class AgentOrder(Record):
    """One agent, and how it is measured."""

    experiment_id: str
    """The experiment."""
    experiment: ExperimentFile
    """What it asks for."""
    entry: AgentEntry
    """The agent."""
    provider: str = ""
    """Provider of its model; empty without one."""
    model: str = ""
    """Its model; empty without one."""
    step_limit: int
    """Most steps of an attempt."""
    patience: int
    """Steps without a completed subtask that end one."""


class Telling(Record):
    """One way to tell a task."""

    variant: str
    """Name that attempts give it."""
    instruction: str
    """What is told at the start."""
    reply: str = ""
    """What the user answers to any question; empty where nobody answers."""
    news: str = ""
    """What the user says after the first step; empty for nothing."""


class PlannedAttempt(Telling):
    """One attempt before it is made."""

    attempt_id: str
    """Opaque id, equal in every run of the experiment."""
    task_id: str
    """The task."""
    repeat: int
    """Number among equal attempts, from 0."""
    seed: int
    """Seed of the agent."""
    number: int
    """Number among all attempts of the agent, from 0."""


def order_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> AgentOrder:
    """The order of one agent; limits that the experiment leaves open are those of its protocol."""
    usual = PROTOCOLS.load(experiment.protocol).LIMITS
    longest = max((len(task.graph.nodes) for task in tasks), default=1)
    steps = experiment.limits.steps or usual.steps or usual.steps_per_subtask * longest
    return AgentOrder(
        experiment_id=experiment_id,
        experiment=experiment,
        entry=entry,
        provider=entry.model.provider if entry.model else "",
        model=entry.model.model if entry.model else "",
        step_limit=steps,
        patience=experiment.limits.patience or usual.patience or steps + 1,
    )


def attempts_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> Iterator[PlannedAttempt]:
    """All attempts of one agent, the first repeat of every task first."""
    number = 0
    for repeat, seed in enumerate(experiment.seeds):
        for task in tasks:
            for telling in told(task, experiment.variants):
                yield PlannedAttempt(
                    **dict(telling),
                    attempt_id=f"{experiment_id}:{entry.title}:{task.task_id}:{telling.variant}:{repeat}",
                    task_id=task.task_id,
                    repeat=repeat,
                    seed=seed,
                    number=number,
                )
                number += 1


@dataclass(frozen=True, slots=True)
class ScriptedUser:
    """Answers every question alike, and has one piece of news; satisfies
    `taskloom.environments.agent.Companion`."""

    reply: str
    """The answer."""
    news: str
    """What is said after the first step."""

    def says(self, question: str, step: int) -> str:
        """What the agent hears after `step`.

        >>> ScriptedUser("It is 3.", "").says("How many?", 4), ScriptedUser("", "Stop.").says("", 1)
        ('It is 3.', 'Stop.')
        """
        heard = [self.reply if question else "", self.news if step == 1 else ""]
        return " ".join(filter(None, heard))


def told(task: Task, variants: Sequence[Variant]) -> Iterator[Telling]:
    """The ways to tell `task`; one that it lacks is left out."""
    value = _value_told_once(task)
    for variant in variants:
        if variant == "high":
            yield Telling(variant=variant, instruction=task.instruction)
        elif variant == "low":
            yield Telling(variant=variant, instruction="\n".join(task.low_level_instructions))
        elif variant == "intent" and task.intent:
            yield Telling(variant=variant, instruction=f"Goal: {task.intent}\n{task.instruction}")
        elif variant == "ask" and value:
            held_back = task.instruction.replace(value, "(ask me which)")
            yield Telling(variant=variant, instruction=held_back, reply=f"I mean {value}.")
        elif variant == "news" and value:
            stem, dot, suffix = value.rpartition(".")
            other = f"{stem}-draft{dot}{suffix}" if dot else f"{value} draft"
            wrong = task.instruction.replace(value, other)
            news = f"I have changed my mind: not {other}, but {value}."
            yield Telling(variant=variant, instruction=wrong, news=news)
        elif variant == "orders":
            for number, text in enumerate(task.permuted_instructions, start=1):
                yield Telling(variant=f"order {number}", instruction=text)


def _value_told_once(task: Task) -> str:
    """The longest value of a subtask that the instruction says exactly once; empty if there is none."""
    values = {value for node in task.graph.nodes for value in node.parameters.values()}
    fitting = [value for value in values if len(value) > 2 and task.instruction.count(value) == 1]
    return max(sorted(fitting), key=len, default="")


def digest(value: object) -> str:
    """SHA-256 of a value that JSON can hold.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


INVALID: Final[frozenset[Termination]] = frozenset({"environment_error", "invalid_start"})
"""What an agent cannot have caused."""
_OF_AGENT: Final[dict[Termination, End]] = {
    "gave_up": "gave_up",
    "step_limit": "out_of_steps",
    "out_of_time": "out_of_time",
    "model_error": "agent_error",
    "agent_error": "agent_error",
    "unusable_replies": "unusable_replies",
    "refused_actions": "refused_action",
    "attempt_budget": "budget",
}


def end_of(termination: Termination, outcome: Outcome, *, success: bool, completed: int) -> End:
    """How an attempt ended, from how its episode did and what the evaluator saw.

    Work that is complete is a success however the agent ended afterwards; what is invalid is nothing else.

    >>> end_of("step_limit", "running", success=False, completed=2)
    'out_of_steps'
    >>> end_of("finished", "finished_early", success=False, completed=2)
    'partial'
    >>> end_of("environment_error", "completed", success=True, completed=2)
    'invalid'
    """
    if termination in INVALID:
        return "invalid"
    if success:
        return "success"
    if termination in _OF_AGENT:
        return _OF_AGENT[termination]
    ended: dict[Outcome, End] = {"step_limit": "out_of_steps", "stalled": "stalled"}
    return ended.get(outcome, "partial" if completed else "failed")
