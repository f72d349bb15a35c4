"""The paper's formats (App. C), as the export of the same name lays them out.

`subtasks`, `trajectories`, `tasks` and `task_trajectories` are folders with one JSON file per item, or files
with a list; `evaluations/<subtask>.py` holds the functions. Where `templates.jsonl` and `bindings.jsonl`
stand beside them, parameters and resources come from there, and must agree with the paper's files. Without
them, a node takes the first parameter set whose values all stand in the instruction, and an edge the first
resource category that its producer writes and its consumer reads.
"""

import ast
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.instances import Resource
from taskloom.resources.record import Record
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, EvaluationFunction
from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, fill, instance_id, placeholders
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exports.omnibench import (
    EVALUATION_HEADER,
    subtask_fields,
    task_fields,
)
from taskloom.warehouse.importing.imported_tasks import (
    IMPORTED,
    build_task,
    canonical_application,
    guessed_resource,
)
from taskloom.warehouse.importing.imported_trajectories import (
    parameters_in,
    read_task_trajectory,
    read_trajectory,
)
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Items,
    Records,
    Text,
    checked,
    items_of,
)
from taskloom.warehouse.importing.json_reading import read_text

R = TypeVar("R", bound=Record)


class _Subtask(ForeignModel):
    id: Text
    instruction_template: Text
    application: Text
    available_parameters: list[dict[str, str]]
    OS: Text
    input_resources: list[str]
    output_resources: list[str]


class _Graph(ForeignModel):
    nodes: list[str]
    edges: dict[str, list[str]]


class _Task(ForeignModel):
    task_instruction: str
    dag: _Graph
    task_intent: str
    successful_topo: list[list[Identifier]]


def read(path: Path) -> Records:
    """The records of a folder; what refers to something broken is broken as well. Refused where
    `templates.jsonl` or `bindings.jsonl` is broken."""
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is not a folder with subtasks and tasks")
    templates = _sidecar(path, "templates.jsonl", Subtask, lambda item: item.subtask_id)
    bindings = _sidecar(path, "bindings.jsonl", Task, lambda item: item.task_id)
    subtasks: dict[str, Subtask] = {}
    tasks: dict[str, Task] = {}

    def subtask(item: Item, _: str) -> Iterator[Record]:
        read = _subtask(item)
        whole = templates.get(read.subtask_id)
        if whole is not None and subtask_fields(whole) != item.value:
            raise item.refused("", "says otherwise than templates.jsonl")
        yield subtasks.setdefault(read.subtask_id, whole or read)

    def task(item: Item, task_id: str) -> Iterator[Record]:
        found = item.parsed(_Task)
        whole = bindings.get(task_id)
        if whole is not None and task_fields(whole) != item.value:
            raise item.refused("", "says otherwise than bindings.jsonl")
        tasks[task_id] = whole or _task(task_id, item, found, subtasks)
        yield tasks[task_id]

    def trajectory(item: Item, name: str) -> list[Record]:
        return [read_trajectory(item, path, subtasks, f"trajectory-{name}")]

    def task_trajectory(item: Item, _: str) -> list[Record]:
        return read_task_trajectory(item, path, tasks)

    yield from checked(_items(path, "subtasks"), lambda item: item.named("id"), subtask, "subtask")
    yield from checked(_items(path, "trajectories"), _name, trajectory, "trajectory")
    yield from _functions(path, subtasks)
    yield from checked(_items(path, "tasks"), _name, task)
    yield from checked(_items(path, "task_trajectories"), _name, task_trajectory, "trajectory")


def _items(root: Path, kind: str) -> Items:
    whole = root / f"{kind}.json"
    files = [whole] if whole.is_file() else sorted((root / kind).glob("*.json"))
    named = ((file, file.relative_to(root).as_posix()) for file in files)
    yield from items_of(named, one_each=not whole.is_file())


def _name(item: Item) -> str:
    """The id from the file's name; entries of a list are numbered."""
    return item.place.strip("[]") if item.place else unquote(Path(item.file).stem)


def _subtask(item: Item) -> Subtask:
    found = item.parsed(_Subtask)
    names = placeholders(found.instruction_template)
    for position, values in enumerate(found.available_parameters):
        missing = [name for name in names if name not in values]
        if missing:
            raise item.refused(
                f"available_parameters[{position}].{missing[0]}",
                "is missing, but instruction_template needs it",
            )
    application, category = canonical_application(found.application)
    return Subtask(
        subtask_id=found.id,
        application=found.application,
        application_category=category,
        operating_system=found.OS,
        platform=f"imported:{application}",
        instruction_template=found.instruction_template,
        available_parameters=tuple(found.available_parameters),
        inputs=_declared(found.input_resources, set(names)),
        outputs=_declared(found.output_resources, set(names)),
        origin="imported",
        provenance=IMPORTED,
    )


def _declared(categories: list[str], names: set[str]) -> tuple[ResourceDeclaration, ...]:
    return tuple(
        ResourceDeclaration(category=category, parameter=category if category in names else "")
        for category in categories
    )


def _functions(root: Path, subtasks: dict[str, Subtask]) -> Records:
    for file in sorted((root / "evaluations").glob("*.py")):
        shown = f"evaluations/{file.name}"
        try:
            yield _function(file, shown, subtasks)
        except ImportRefusedError as error:
            yield BrokenItem(shown, "evaluation_function", shown, error.faults, error.code, None)


def _function(file: Path, shown: str, subtasks: dict[str, Subtask]) -> EvaluationFunction:
    subtask_id = unquote(file.stem)
    if subtask_id not in subtasks:
        raise ImportRefusedError(
            shown, "file name", f"names the subtask {subtask_id!r}, which does not exist"
        )
    source = read_text(file, shown).removeprefix(EVALUATION_HEADER)
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ImportRefusedError(shown, "", f"is not Python: {error}") from None
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


def _task(task_id: str, item: Item, found: _Task, subtasks: dict[str, Subtask]) -> Task:
    names = found.dag.nodes
    if len(set(names)) != len(names):
        raise item.refused("dag.nodes", "name a subtask twice")
    nodes: dict[str, BoundSubtask] = {}
    for position, name in enumerate(names):
        if name not in subtasks:
            raise item.refused(f"dag.nodes[{position}]", f"names the subtask {name!r}, which does not exist")
        nodes[name] = _bound(subtasks[name], found.task_instruction)
    edges: list[Dependency] = []
    for name, consumers in found.dag.edges.items():
        if name not in nodes:
            raise item.refused(f"dag.edges.{name}", "is not a node")
        for consumer in consumers:
            if consumer not in nodes:
                raise item.refused(f"dag.edges.{name}", f"names {consumer!r}, which is not a node")
            edges.append(
                Dependency(
                    producer=nodes[name].instance_id,
                    consumer=nodes[consumer].instance_id,
                    resource=_flowing(nodes[name], nodes[consumer]),
                )
            )
    for position, order in enumerate(found.successful_topo):
        if sorted(order) != sorted(names):
            raise item.refused(f"successful_topo[{position}]", "is not an order of the nodes")
    task = build_task(
        task_id,
        list(nodes.values()),
        edges,
        found.task_instruction,
        lambda reason: item.refused("dag.edges", reason),
        intent=found.task_intent,
    )
    listed = tuple(tuple(nodes[name].instance_id for name in order) for order in found.successful_topo)
    return task.model_copy(update={"successful_orders": listed, "successful_order_count": len(listed)})


def _bound(subtask: Subtask, instruction: str) -> BoundSubtask:
    parameters = parameters_in(instruction, subtask)
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
    read = {item.category for item in consumer.inputs}
    shared = (item for item in producer.outputs if item.category in read)
    none = guessed_resource("completion", producer.application, "")
    return next(shared, (*producer.outputs, none)[0])


def _sidecar(root: Path, name: str, record: type[R], key: Callable[[R], str]) -> dict[str, R]:
    found: dict[str, R] = {}
    for item in items_of([(root / name, name)] if (root / name).is_file() else []):
        if isinstance(item, BrokenItem):
            raise ImportRefusedError.listing(item.faults)
        read = item.parsed(record)
        found[key(read)] = read
    return found
