"""The paper's formats (App. C), as the export of the same name lays them out.

`subtasks`, `trajectories`, `tasks` and `task_trajectories` are folders with one JSON file per item, or files with a
list; `evaluations/<subtask>.py` holds the functions. Where `templates.jsonl` and `bindings.jsonl` stand beside them,
parameters and resources come from there, and must agree with the paper's files. Without them, a node takes the first
parameter set whose values all stand in the instruction, and an edge the first resource category that its producer
writes and its consumer reads.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from resources.applications import ResourceDeclaration
from resources.instances import Resource
from resources.record import Record
from taskgraph.errors import ParameterInvalidError
from taskgraph.records.evaluation_function import ENTRY_POINT, EvaluationFunction
from taskgraph.records.graph import Dependency
from taskgraph.records.subtask import BoundSubtask, Subtask, fill, instance_id, placeholders
from taskgraph.records.task import Task
from warehouse.errors import ImportRefusedError
from warehouse.exporting.application_aliases import canonical_application
from warehouse.exporting.file_names import id_of_name
from warehouse.exporting.paper_format import EVALUATION_HEADER, node_names, subtask_fields, task_fields
from warehouse.importing.import_fields import Fields, kind_of, read_json, read_lines, read_object
from warehouse.importing.imported_tasks import IMPORTED, build_task, guessed_resource
from warehouse.importing.imported_trajectories import read_task_trajectory, read_trajectory

R = TypeVar("R", bound=Record)


def read(path: Path) -> Iterator[Record]:
    """The records of a folder.

    Raises:
        ImportRefusedError: a file that breaks the format; nothing may be stored.
    """
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is no folder with subtasks and tasks")
    subtasks = _subtasks(path)
    yield from subtasks.values()
    for name, fields in _each(path, "trajectories"):
        yield read_trajectory(fields, path, subtasks, f"trajectory-{name}")
    yield from _functions(path, subtasks)
    tasks = _tasks(path, subtasks)
    yield from tasks.values()
    for _, fields in _each(path, "task_trajectories"):
        yield from read_task_trajectory(fields, path, tasks, _by_name)


def _each(root: Path, kind: str) -> Iterator[tuple[str, Fields]]:
    """The items of a kind with their ids by file name; list entries are numbered."""
    if (root / f"{kind}.json").is_file():
        shown = f"{kind}.json"
        value = read_json(root / shown, shown)
        if not isinstance(value, list):
            raise ImportRefusedError(shown, "", f"must hold a list, not {kind_of(value)}")
        for position, item in enumerate(value):
            if not isinstance(item, dict):
                raise ImportRefusedError(shown, f"[{position}]", f"must be an object, not {kind_of(item)}")
            yield str(position), Fields(item, shown, f"[{position}]")
        return
    if (root / kind).is_dir():
        for file in sorted((root / kind).glob("*.json")):
            yield id_of_name(file.stem), read_object(file, f"{kind}/{file.name}")


def _subtasks(root: Path) -> dict[str, Subtask]:
    known = _sidecar(root, "templates.jsonl", Subtask, lambda item: item.subtask_id)
    found: dict[str, Subtask] = {}
    for _, fields in _each(root, "subtasks"):
        subtask = _subtask(fields)
        if subtask.subtask_id in found:
            raise fields.refused("id", "stands twice")
        whole = known.get(subtask.subtask_id)
        if whole is not None and subtask_fields(whole) != dict(fields.values):
            raise fields.refused("", "says otherwise than templates.jsonl")
        found[subtask.subtask_id] = whole or subtask
    return found


def _subtask(fields: Fields) -> Subtask:
    template = fields.text("instruction_template")
    sets: list[dict[str, str]] = []
    for item in fields.each("available_parameters"):
        values: dict[str, str] = {}
        for name, value in item.values.items():
            if not isinstance(value, str):
                raise item.refused(name, f"must be text, not {kind_of(value)}")
            values[name] = value
        missing = [name for name in placeholders(template) if name not in values]
        if missing:
            raise item.refused(missing[0], "is missing, but instruction_template needs it")
        sets.append(values)
    application, category = canonical_application(fields.text("application"))
    names = set(placeholders(template))
    return Subtask(
        subtask_id=fields.text("id"),
        application=fields.text("application"),
        application_category=category,
        operating_system=fields.text("OS"),
        platform=f"imported:{application}",
        instruction_template=template,
        available_parameters=tuple(sets),
        inputs=_declared(fields.texts("input_resources"), names),
        outputs=_declared(fields.texts("output_resources"), names),
        origin="imported",
        provenance=IMPORTED,
    )


def _declared(categories: list[str], names: set[str]) -> tuple[ResourceDeclaration, ...]:
    return tuple(
        ResourceDeclaration(category=category, parameter=category if category in names else "")
        for category in categories
    )


def _functions(root: Path, subtasks: dict[str, Subtask]) -> Iterator[EvaluationFunction]:
    for file in sorted((root / "evaluations").glob("*.py")) if (root / "evaluations").is_dir() else []:
        shown = f"evaluations/{file.name}"
        subtask_id = id_of_name(file.stem)
        if subtask_id not in subtasks:
            raise ImportRefusedError(
                shown, "file name", f"names the subtask {subtask_id!r}, which is not there"
            )
        try:
            source = file.read_text(encoding="utf-8").removeprefix(EVALUATION_HEADER)
            module = ast.parse(source)
        except (SyntaxError, ValueError, OSError) as error:
            raise ImportRefusedError(shown, "", f"is no Python: {error}") from None
        entry = next(
            (item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT),
            None,
        )
        if entry is None:
            raise ImportRefusedError(shown, "", f"does not define {ENTRY_POINT}")
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        yield EvaluationFunction(
            function_id=f"{subtask_id}:{digest}",
            subtask_id=subtask_id,
            source=source,
            parameter_names=tuple(argument.arg for argument in entry.args.args),
            provenance=IMPORTED,
        )


def _tasks(root: Path, subtasks: dict[str, Subtask]) -> dict[str, Task]:
    known = _sidecar(root, "bindings.jsonl", Task, lambda item: item.task_id)
    found: dict[str, Task] = {}
    for task_id, fields in _each(root, "tasks"):
        whole = known.get(task_id)
        if whole is not None and task_fields(whole) != dict(fields.values):
            raise fields.refused("", "says otherwise than bindings.jsonl")
        found[task_id] = whole or _task(task_id, fields, subtasks)
    return found


def _task(task_id: str, fields: Fields, subtasks: dict[str, Subtask]) -> Task:
    instruction = fields.text("task_instruction", empty=True)
    dag = fields.fields("dag")
    names = dag.texts("nodes")
    if len(set(names)) != len(names):
        raise dag.refused("nodes", "name a subtask twice")
    nodes: dict[str, BoundSubtask] = {}
    for position, name in enumerate(names):
        if name not in subtasks:
            raise dag.refused(f"nodes[{position}]", f"names the subtask {name!r}, which is not there")
        nodes[name] = _bound(subtasks[name], instruction)
    edges: list[Dependency] = []
    adjacency = dag.fields("edges")
    for name in adjacency.values:
        if name not in nodes:
            raise adjacency.refused(name, "is no node")
        for consumer in adjacency.texts(name):
            if consumer not in nodes:
                raise adjacency.refused(name, f"names {consumer!r}, which is no node")
            edges.append(
                Dependency(
                    producer=nodes[name].instance_id,
                    consumer=nodes[consumer].instance_id,
                    resource=_flowing(nodes[name], nodes[consumer]),
                )
            )
    for position, order in enumerate(fields.items("successful_topo")):
        if not isinstance(order, list) or sorted(map(str, order)) != sorted(names):
            raise fields.refused(f"successful_topo[{position}]", "is no order of the nodes")
    task = build_task(
        task_id,
        list(nodes.values()),
        edges,
        instruction,
        lambda reason: dag.refused("edges", reason),
        intent=fields.text("task_intent", empty=True),
    )
    instances = {name: node.instance_id for name, node in nodes.items()}
    listed = tuple(
        tuple(instances[str(name)] for name in order)
        for order in fields.items("successful_topo")
        if isinstance(order, list)
    )
    return task.model_copy(update={"successful_orders": listed, "successful_order_count": len(listed)})


def _bound(subtask: Subtask, instruction: str) -> BoundSubtask:
    sets = subtask.available_parameters or ({},)
    parameters = next(
        (item for item in sets if all(value in instruction for value in item.values())), sets[0]
    )
    try:
        text = fill(subtask.instruction_template, parameters)
    except ParameterInvalidError:
        text = subtask.instruction_template

    def resources(declared: tuple[ResourceDeclaration, ...]) -> tuple[Resource, ...]:
        return tuple(
            guessed_resource(item.category, subtask.application, parameters.get(item.parameter, ""))
            for item in declared
        )

    return BoundSubtask(
        instance_id=instance_id(subtask.subtask_id, parameters),
        subtask_id=subtask.subtask_id,
        application=subtask.application,
        application_category=subtask.application_category,
        instruction=text,
        parameters=parameters,
        inputs=resources(subtask.inputs),
        outputs=resources(subtask.outputs),
    )


def _flowing(producer: BoundSubtask, consumer: BoundSubtask) -> Resource:
    for written in producer.outputs:
        for item in consumer.inputs:
            if item.category == written.category:
                return written
    return (
        producer.outputs[0] if producer.outputs else guessed_resource("completion", producer.application, "")
    )


def _by_name(task: Task) -> dict[str, str]:
    return {name: instance for instance, name in node_names(task).items()}


def _sidecar(root: Path, name: str, record: type[R], key: Callable[[R], str]) -> dict[str, R]:
    found: dict[str, R] = {}
    if (root / name).is_file():
        for _, fields in read_lines(root / name, name):
            try:
                item = record.model_validate(dict(fields.values))
            except ValidationError as error:
                first = error.errors()[0]
                raise fields.refused(".".join(str(part) for part in first["loc"]), first["msg"]) from None
            found[key(item)] = item
    return found
