"""Looks for faults in tasks: ours, or other people's. Every finding names place, field and severity."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Final, Literal

import numpy as np

from taskloom.resources.record import Record
from taskloom.taskgraph.measures.symmetry import key_of
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.errors import GOAL_NOT_WRITTEN
from taskloom.warehouse.exporting import osworld
from taskloom.warehouse.importing.importing import ImportReading
from taskloom.warehouse.importing.value_mentions import mention_of, unsaid_files, unsaid_sheets
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.sets.wording import resembled, wordings_of
from taskloom.warehouse.store import Warehouse

Severity = Literal["error", "warning", "note"]
"""How bad a finding is: an `error` makes a task unsolvable or ungradable, a `warning` doubtful, a `note` is
unusual."""
_PLACEHOLDER: Final = re.compile(r"\{[a-z][a-z0-9_]*\}|<[a-z]+_[a-z_]+>|\$\{[^}]+\}")
_METRICS: Final = frozenset(files(osworld).joinpath("metrics.txt").read_text("utf-8").split())
"""Metrics that OSWorld exports."""
_GRADED_BY_VALUES: Final = ("crab", "omnibench")
"""Formats whose parameters are what an outcome is compared with; those of others merely describe."""


class Finding(Record):
    """One fault."""

    file: str
    """The file, or the table for tasks made here."""
    item_id: str
    """The task."""
    field: str
    """The field."""
    severity: Severity
    """How bad it is."""
    check: str
    """Short code, for grouping."""
    message: str
    """What is wrong."""


def audit_warehouse(warehouse: Warehouse, where: str = "") -> list[Finding]:
    """Findings in the stored tasks that match `where`, and in items rejected at import."""
    return audit(
        warehouse.read(Task, where),
        warehouse.read(Subtask),
        warehouse.read(ImportedItem),
        warehouse.read(Rejection, "stage = 'import'"),
    )


def audit_reading(reading: ImportReading) -> list[Finding]:
    """Findings in a collection that is not stored: the faults of its broken items, and those found in the
    others."""
    broken = [
        _finding(fault.file, item.item_id, fault.field, _severity(item.code), item.code, fault.reason)
        for item in reading.broken
        for fault in item.faults
    ]
    return sorted([*broken, *audit_records(reading.records)], key=_place)


def audit_records(records: Iterable[Record]) -> list[Finding]:
    """Findings in records that are not stored."""
    kept = list(records)
    return audit(
        (item for item in kept if isinstance(item, Task)),
        (item for item in kept if isinstance(item, Subtask)),
        (item for item in kept if isinstance(item, ImportedItem)),
        (item for item in kept if isinstance(item, Rejection) and item.stage == "import"),
    )


def audit(
    tasks: Iterable[Task],
    subtasks: Iterable[Subtask],
    originals: Iterable[ImportedItem],
    rejections: Iterable[Rejection],
) -> list[Finding]:
    """All findings, by place."""
    places = {item.item_id: item for item in originals}
    values = _known_values(subtasks)
    findings: list[Finding] = []
    instructions: dict[str, list[str]] = defaultdict(list)
    graphs: dict[str, list[str]] = defaultdict(list)
    found_in: dict[str, str] = {}
    for task in tasks:
        original = places.get(task.task_id)
        found_in[task.task_id] = original.place if original else "tasks"
        instructions[fold_text(task.instruction)].append(task.task_id)
        if len(task.graph.nodes) > 1:
            graphs[str(key_of(task.graph))].append(task.task_id)
        for problem in (*_in_task(task, values, original), *_in_original(original)):
            findings.append(_finding(found_in[task.task_id], task.task_id, *problem))
    findings.extend(_near_duplicates(instructions, found_in))
    for field, groups in (("instruction", instructions), ("graph", graphs)):
        for text, members in groups.items():
            for item in members[1:] if text else ():
                said = f"the same {field} as {members[0]}"
                findings.append(_finding(found_in[item], item, field, "warning", f"duplicate_{field}", said))
    findings.extend(
        _finding(
            item.details.get("place", ""),
            item.item_id,
            "",
            "note" if item.item_kind == "trajectory" else _severity(item.reason),
            item.reason,
            item.message,
        )
        for item in rejections
    )
    return sorted(findings, key=_place)


def _near_duplicates(instructions: Mapping[str, list[str]], found_in: Mapping[str, str]) -> Iterator[Finding]:
    """Instructions that share at least half of their wording with a different one."""
    items = [members[0] for text, members in instructions.items() if text]
    everything = np.arange(len(items))
    wordings = wordings_of([text for text in instructions if text])
    for item, other in zip(items, resembled(wordings, everything, everything, not_itself=True), strict=True):
        if other >= 0:
            said = f"at least half of its wording is that of {items[other]}"
            yield _finding(found_in[item], item, "instruction", "note", "near_duplicate_instruction", said)


def _finding(file: str, item_id: str, field: str, severity: Severity, check: str, message: str) -> Finding:
    return Finding(file=file, item_id=item_id, field=field, severity=severity, check=check, message=message)


def _severity(code: str) -> Severity:
    return "note" if code == GOAL_NOT_WRITTEN else "error"


def _place(found: Finding) -> tuple[str, ...]:
    return (found.file, found.item_id, found.field, found.check, found.message)


Problem = tuple[str, Severity, str, str]


def _in_task(
    task: Task, values: Mapping[tuple[str, str], frozenset[str]], original: ImportedItem | None
) -> Iterator[Problem]:
    folded = fold_text(task.instruction)
    if not folded:
        yield "instruction", "error", "empty_instruction", "there is no instruction"
        return
    yield from _placeholders(task, original)
    graded = original is None or original.format in _GRADED_BY_VALUES
    for node in task.graph.nodes:
        made = _made_before(task, node.instance_id)
        for name, value in node.parameters.items():
            if "<node-" in value or fold_text(value) in made:
                continue
            field = f"{node.subtask_id}.{name}"
            found, near = mention_of(value, task.instruction)
            others = values.get((node.subtask_id, name), frozenset()) - {value}
            other = next(
                (item for item in sorted(others) if fold_text(item) and fold_text(item) in folded), None
            )
            if found == "said":
                continue
            severity: Severity = "error" if graded else "note"
            if other is not None or found == "contradicted":
                said = near if other is None else other
                reason = f"the graph says {value!r}, the instruction {said!r}"
                yield field, severity, "contradicted_value", reason
            elif found == "misspelt":
                yield (
                    field,
                    "warning",
                    "misspelt_value",
                    f"the graph says {value!r}, the instruction {near!r}",
                )
            elif None in made:
                yield (
                    field,
                    "note",
                    "unmentioned_value",
                    f"only an earlier subtask, whose outcome is not described, can give {value!r}",
                )
            else:
                yield (
                    field,
                    severity,
                    "hidden_value",
                    f"neither the instruction nor an earlier subtask gives {value!r}, which is expected",
                )
    if task.complexity.components > 1:
        message = (
            f"the graph falls into {task.complexity.components} parts that have nothing to do with each other"
        )
        yield "graph", "note", "disconnected", message
    if task.order_count and not task.successful_order_count:
        yield "graph", "error", "no_successful_order", "no order of the subtasks can succeed"


def _placeholders(task: Task, original: ImportedItem | None) -> Iterator[Problem]:
    """An error where the task has the value that was not filled in; else the instruction may ask for such a
    pattern."""
    given = {name for node in task.graph.nodes for name in node.parameters}
    for match in dict.fromkeys(_PLACEHOLDER.findall(task.instruction)):
        name = match.strip("${}<>")
        if original is None or name in given:
            yield "instruction", "error", "placeholder", f"the placeholder {match} was never filled in"
        else:
            yield "instruction", "note", "pattern", f"{match} is a pattern, or a placeholder not filled in"


def _in_original(original: ImportedItem | None) -> Iterator[Problem]:
    if original is None or original.format != "osworld" or not isinstance(original.content, dict):
        return
    content = original.content
    if not content.get("config") and not original.infeasible:
        yield "config", "warning", "missing_config", "nothing sets the initial state up"
    if not content.get("related_apps"):
        yield "related_apps", "warning", "missing_applications", "no application is named"
    for sheet in unsaid_sheets(content):
        message = f"the evaluator looks for a sheet {sheet!r}, which the instruction never names"
        yield "instruction", "warning", "unsaid_sheet", message
    for path in unsaid_files(content):
        message = f"the evaluator reads {path!r}, a name that the instruction never says"
        yield "instruction", "note", "unsaid_file", message
    evaluator = content.get("evaluator")
    func = evaluator.get("func") if isinstance(evaluator, dict) else None
    for name in func if isinstance(func, list) else [func]:
        if name not in _METRICS:
            yield "evaluator.func", "error", "unknown_metric", f"{name!r} is not a metric of OSWorld"
    if isinstance(evaluator, dict) and func != "infeasible" and not evaluator.get("result"):
        yield "evaluator.result", "warning", "missing_result", "the metric is given nothing to judge"


def _known_values(subtasks: Iterable[Subtask]) -> dict[tuple[str, str], frozenset[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for subtask in subtasks:
        for parameters in subtask.available_parameters:
            for name, value in parameters.items():
                found[subtask.subtask_id, name].add(value)
    return {key: frozenset(values) for key, values in found.items()}


def _made_before(task: Task, instance: str) -> set[str | None]:
    """What the subtasks before one make, folded; contains None if one of them does not say what it makes."""
    makers = {edge.producer for edge in task.graph.edges if edge.consumer == instance}
    waiting = list(makers)
    while waiting:
        name = waiting.pop()
        further = {edge.producer for edge in task.graph.edges if edge.consumer == name} - makers
        makers |= further
        waiting += further
    found: set[str | None] = set()
    for node in task.graph.nodes:
        if node.instance_id in makers:
            made = {fold_text(item.value) for item in node.outputs if item.value}
            found |= made or {None}
    return found
