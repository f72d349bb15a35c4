"""What the judge of instructions notices: spoilt ones are put among the others, and its answers are kept."""

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
"""Fewer spoilt instructions say nothing of a judge."""


def doubt_about(rates: JudgeReport | None, settings: ValidationSettings) -> str:
    """Why a judge is not good enough to publish its instructions; empty if it is, or little is known."""
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
    """Spoil the instruction of a validated task and have it judged; None where it cannot be spoilt.

    The judge is asked as for any other instruction, with the number `attempt` beyond those of the task's own
    rounds. The check without a model is left out, so the trial is the judge's alone. Foreign deeds and values
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
class _Piece:
    text: str
    sentence: int


def spoil(
    instruction: str, task: Task, kind: SpoilKind, others: Sequence[Task], random: Random
) -> str | None:
    """The instruction with one fault, with values and subtasks of `others`; None if there is no place."""
    # These are generators, of which only the one that is asked for runs.
    ways: dict[SpoilKind, Iterator[str]] = {
        "left_out": _left_out(instruction, task),
        "exchanged": _exchanged(instruction, task),
        "value_changed": _value_changed(instruction, task, others),
        "foreign_deed": _foreign_deed(instruction, task, others, random),
        "dependency_hidden": _dependency_hidden(instruction, task),
    }
    found = [text for text in dict.fromkeys(ways[kind]) if text and text != instruction]
    return random.choice(found) if found else None


def _left_out(instruction: str, task: Task) -> Iterator[str]:
    pieces = _pieces(instruction)
    for node in task.graph.nodes:
        own, foreign = _private(task, node)
        gone = [piece for piece in pieces if _holds(piece.text, own)]
        if own and gone and not any(_holds(piece.text, foreign) for piece in gone):
            yield _joined([piece for piece in pieces if piece not in gone])


def _exchanged(instruction: str, task: Task) -> Iterator[str]:
    pairs = (pair for pair in permutations(task.graph.nodes, 2) if pair[0].subtask_id < pair[1].subtask_id)
    for one, other in pairs:
        for first, second in product(_private(task, one)[0], _private(task, other)[0]):
            alike = ("/" in first) == ("/" in second) and first not in second and second not in first
            told = first in instruction and second in instruction
            if alike and told and not _says_the_same(one, first, other, second):
                yield _swapped(instruction, first, second)


def _says_the_same(one: BoundSubtask, first: str, other: BoundSubtask, second: str) -> bool:
    """Whether the same is asked of both values, such as to attach them to one page or to move them into one
    folder under their names, so that it does not matter which is named first."""
    deeds = {(node.application, node.subtask_id.partition(".")[2].partition("_")[0]) for node in (one, other)}
    old, new = PurePosixPath(first).name, PurePosixPath(second).name
    others = {second if value == first else value.replace(old, new) for value in one.parameters.values()}
    alike = others == {*other.parameters.values()}
    return (len(deeds) == 1 and alike) or _brings_about_the_same(one, first, other, second)


def _brings_about_the_same(one: BoundSubtask, first: str, other: BoundSubtask, second: str) -> bool:
    """Whether both subtasks together still take and make the same when each does the other's value, where
    what they take and make says all that they are told."""
    names = first.rpartition("/")[2], second.rpartition("/")[2]
    touched = {(item.category, item.value) for node in (one, other) for item in (*node.inputs, *node.outputs)}
    told = {*one.parameters.values(), *other.parameters.values()} <= {value for _, value in touched}
    return all(names) and told and touched == {(kind, _swapped(value, *names)) for kind, value in touched}


def _swapped(text: str, one: str, other: str) -> str:
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def _value_changed(instruction: str, task: Task, others: Sequence[Task]) -> Iterator[str]:
    used = {value for node in task.graph.nodes for value in node.parameters.values()}
    foreign = [node.parameters for item in others for node in item.graph.nodes]
    for node in task.graph.nodes:
        for name, value in sorted(node.parameters.items()):
            values = (item[name] for item in foreign if name in item)
            new = next((item for item in values if item not in used and value not in item), None)
            if new is not None and len(value) > 1 and value in instruction:
                yield re.sub(rf"(?<![\w/]){re.escape(value)}(?![\w/])", new.replace("\\", r"\\"), instruction)


def _foreign_deed(instruction: str, task: Task, others: Sequence[Task], random: Random) -> Iterator[str]:
    known = {node.subtask_id for node in task.graph.nodes}
    nodes = [node for item in others for node in item.graph.nodes if node.subtask_id not in known]
    if nodes:
        node = random.choice(nodes)
        sentences = _sentences(instruction)
        for place in range(1, len(sentences) + 1):
            yield " ".join([*sentences[:place], node.instruction, *sentences[place:]])


def _dependency_hidden(instruction: str, task: Task) -> Iterator[str]:
    pieces = _pieces(instruction)
    nodes = {node.instance_id: node for node in task.graph.nodes}
    for edge in task.graph.edges:
        own, foreign = _private(task, nodes[edge.consumer])
        moved = [
            piece
            for piece in pieces
            if _holds(piece.text, own)
            and not _holds(piece.text, foreign)
            and not (edge.resource.value and _holds(piece.text, [edge.resource.value]))
        ]
        before = [piece for piece in pieces if _holds(piece.text, _private(task, nodes[edge.producer])[0])]
        if len(moved) == 1 and before and pieces.index(before[0]) < pieces.index(moved[0]):
            yield _joined([_Piece(moved[0].text, -1), *(piece for piece in pieces if piece != moved[0])])


def _private(task: Task, node: BoundSubtask) -> tuple[list[str], list[str]]:
    """Values that only this subtask has, and values that only others have."""
    own = set(node.parameters.values())
    others = {value for item in task.graph.nodes if item is not node for value in item.parameters.values()}
    return sorted(own - others), sorted(others - own)


def _holds(text: str, values: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\w/]){re.escape(value)}(?![\w/])", text) for value in values)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _pieces(text: str) -> list[_Piece]:
    """The clauses of a text; conjunctions inside of quotations do not count."""
    found = []
    for number, sentence in enumerate(_sentences(text)):
        covered = _QUOTATION.sub(lambda match: "x" * len(match.group()), sentence)
        start = 0
        for match in _CONJUNCTION.finditer(covered):
            found.append(_Piece(sentence[start : match.start()], number))
            start = match.end()
        found.append(_Piece(sentence[start:], number))
    return [piece for piece in found if piece.text.strip(" .?!")]


def _joined(pieces: Sequence[_Piece]) -> str:
    """Clauses as sentences again: those that stood together stay together."""
    text = ""
    for _, together in groupby(pieces, key=lambda piece: piece.sentence):
        words = " and ".join(piece.text.strip(" ,").rstrip(".?!") for piece in together)
        text += f"{'. ' if text else ''}{words[:1].upper()}{words[1:]}"
    return f"{text}." if text else ""
