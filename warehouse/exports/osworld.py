"""OSWorld: `examples/<domain>/<id>.json` per task, and `test_all.json` with the names of every domain's
files.

Where sets were asked for, `test_train.json`, `test_validation.json` and `test_test.json` list each, as
OSWorld's `--test_all_meta_path` reads them.

A task whose evaluation functions can be said with OSWorld's getters and metrics goes out so, and needs
nothing on the machine. One that files alone can judge goes out with `taskloom judge` as its evaluator, and
needs taskloom there. The others are refused with both reasons. Tasks that were imported from OSWorld go out
as they came in.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import networkx

from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError, InexpressibleError
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.judging.judging_sheets import applications_of, sheet_of
from taskloom.warehouse.exporting.osworld.conditions import Condition, conditions_of
from taskloom.warehouse.exporting.osworld.judging import copy_of_home, judged_evaluator
from taskloom.warehouse.exporting.osworld.setup import HOME, setup
from taskloom.warehouse.exporting.record_files import write_json

_NAMESPACE = uuid.UUID("6f7c2f0c-2f5f-5d3e-9a55-0d7c2a6f1b11")

REFUSES_TASKS = True
"""Whether tasks that it cannot write are refused by their ids."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write every task that OSWorld's format can say, and one list of them by domain; the others are refused,
    each with the reason.

    Raises:
        ExportRefusedError: it can say none of them.
    """
    listed: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    refused: list[Refused] = []
    judged = 0
    for task, original in source.with_originals():
        if original is not None and original.format == "osworld" and isinstance(original.content, dict):
            domain, stem = PurePosixPath(original.place).parent.as_posix(), PurePosixPath(original.place).stem
            fields: dict[str, object] = {**original.content}
        else:
            try:
                domain, fields = _domain(task), _fields(task, source)
                stem = str(fields["id"])
            except InexpressibleError as error:
                refused.append(Refused(item_id=task.task_id, reason=str(error)))
                continue
        judged += "taskloom judge" in str(fields["evaluator"]) if original is None else 0
        write_json(folder / "examples" / domain / f"{stem}.json", fields)
        listed[source.split_of(task.task_id)][domain].append(stem)
    if not listed:
        raise ExportRefusedError(
            f"OSWorld can express none of the {len(refused)} selected tasks; the first: {refused[0].item_id}:"
            f" {refused[0].reason}."
        )
    everything: dict[str, list[str]] = defaultdict(list)
    for name, domains in listed.items():
        for domain, stems in domains.items():
            everything[domain] += stems
        if source.splits:
            write_json(folder / f"test_{name}.json", _sorted(domains))
    write_json(folder / "test_all.json", _sorted(everything))
    return ExportOutcome(
        counts={"tasks": sum(len(stems) for stems in everything.values())},
        refused=tuple(refused),
        notes=(
            (
                "Own tasks assume a machine image on which each application is installed under"
                f" {HOME}/applications."
            ),
            *(
                [f"{judged} of them are judged by `taskloom judge`, which the image must have."]
                if judged
                else []
            ),
        ),
    )


def _sorted(domains: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {domain: sorted(stems) for domain, stems in sorted(domains.items())}


def _fields(task: Task, source: ExportSource) -> dict[str, object]:
    used = applications_of(task, source)
    names = [application.name for application in used]
    try:
        evaluator, config = _evaluator(_conditions(task, source)), setup(used)
    except InexpressibleError as error:
        try:
            evaluator = judged_evaluator(sheet_of(task, source))
        except InexpressibleError as reason:
            raise InexpressibleError(f"{error}; nor can files alone judge it: {reason}") from None
        config = setup(used, [copy_of_home()])
    return {
        "id": str(uuid.uuid5(_NAMESPACE, task.task_id)),
        "snapshot": names[0],
        "instruction": task.instruction,
        "source": f"taskloom:{task.task_id}",
        "config": config,
        "trajectory": "trajectories/",
        "related_apps": names,
        "evaluator": evaluator,
        "proxy": False,
        "fixed_ip": False,
        "possibility_of_env_change": "low",
    }


def _evaluator(conditions: Sequence[Condition]) -> Mapping[str, object]:
    single = len(conditions) == 1
    return {
        "func": conditions[0].func if single else [item.func for item in conditions],
        **({} if single else {"conj": "and"}),
        "result": conditions[0].result if single else [item.result for item in conditions],
        "expected": conditions[0].expected if single else [item.expected for item in conditions],
        "options": {} if single else [{} for _ in conditions],
    }


def _conditions(task: Task, source: ExportSource) -> list[Condition]:
    """The conditions of all nodes, none of which is undone by a node that can come later."""
    found: list[Condition] = []
    graph = task.graph.to_networkx()
    for node in task.graph.nodes:
        before = networkx.ancestors(graph, node.instance_id)
        function = source.functions.get(node.subtask_id)
        if function is None:
            raise InexpressibleError(f"{node.subtask_id} has no evaluation function")
        own = conditions_of(function.source, node.parameters)
        for other in task.graph.nodes:
            if other.instance_id not in (node.instance_id, *before) and _undoes(other, node, own):
                raise InexpressibleError(
                    f"{node.subtask_id} is volatile: {other.subtask_id} changes what it leaves behind, and"
                    " OSWorld looks only at the end"
                )
        found += [condition for condition in own if condition not in found]
    return found


def _undoes(other: BoundSubtask, node: BoundSubtask, conditions: list[Condition]) -> bool:
    """Whether `other` takes away, overwrites or brings back what `node`'s conditions look at."""
    if set(other.consumed) & set(node.outputs):
        return True
    taken = {item.value for item in other.consumed}
    made = {item.value for item in other.outputs}
    return any(
        condition.path in made if condition.wants == "absent" else condition.path in taken
        for condition in conditions
    ) or any(condition.wants == "content" and condition.path in made for condition in conditions)


def _domain(task: Task) -> str:
    names = {node.application for node in task.graph.nodes}
    return next(iter(names)) if len(names) == 1 else "multi_apps"
