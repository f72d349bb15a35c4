"""Validation: an instruction must lead back to the task's graph by its words alone (B.4, section 7)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from pydantic import Field

from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.inputs import DependencyJudgeInput
from taskloom.resources.record import Record
from taskloom.synthesis.composition.building import permuted_orders
from taskloom.synthesis.instructions import (
    WrittenInstruction,
    goal_problems,
    in_order,
    literal_problems,
    numbered,
    write_instruction,
)
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Rejection, Task, Validation

STAGE = "validation"

Pair = tuple[str, str]


class ValidationSettings(Record):
    """Settings of validation."""

    rounds: int = Field(default=4, ge=1)
    """Instructions tried per task, and per order of its subtasks."""
    permuted_instructions: int = Field(default=0, ge=0)
    """Further instructions per task that present its subtasks in other orders (Table 8)."""
    spoilt_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the validated tasks whose instruction is also deliberately spoilt, to measure what the judge
    notices."""
    minimum_hits: float = Field(default=0.8, ge=0, le=1)
    """Share of the spoilt instructions that the judge must notice for a dataset version to be published."""
    maximum_false_alarms: float = Field(default=0.5, ge=0, le=1)
    """Largest share of first instructions that the judge may refuse for a dataset version to be published."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How inferred dependencies differ from the graph's, both taken as partial orders."""

    missing: tuple[Pair, ...]
    """Pairs of the graph that were not inferred in either direction."""
    extra: tuple[Pair, ...]
    """Inferred pairs that the graph orders in neither direction."""
    reversed: tuple[Pair, ...]
    """Pairs of the graph that were inferred the other way round."""

    @property
    def differences(self) -> Mapping[str, tuple[Pair, ...]]:
        """The pairs by kind of difference."""
        return {"missing": self.missing, "too many": self.extra, "turned round": self.reversed}

    @property
    def agrees(self) -> bool:
        """Whether both are the same partial order."""
        return not any(self.differences.values())


@dataclass(frozen=True, slots=True)
class ValidatedTask:
    """The outcome for one task: accepted with an instruction, or rejected with a reason."""

    task: Task
    """The task, with its instruction if one was accepted."""
    rounds: tuple[Validation, ...]
    rejection: Rejection | None


async def validate_task(
    task: Task,
    titles: Mapping[str, str],
    *,
    models: Models,
    settings: ValidationSettings,
    provenance: Provenance,
) -> ValidatedTask:
    """Have an instruction written and judged, round by round, until one is accepted.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    rounds: list[Validation] = []
    previous, feedback = "", tuple[str, ...]()
    for number in range(1, settings.rounds + 1):
        try:
            written = await write_instruction(
                task, titles, models=models, previous=previous, feedback=feedback, attempt=number - 1
            )
            previous = written.instruction
            judgement = await judge_instruction(
                task, written, titles, models=models, number=number, provenance=provenance
            )
        except CallFailedError as error:
            return ValidatedTask(
                task, tuple(rounds), _rejection(task, "no_usable_reply", str(error), provenance)
            )
        rounds.append(judgement)
        if judgement.accepted:
            update = {
                "instruction": written.instruction,
                "intent": written.goal,
                "low_level_instructions": tuple(node.instruction for node in in_order(task)),
                "permuted_instructions": await _permute(task, titles, models, settings, rounds, provenance),
            }
            return ValidatedTask(task.model_copy(update=update), tuple(rounds), None)
        feedback = _feedback(task, judgement)
    reason = _reason(rounds[-1])
    return ValidatedTask(task, tuple(rounds), _rejection(task, reason, "; ".join(feedback), provenance))


async def _permute(
    task: Task,
    titles: Mapping[str, str],
    models: Models,
    settings: ValidationSettings,
    rounds: list[Validation],
    provenance: Provenance,
) -> tuple[str, ...]:
    accepted: list[str] = []
    wanted = settings.permuted_instructions
    orders = permuted_orders(task, wanted + 1)[1:] if wanted else []
    for order in orders:
        for attempt in range(settings.rounds):
            try:
                written = await write_instruction(task, titles, models=models, attempt=attempt, order=order)
                judgement = await judge_instruction(
                    task, written, titles, models=models, number=len(rounds) + 1, provenance=provenance
                )
            except CallFailedError:
                break
            rounds.append(judgement)
            if judgement.accepted:
                accepted.append(written.instruction)
                break
    return tuple(accepted)


async def judge_instruction(
    task: Task,
    written: WrittenInstruction,
    titles: Mapping[str, str],
    *,
    models: Models,
    number: int = 1,
    provenance: Provenance,
) -> Validation:
    """One round: the check of literals and, only if that is passed, dependencies inferred from the words
    alone.

    Raises:
        ModelClientError: no usable reply.
    """
    problems = literal_problems(task, written.instruction, titles)
    goal_mismatches = goal_problems(task, written.goal, titles)
    reading, comparison = Reading((), (), ()), Comparison((), (), ())
    if not (problems or goal_mismatches):
        reading = await read_instruction(task, written.instruction, titles, models=models, attempt=number - 1)
        comparison = compare_orders(reading.dependencies, task.graph.pairs)
    return Validation(
        validation_id=f"{task.task_id}:{number}",
        task_id=task.task_id,
        round=number,
        instruction=written.instruction,
        literal_problems=problems,
        goal=written.goal,
        goal_problems=goal_mismatches,
        inferred=reading.dependencies,
        missing=comparison.missing,
        extra=comparison.extra,
        reversed=comparison.reversed,
        not_asked_for=reading.not_asked_for,
        not_listed=reading.not_listed,
        accepted=comparison.agrees
        and not (problems or goal_mismatches or reading.not_asked_for or reading.not_listed),
        provenance=provenance,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """What a judge infers from the words of an instruction."""

    dependencies: tuple[Pair, ...]
    not_asked_for: tuple[str, ...]
    """Instance ids of subtasks that the instruction does not ask for."""
    not_listed: tuple[str, ...]


async def read_instruction(
    task: Task, instruction: str, titles: Mapping[str, str], *, models: Models, attempt: int = 0
) -> Reading:
    """What the judge infers from `instruction`; it sees the subtasks in an order unrelated to the graph.

    Raises:
        ModelClientError: no usable reply.
    """
    nodes = sorted(task.graph.nodes, key=lambda node: node.instance_id)
    seed = hashlib.sha256(f"{task.task_id} {attempt + 1}".encode()).digest()
    Random(int.from_bytes(seed[:8], "big")).shuffle(nodes)
    question = DependencyJudgeInput(instruction=instruction, subtasks=numbered(nodes, titles))
    reply = await models.ask(question, stage=STAGE, item_id=task.task_id, attempt=attempt)
    by_number = {number: node.instance_id for number, node in enumerate(nodes, 1)}
    pairs = {
        (by_number[pair.before], by_number[pair.after])
        for pair in reply.dependencies
        if pair.before in by_number and pair.after in by_number and pair.before != pair.after
    }
    missing = {by_number[number] for number in reply.not_asked_for if number in by_number}
    not_listed = dict.fromkeys(item.strip() for item in reply.not_listed if item.strip())
    return Reading(tuple(sorted(pairs)), tuple(sorted(missing)), tuple(not_listed))


def compare_orders(inferred: Iterable[Pair], actual: Iterable[Pair]) -> Comparison:
    """Compare transitive closures, by label: a redundant edge changes nothing, a reversed one is found.

    >>> compare_orders([("a", "b"), ("b", "c"), ("a", "c")], [("a", "b"), ("b", "c")]).agrees
    True
    >>> compare_orders([("b", "a")], [("a", "b")])
    Comparison(missing=(), extra=(), reversed=(('a', 'b'),))
    >>> compare_orders([("a", "c")], [("a", "b")])
    Comparison(missing=(('a', 'b'),), extra=(('a', 'c'),), reversed=())
    """
    found, true = closure(inferred), closure(actual)
    reversed_pairs = {(first, second) for first, second in true if (second, first) in found}
    return Comparison(
        missing=tuple(sorted(true - found - reversed_pairs)),
        extra=tuple(sorted(pair for pair in found - true if pair[::-1] not in reversed_pairs)),
        reversed=tuple(sorted(reversed_pairs)),
    )


def closure(pairs: Iterable[Pair]) -> set[Pair]:
    """Every pair that follows from `pairs`: with (a, b) and (b, c) also (a, c).

    >>> sorted(closure([("a", "b"), ("b", "c")]))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    import networkx

    return set(networkx.transitive_closure(networkx.DiGraph(list(pairs))).edges)


def _feedback(task: Task, judgement: Validation) -> tuple[str, ...]:
    names = {node.instance_id: f"“{node.instruction}”" for node in task.graph.nodes}
    missing, extra, reversed_pairs = (
        [(names[first], names[second]) for first, second in pairs]
        for pairs in (judgement.missing, judgement.extra, judgement.reversed)
    )
    return (
        *judgement.literal_problems,
        *(f"the goal “{judgement.goal}”: {problem}" for problem in judgement.goal_problems),
        *(f"it does not ask for {names[name]} with these values" for name in judgement.not_asked_for),
        *(f"it asks for “{words}”, which is none of the tasks" for words in judgement.not_listed),
        *(f"a reader cannot tell that {two} needs the result of {one}" for one, two in missing),
        *(f"it sounds as if {two} needed the result of {one}, which it does not" for one, two in extra),
        *(
            f"it sounds as if {one} needed the result of {two}; it is the other way round"
            for one, two in reversed_pairs
        ),
    )


def _reason(last: Validation) -> str:
    problems = {
        "literal_problem": last.literal_problems,
        "goal_mismatch": last.goal_problems,
        "dependency_reversed": last.reversed,
        "subtask_not_asked_for": last.not_asked_for,
        "something_not_listed": last.not_listed,
        "dependency_missing": last.missing,
    }
    return next((reason for reason, found in problems.items() if found), "dependency_extra")


def _rejection(task: Task, reason: str, message: str, provenance: Provenance) -> Rejection:
    return Rejection(
        item_kind="task",
        item_id=task.task_id,
        stage=STAGE,
        reason=reason,
        message=message,
        provenance=provenance,
    )
