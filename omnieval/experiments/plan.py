"""What an experiment asks for: one order per agent, one planned attempt per task, variant and repeat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from taskloom.omnieval.experiments.specification import AgentEntry, ExperimentFile, Limits, Variant
from taskloom.omnieval.lookup import protocol
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Task


class AgentOrder(Record):
    """One agent, and how it is measured."""

    experiment_id: str
    """The experiment."""
    entry: AgentEntry
    """The agent."""
    provider: str = ""
    """Provider of its model; empty without one."""
    model: str = ""
    """Its model; empty without one."""
    protocol: str
    """Protocol of evaluation."""
    limits: Limits
    """Where attempts end."""
    step_limit: int
    """Most steps of an attempt."""
    patience: int
    """Steps without a completed subtask that end one."""
    quiet_seconds: float
    """How long nothing may change before the last look."""
    quiet_limit_seconds: float
    """Longest wait for that."""
    invalid_tries: int
    """How often an invalid attempt is begun."""
    ahead: int = 0
    """Environments that are made ready ahead."""


class PlannedAttempt(Record):
    """One attempt before it is made."""

    attempt_id: str
    """Opaque id, equal in every run of the experiment."""
    task_id: str
    """The task."""
    variant: str
    """Which instruction is given."""
    instruction: str
    """That instruction."""
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
    usual = protocol(experiment.protocol).LIMITS
    longest = max((len(task.graph.nodes) for task in tasks), default=1)
    steps = experiment.limits.steps or usual.steps or usual.steps_per_subtask * longest
    return AgentOrder(
        experiment_id=experiment_id,
        entry=entry,
        provider=entry.model.provider if entry.model else "",
        model=entry.model.model if entry.model else "",
        protocol=experiment.protocol,
        limits=experiment.limits,
        step_limit=steps,
        patience=experiment.limits.patience or usual.patience or steps + 1,
        quiet_seconds=experiment.quiet_seconds,
        quiet_limit_seconds=experiment.quiet_limit_seconds,
        invalid_tries=experiment.invalid_tries,
        ahead=experiment.ahead,
    )


def attempts_for(
    experiment: ExperimentFile, experiment_id: str, entry: AgentEntry, tasks: Sequence[Task]
) -> Iterator[PlannedAttempt]:
    """All attempts of one agent, the first repeat of every task first."""
    number = 0
    for repeat, seed in enumerate(experiment.seeds):
        for task in tasks:
            for variant, instruction in told(task, experiment.variants):
                yield PlannedAttempt(
                    attempt_id=f"{experiment_id}:{entry.title}:{task.task_id}:{variant}:{repeat}",
                    task_id=task.task_id,
                    variant=variant,
                    instruction=instruction,
                    repeat=repeat,
                    seed=seed,
                    number=number,
                )
                number += 1


def told(task: Task, variants: Sequence[Variant]) -> Iterator[tuple[str, str]]:
    """The instructions of `task` by the names that attempts give them; a task that lacks one is left out."""
    for variant in variants:
        if variant == "high":
            yield "high", task.instruction
        elif variant == "low":
            yield "low", "\n".join(task.low_level_instructions)
        elif variant == "intent" and task.intent:
            yield "intent", f"Goal: {task.intent}\n{task.instruction}"
        elif variant == "orders":
            for number, text in enumerate(task.permuted_instructions, start=1):
                yield f"order {number}", text


def digest(value: object) -> str:
    """SHA-256 of a value that JSON can hold.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
