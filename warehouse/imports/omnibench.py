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
from taskgraph.reading.faults import json_kind
from taskgraph.records.evaluation_function import ENTRY_POINT, EvaluationFunction
from taskgraph.records.graph import Dependency
from taskgraph.records.subtask import BoundSubtask, Subtask, fill, instance_id, placeholders
from taskgraph.records.task import Task
from warehouse.errors import ImportRefusedError
from warehouse.exporting.application_aliases import canonical_application
from warehouse.exporting.file_names import id_of_name
from warehouse.exporting.paper_format import EVALUATION_HEADER, node_names, subtask_fields, task_fields
from warehouse.importing.import_fields import Fields, read_lines
from warehouse.importing.imported_tasks import IMPORTED, build_task, guessed_resource
from warehouse.importing.imported_trajectories import read_task_trajectory, read_trajectory
from warehouse.importing.items import BrokenItem, Item, checked, file_items, line_items
from warehouse.importing.json_reading import read_text

R = TypeVar("R", bound=Record)


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The records of a folder. What names a broken subtask or task is broken itself.

    Raises:
        ImportRefusedError: nothing is there, or `templates.jsonl` or `bindings.jsonl` is broken.
    """
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is no folder with subtasks and tasks")
    templates = _sidecar(path, "templates.jsonl", Subtask, lambda item: item.subtask_id)
    bindings = _sidecar(path, "bindings.jsonl", Task, lambda item: item.task_id)
    subtasks: dict[str, Subtask] = {}
    tasks: dict[str, Task] = {}

    def subtask(item: Item) -> Iterator[Record]:
        fields = _fields(item)
        read = _subtask(fields)
        whole = templates.get(read.subtask_id)
        if whole is not None and subtask_fields(whole) != dict(fields.values):
            raise fields.refused("", "says otherwise than templates.jsonl")
        if read.subtask_id not in subtasks:
            subtasks[read.subtask_id] = whole or read
        yield subtasks[read.subtask_id]

    def task(item: Item) -> Iterator[Record]:
        fields = _fields(item)
        task_id = _name(item)
        whole = bindings.get(task_id)
        if whole is not None and task_fields(whole) != dict(fields.values):
            raise fields.refused("", "says otherwise than bindings.jsonl")
        tasks[task_id] = whole or _task(task_id, fields, subtasks)
        yield tasks[task_id]

    def trajectory(item: Item) -> Iterator[Record]:
        yield read_trajectory(_fields(item), path, subtasks, f"trajectory-{_name(item)}")

    def task_trajectory(item: Item) -> Iterator[Record]:
        yield from read_task_trajectory(_fields(item), path, tasks, _by_name)

    yield from checked(_items(path, "subtasks"), subtask, lambda item: _fields(item).text("id"), "subtask")
    yield from checked(_items(path, "trajectories"), trajectory, _name, "trajectory")
    yield from _functions(path, subtasks)
    yield from checked(_items(path, "tasks"), task, _name)
    yield from checked(_items(path, "task_trajectories"), task_trajectory, _name, "trajectory")


def _items(root: Path, kind: str) -> Iterator[Item | BrokenItem]:
    """The items of a kind: files of a folder, or entries of a list."""
    if (root / f"{kind}.json").is_file():
        yield from line_items(root / f"{kind}.json", f"{kind}.json")
    elif (root / kind).is_dir():
        yield from file_items((file, f"{kind}/{file.name}") for file in sorted((root / kind).glob("*.json")))


def _name(item: Item) -> str:
    """Id by the name of the file; entries of a list are numbered."""
    return item.place.strip("[]") if item.place else id_of_name(Path(item.file).stem)


def _fields(item: Item) -> Fields:
    if not isinstance(item.value, dict):
        raise item.refused("", f"must be an object, not {json_kind(item.value)}")
    return Fields(item.value, item.file, item.place)


def _subtask(fields: Fields) -> Subtask:
    template = fields.text("instruction_template")
    sets: list[dict[str, str]] = []
    for item in fields.each("available_parameters"):
        values: dict[str, str] = {}
        for name, value in item.values.items():
            if not isinstance(value, str):
                raise item.refused(name, f"must be text, not {json_kind(value)}")
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


def _functions(root: Path, subtasks: dict[str, Subtask]) -> Iterator[Record | BrokenItem]:
    for file in sorted((root / "evaluations").glob("*.py")) if (root / "evaluations").is_dir() else []:
        shown = f"evaluations/{file.name}"
        try:
            yield _function(file, shown, subtasks)
        except ImportRefusedError as error:
            yield BrokenItem(shown, "evaluation_function", shown, error.faults, error.code, None)


def _function(file: Path, shown: str, subtasks: dict[str, Subtask]) -> EvaluationFunction:
    subtask_id = id_of_name(file.stem)
    if subtask_id not in subtasks:
        raise ImportRefusedError(shown, "file name", f"names the subtask {subtask_id!r}, which is not there")
    source = read_text(file, shown).removeprefix(EVALUATION_HEADER)
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise ImportRefusedError(shown, "", f"is no Python: {error}") from None
    entry = next(
        (item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT),
        None,
    )
    if entry is None:
        raise ImportRefusedError(shown, "", f"does not define {ENTRY_POINT}")
    return EvaluationFunction(
        function_id=f"{subtask_id}:{hashlib.sha256(source.encode()).hexdigest()[:12]}",
        subtask_id=subtask_id,
        source=source,
        parameter_names=tuple(argument.arg for argument in entry.args.args),
        provenance=IMPORTED,
    )


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
