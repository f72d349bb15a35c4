"""How well the judge of instructions notices faults: some are spoilt, and its answers are kept."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations, product
from pathlib import PurePosixPath
from random import Random
from typing import get_args

from taskloom.model_clients.errors import CallFailedError
from taskloom.synthesis.ports import Models
from taskloom.synthesis.validation.validation import ValidationSettings, compare_orders, read_instruction
from taskloom.taskgraph.measures.acceptance_rates import JudgeReport
from taskloom.taskgraph.records.criticism import JudgeTrial, SpoilKind
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

_FEWEST_TRIALS = 10
"""Fewer spoilt instructions say nothing about a judge."""


def doubt_about(rates: JudgeReport | None, settings: ValidationSettings) -> str:
    """Why a judge is not good enough to publish its instructions; empty if it is, or if little is known."""
    if rates is None or rates.hits.of < _FEWEST_TRIALS:
        return ""
    if (rates.hits.share or 0.0) < settings.minimum_hits:
        return (
            f"The judge of instructions noticed {rates.hits} of the spoilt ones; validation.minimum_hits is"
            f" {settings.minimum_hits:.0%}. Choose another model for the role dependency_judge."
        )
    if (rates.false_alarms.share or 0.0) > settings.maximum_false_alarms:
        return (
            f"The judge of instructions refused {rates.false_alarms} of the first instructions;"
            f" validation.maximum_false_alarms is {settings.maximum_false_alarms:.0%}. Choose another model"
            " for the role dependency_judge or summarizer."
        )
    return ""


async def try_judge(
    task: Task,
    titles: Mapping[str, str],
    others: Sequence[Task],
    *,
    models: Models,
    attempt: int,
    provenance: Provenance,
) -> JudgeTrial | None:
    """Spoil the instruction of a validated task and have it judged; None if it cannot be spoilt.

    The judge is asked as for any other instruction; `attempt` continues the numbers of the task's own rounds.
    The check without a model is skipped, so the trial concerns the judge alone. Foreign subtasks and values
    are taken from `others`.

    Raises:
        ModelClientError: calls cannot go on at all.
    """
    random = Random(hashlib.sha256(f"spoil {task.task_id}".encode()).digest())
    kinds = list(SPOIL_KINDS)
    start = int(hashlib.sha256(task.task_id.encode()).hexdigest(), 16) % len(kinds)
    for kind in kinds[start:] + kinds[:start]:
        text = spoil(task.instruction, task, kind, others, random)
        if text is None:
            continue
        try:
            reading = await read_instruction(task, text, titles, models=models, attempt=attempt)
        except CallFailedError:
            return None
        comparison = compare_orders(reading.dependencies, task.graph.pairs)
        findings = (
            *(f"{len(pairs)} dependencies {name}" for name, pairs in comparison.differences.items() if pairs),
            *(f"{name} is not asked for" for name in reading.not_asked_for),
            *(f"“{words}” is not listed" for words in reading.not_listed),
        )
        return JudgeTrial(
            trial_id=f"{task.task_id}:{kind}",
            task_id=task.task_id,
            kind=kind,
            instruction=text,
            noticed=bool(findings),
            findings=findings,
            provenance=provenance,
        )
    return None


SPOIL_KINDS: tuple[SpoilKind, ...] = get_args(SpoilKind)
"""The five kinds."""

_QUOTATION = re.compile(r"“[^”]*”|`[^`]*`|(?<!\w)'[^'\n]*'(?!\w)|\"[^\"]*\"")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|(?<=[.?!]”)\s+(?=[A-Z])")
_CONJUNCTION = re.compile(r",? and (?:then |also )?|, then |; (?:then )?|, (?=[a-z]+ )")


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    sentence: int


def spoil(
    instruction: str, task: Task, kind: SpoilKind, others: Sequence[Task], random: Random
) -> str | None:
    """The instruction with one fault, using values and subtasks of `others`; None if none fits."""
    # These are generators; only the one for `kind` runs.
    methods: dict[SpoilKind, Iterator[str]] = {
        "left_out": _leave_out(instruction, task),
        "exchanged": _exchange(instruction, task),
        "value_changed": _change_value(instruction, task, others),
        "foreign_deed": _add_foreign_deed(instruction, task, others, random),
        "dependency_hidden": _hide_dependency(instruction, task),
    }
    found = [text for text in dict.fromkeys(methods[kind]) if text and text != instruction]
    return random.choice(found) if found else None


def _leave_out(instruction: str, task: Task) -> Iterator[str]:
    clauses = _clauses(instruction)
    for node in task.graph.nodes:
        own, foreign = _distinct_values(task, node)
        removed = [clause for clause in clauses if _contains_any(clause.text, own)]
        if own and removed and not any(_contains_any(clause.text, foreign) for clause in removed):
            yield _join([clause for clause in clauses if clause not in removed])


def _exchange(instruction: str, task: Task) -> Iterator[str]:
    pairs = (pair for pair in permutations(task.graph.nodes, 2) if pair[0].subtask_id < pair[1].subtask_id)
    for one, other in pairs:
        for first, second in product(_distinct_values(task, one)[0], _distinct_values(task, other)[0]):
            alike = ("/" in first) == ("/" in second) and first not in second and second not in first
            both_named = first in instruction and second in instruction
            if alike and both_named and not _are_equivalent(one, first, other, second):
                yield _swap(instruction, first, second)


def _are_equivalent(one: BoundSubtask, first: str, other: BoundSubtask, second: str) -> bool:
    """Whether both values are treated alike, such as attached to one page or moved into one folder under
    their names, so their order does not matter."""
    verbs = {(node.application, node.subtask_id.partition(".")[2].partition("_")[0]) for node in (one, other)}
    old, new = PurePosixPath(first).name, PurePosixPath(second).name
    values = {second if value == first else value.replace(old, new) for value in one.parameters.values()}
    same_parameters = values == {*other.parameters.values()}
    return (len(verbs) == 1 and same_parameters) or _have_equal_effects(one, first, other, second)


def _have_equal_effects(one: BoundSubtask, first: str, other: BoundSubtask, second: str) -> bool:
    """Whether both subtasks together still use and make the same things when each has the other's value, if
    these things contain all their parameters."""
    names = first.rpartition("/")[2], second.rpartition("/")[2]
    used = {(item.category, item.value) for node in (one, other) for item in (*node.inputs, *node.outputs)}
    complete = {*one.parameters.values(), *other.parameters.values()} <= {value for _, value in used}
    return all(names) and complete and used == {(kind, _swap(value, *names)) for kind, value in used}


def _swap(text: str, one: str, other: str) -> str:
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def _change_value(instruction: str, task: Task, others: Sequence[Task]) -> Iterator[str]:
    used = {value for node in task.graph.nodes for value in node.parameters.values()}
    foreign = [node.parameters for item in others for node in item.graph.nodes]
    for node in task.graph.nodes:
        for name, value in sorted(node.parameters.items()):
            values = (item[name] for item in foreign if name in item)
            new = next((item for item in values if item not in used and value not in item), None)
            if new is not None and len(value) > 1 and value in instruction:
                yield re.sub(rf"(?<![\w/]){re.escape(value)}(?![\w/])", new.replace("\\", r"\\"), instruction)


def _add_foreign_deed(instruction: str, task: Task, others: Sequence[Task], random: Random) -> Iterator[str]:
    known = {node.subtask_id for node in task.graph.nodes}
    nodes = [node for item in others for node in item.graph.nodes if node.subtask_id not in known]
    if nodes:
        node = random.choice(nodes)
        sentences = _sentences(instruction)
        for index in range(1, len(sentences) + 1):
            yield " ".join([*sentences[:index], node.instruction, *sentences[index:]])


def _hide_dependency(instruction: str, task: Task) -> Iterator[str]:
    clauses = _clauses(instruction)
    nodes = {node.instance_id: node for node in task.graph.nodes}
    for edge in task.graph.edges:
        own, foreign = _distinct_values(task, nodes[edge.consumer])
        moved = [
            clause
            for clause in clauses
            if _contains_any(clause.text, own)
            and not _contains_any(clause.text, foreign)
            and not (edge.resource.value and _contains_any(clause.text, [edge.resource.value]))
        ]
        producer_values, _ = _distinct_values(task, nodes[edge.producer])
        before = [clause for clause in clauses if _contains_any(clause.text, producer_values)]
        if len(moved) == 1 and before and clauses.index(before[0]) < clauses.index(moved[0]):
            yield _join([_Clause(moved[0].text, -1), *(clause for clause in clauses if clause != moved[0])])


def _distinct_values(task: Task, node: BoundSubtask) -> tuple[list[str], list[str]]:
    """Values that only this subtask has, and values that only others have."""
    own = set(node.parameters.values())
    others = {value for item in task.graph.nodes if item is not node for value in item.parameters.values()}
    return sorted(own - others), sorted(others - own)


def _contains_any(text: str, values: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\w/]){re.escape(value)}(?![\w/])", text) for value in values)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _clauses(text: str) -> list[_Clause]:
    """The clauses of a text; conjunctions inside quotations do not count."""
    clauses = []
    for number, sentence in enumerate(_sentences(text)):
        masked = _QUOTATION.sub(lambda match: "x" * len(match.group()), sentence)
        start = 0
        for match in _CONJUNCTION.finditer(masked):
            clauses.append(_Clause(sentence[start : match.start()], number))
            start = match.end()
        clauses.append(_Clause(sentence[start:], number))
    return [clause for clause in clauses if clause.text.strip(" .?!")]


def _join(clauses: Sequence[_Clause]) -> str:
    """Clauses as sentences again: clauses of one sentence stay together."""
    text = ""
    for _, together in groupby(clauses, key=lambda clause: clause.sentence):
        words = " and ".join(clause.text.strip(" ,").rstrip(".?!") for clause in together)
        text += f"{'. ' if text else ''}{words[:1].upper()}{words[1:]}"
    return f"{text}." if text else ""
