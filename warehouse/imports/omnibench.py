"""The paper's formats (App. C), as the export of the same name lays them out.

`subtasks`, `trajectories`, `tasks` and `task_trajectories` are folders with one JSON file per item, or files
with a list; `evaluations/<subtask>.py` holds the functions. Where `templates.jsonl` and `bindings.jsonl`
stand beside them, parameters and resources come from there, and must agree with the paper's files. Without
them, a node takes the first parameter set whose values all stand in the instruction, and an edge the first
resource category that its producer writes and its consumer reads. Trajectories come without evidence, so
evaluation functions cannot run on them.
"""

import ast
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from taskloom.resources.applications import ControlQuery, ResourceDeclaration
from taskloom.resources.instances import Resource
from taskloom.resources.record import Record
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, EvaluationFunction
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, fill, instance_id, placeholders
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exports.omnibench import EVALUATION_HEADER, node_names, subtask_fields, task_fields
from taskloom.warehouse.importing.imported_tasks import (
    PaperAction,
    build_task,
    canonical_application,
    guessed_resource,
    imported_trajectory,
    read_action,
)
from taskloom.warehouse.importing.items import (
    IMPORTED,
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
from taskloom.warehouse.importing.json_reading import file_inside, read_text

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


class _Steps(ForeignModel):
    observations: list[str]
    actions: list[PaperAction]


class _SubtaskTrajectory(_Steps):
    trajectory_id: str | None = None
    subtask_id: Text
    instruction: Text


class _TaskTrajectory(_Steps):
    trajectory_id: Text
    task_id: Text
    topological_order: list[str]
    instruction: str


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

    def trajectory(item: Item, name: str) -> Iterator[Record]:
        found = item.parsed(_SubtaskTrajectory)
        if found.subtask_id not in subtasks:
            raise item.refused("subtask_id", f"names {found.subtask_id!r}, which does not exist")
        parameters = _parameters_in(found.instruction, subtasks[found.subtask_id])
        yield imported_trajectory(
            found.trajectory_id or f"trajectory-{name}",
            found.subtask_id,
            found.instruction,
            _steps(found, item, path),
            instance_id=instance_id(found.subtask_id, parameters),
            parameters=parameters,
        )

    def function(item: Item, _: str) -> Iterator[Record]:
        yield _function(item, path, subtasks)

    def task(item: Item, task_id: str) -> Iterator[Record]:
        found = item.parsed(_Task)
        whole = bindings.get(task_id)
        if whole is not None and task_fields(whole) != item.value:
            raise item.refused("", "says otherwise than bindings.jsonl")
        tasks[task_id] = whole or _task(task_id, item, found, subtasks)
        yield tasks[task_id]

    def task_trajectory(item: Item, _: str) -> Iterator[Record]:
        found = item.parsed(_TaskTrajectory)
        if found.task_id not in tasks:
            raise item.refused("task_id", f"names {found.task_id!r}, which does not exist")
        instances = {name: instance for instance, name in node_names(tasks[found.task_id]).items()}
        if sorted(found.topological_order) != sorted(instances):
            raise item.refused("topological_order", "is not an order of the task's nodes")
        name, steps = f"{found.trajectory_id}:recording", _steps(found, item, path)
        yield imported_trajectory(name, f"task:{found.task_id}", found.instruction, steps)
        yield Replay(
            replay_id=found.trajectory_id,
            task_id=found.task_id,
            order=tuple(instances[name] for name in found.topological_order),
            success=True,
            trajectory_id=name,
            provenance=IMPORTED,
        )

    sources = (Item(f"evaluations/{file.name}", None) for file in sorted(path.glob("evaluations/*.py")))
    yield from checked(_items(path, "subtasks"), lambda item: item.named("id"), subtask, "subtask")
    yield from checked(_items(path, "trajectories"), _name, trajectory, "trajectory")
    yield from checked(sources, lambda item: item.file, function, "evaluation_function")
    yield from checked(_items(path, "tasks"), _name, task)
    yield from checked(_items(path, "task_trajectories"), _name, task_trajectory, "trajectory")


def _sidecar(root: Path, name: str, record: type[R], key: Callable[[R], str]) -> dict[str, R]:
    found: dict[str, R] = {}
    for item in items_of([(root / name, name)] if (root / name).is_file() else []):
        if isinstance(item, BrokenItem):
            raise ImportRefusedError.listing(item.faults)
        read = item.parsed(record)
        found[key(read)] = read
    return found


def _items(root: Path, kind: str) -> Items:
    whole = root / f"{kind}.json"
    files = [whole] if whole.is_file() else sorted((root / kind).glob("*.json"))
    named = ((file, file.relative_to(root).as_posix()) for file in files)
    return items_of(named, one_each=not whole.is_file())


def _name(item: Item) -> str:
    """The id from the file's name; entries of a list are numbered."""
    return item.place.strip("[]") if item.place else unquote(Path(item.file).stem)


def _subtask(item: Item) -> Subtask:
    found = item.parsed(_Subtask)
    names = placeholders(found.instruction_template)
    for position, values in enumerate(found.available_parameters):
        missing = next((name for name in names if name not in values), None)
        if missing is not None:
            raise item.refused(
                f"available_parameters[{position}].{missing}", "is missing, but instruction_template needs it"
            )
    application, category = canonical_application(found.application)

    def declared(categories: list[str]) -> tuple[ResourceDeclaration, ...]:
        return tuple(
            ResourceDeclaration(category=category, parameter=category if category in names else "")
            for category in categories
        )

    return Subtask(
        subtask_id=found.id,
        application=found.application,
        application_category=category,
        operating_system=found.OS,
        platform=f"imported:{application}",
        instruction_template=found.instruction_template,
        available_parameters=tuple(found.available_parameters),
        inputs=declared(found.input_resources),
        outputs=declared(found.output_resources),
        origin="imported",
        provenance=IMPORTED,
    )


def _function(item: Item, root: Path, subtasks: Mapping[str, Subtask]) -> EvaluationFunction:
    subtask_id = unquote(Path(item.file).stem)
    if subtask_id not in subtasks:
        raise item.refused("file name", f"names the subtask {subtask_id!r}, which does not exist")
    source = read_text(root / item.file, item.file).removeprefix(EVALUATION_HEADER)
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise item.refused("", f"is not Python: {error}") from None
    functions = {part.name: part for part in reversed(module.body) if isinstance(part, ast.FunctionDef)}
    if ENTRY_POINT not in functions:
        raise item.refused("", f"does not define {ENTRY_POINT}")
    return EvaluationFunction(
        function_id=f"{subtask_id}:{hashlib.sha256(source.encode()).hexdigest()[:12]}",
        subtask_id=subtask_id,
        source=source,
        parameter_names=tuple(argument.arg for argument in functions[ENTRY_POINT].args.args),
        provenance=IMPORTED,
    )


def _task(task_id: str, item: Item, found: _Task, subtasks: Mapping[str, Subtask]) -> Task:
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
            edges.append(_edge(nodes[name], nodes[consumer]))
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
    parameters = _parameters_in(instruction, subtask)
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


def _parameters_in(instruction: str, subtask: Subtask) -> dict[str, str]:
    """The first parameter set of a subtask whose values all stand in an instruction, else the first."""
    sets = subtask.available_parameters or ({},)
    return next((item for item in sets if all(value in instruction for value in item.values())), sets[0])


def _edge(producer: BoundSubtask, consumer: BoundSubtask) -> Dependency:
    read = {item.category for item in consumer.inputs}
    shared = (item for item in producer.outputs if item.category in read)
    none = guessed_resource("completion", producer.application, "")
    resource = next(shared, (*producer.outputs, none)[0])
    return Dependency(producer=producer.instance_id, consumer=consumer.instance_id, resource=resource)


def _steps(found: _Steps, item: Item, root: Path) -> Iterator[TrajectoryStep]:
    pictures, actions = len(found.observations), len(found.actions)
    if pictures != actions:
        raise item.refused("observations", f"are {pictures}, but there are {actions} actions")
    for position, (name, action) in enumerate(zip(found.observations, found.actions, strict=True)):
        yield TrajectoryStep(
            step=position + 1,
            observation_screenshot=_picture(item, root, name, f"observations[{position}]"),
            description=action.description or "",
            thought=action.thought or "",
            action=read_action(action, item, f"actions[{position}]."),
            target=ControlQuery(text=action.control_text) if action.control_text else None,
            target_rectangle=_rectangle(action),
            evidence=Evidence(step=position + 1),
        )


def _rectangle(action: PaperAction) -> tuple[int, int, int, int] | None:
    if action.rect is None:
        return None
    left, top, right, bottom = (int(corner) for corner in action.rect)
    return (left, top, right, bottom)


def _picture(item: Item, root: Path, name: str, place: str) -> Screenshot:
    target = file_inside(root, name)
    try:
        png = target.read_bytes() if target is not None else None
    except OSError:
        png = None
    if png is None:
        raise item.refused(place, f"{name[:200]!r} cannot be read, is not there, or leaves the folder")
    if not png.startswith(b"\x89PNG\r\n"):
        raise item.refused(place, f"{name!r} is not a PNG file")
    return Screenshot.of(png)
