"""The paper's formats (App. C), in the layout of the export of the same name.

`subtasks`, `trajectories`, `tasks` and `task_trajectories` are folders with one JSON file per item, or files
with a list; `evaluations/<subtask>.py` holds the functions. With `templates.jsonl` and
`bindings.jsonl`, parameters and resources come from there, and must agree with the paper's files. Without
them, a node takes the first parameter set whose values all occur in the instruction, and an edge the first
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
    guess_resource,
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
    check_items,
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
    """The records of a folder; what refers to something broken is broken as well. Refused if
    `templates.jsonl` or `bindings.jsonl` is broken."""
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is not a folder with subtasks and tasks")
    templates = _sidecar(path, "templates.jsonl", Subtask, lambda item: item.subtask_id)
    bindings = _sidecar(path, "bindings.jsonl", Task, lambda item: item.task_id)
    subtasks: dict[str, Subtask] = {}
    tasks: dict[str, Task] = {}

    def subtask(item: Item, _: str) -> Iterator[Record]:
        parsed = _subtask(item)
        stored = templates.get(parsed.subtask_id)
        if stored is not None and subtask_fields(stored) != item.value:
            raise item.refusal("", "contradicts templates.jsonl")
        yield subtasks.setdefault(parsed.subtask_id, stored or parsed)

    def trajectory(item: Item, name: str) -> Iterator[Record]:
        fields = item.parse(_SubtaskTrajectory)
        if fields.subtask_id not in subtasks:
            raise item.refusal("subtask_id", f"names {fields.subtask_id!r}, which does not exist")
        parameters = _parameters_in(fields.instruction, subtasks[fields.subtask_id])
        yield imported_trajectory(
            fields.trajectory_id or f"trajectory-{name}",
            fields.subtask_id,
            fields.instruction,
            _steps(fields, item, path),
            instance_id=instance_id(fields.subtask_id, parameters),
            parameters=parameters,
        )

    def function(item: Item, _: str) -> Iterator[Record]:
        yield _function(item, path, subtasks)

    def task(item: Item, task_id: str) -> Iterator[Record]:
        fields = item.parse(_Task)
        stored = bindings.get(task_id)
        if stored is not None and task_fields(stored) != item.value:
            raise item.refusal("", "contradicts bindings.jsonl")
        tasks[task_id] = stored or _task(task_id, item, fields, subtasks)
        yield tasks[task_id]

    def task_trajectory(item: Item, _: str) -> Iterator[Record]:
        fields = item.parse(_TaskTrajectory)
        if fields.task_id not in tasks:
            raise item.refusal("task_id", f"names {fields.task_id!r}, which does not exist")
        instances = {name: instance for instance, name in node_names(tasks[fields.task_id]).items()}
        if sorted(fields.topological_order) != sorted(instances):
            raise item.refusal("topological_order", "is not an order of the task's nodes")
        name, steps = f"{fields.trajectory_id}:recording", _steps(fields, item, path)
        yield imported_trajectory(name, f"task:{fields.task_id}", fields.instruction, steps)
        yield Replay(
            replay_id=fields.trajectory_id,
            task_id=fields.task_id,
            order=tuple(instances[name] for name in fields.topological_order),
            success=True,
            trajectory_id=name,
            provenance=IMPORTED,
        )

    sources = (Item(f"evaluations/{file.name}", None) for file in sorted(path.glob("evaluations/*.py")))
    yield from check_items(_items(path, "subtasks"), lambda item: item.read_id("id"), subtask, "subtask")
    yield from check_items(_items(path, "trajectories"), _name, trajectory, "trajectory")
    yield from check_items(sources, lambda item: item.file, function, "evaluation_function")
    yield from check_items(_items(path, "tasks"), _name, task)
    yield from check_items(_items(path, "task_trajectories"), _name, task_trajectory, "trajectory")


def _sidecar(root: Path, name: str, record: type[R], key: Callable[[R], str]) -> dict[str, R]:
    records: dict[str, R] = {}
    for item in items_of([(root / name, name)] if (root / name).is_file() else []):
        if isinstance(item, BrokenItem):
            raise ImportRefusedError.listing(item.faults)
        parsed = item.parse(record)
        records[key(parsed)] = parsed
    return records


def _items(root: Path, kind: str) -> Items:
    list_file = root / f"{kind}.json"
    files = [list_file] if list_file.is_file() else sorted((root / kind).glob("*.json"))
    named_files = ((file, file.relative_to(root).as_posix()) for file in files)
    return items_of(named_files, one_each=not list_file.is_file())


def _name(item: Item) -> str:
    """The id from the file's name; entries of a list are numbered."""
    return item.place.strip("[]") if item.place else unquote(Path(item.file).stem)


def _subtask(item: Item) -> Subtask:
    fields = item.parse(_Subtask)
    names = placeholders(fields.instruction_template)
    for position, values in enumerate(fields.available_parameters):
        missing = next((name for name in names if name not in values), None)
        if missing is not None:
            raise item.refusal(
                f"available_parameters[{position}].{missing}", "is missing, but instruction_template needs it"
            )
    application, category = canonical_application(fields.application)

    def declarations(categories: list[str]) -> tuple[ResourceDeclaration, ...]:
        return tuple(
            ResourceDeclaration(category=category, parameter=category if category in names else "")
            for category in categories
        )

    return Subtask(
        subtask_id=fields.id,
        application=fields.application,
        application_category=category,
        operating_system=fields.OS,
        platform=f"imported:{application}",
        instruction_template=fields.instruction_template,
        available_parameters=tuple(fields.available_parameters),
        inputs=declarations(fields.input_resources),
        outputs=declarations(fields.output_resources),
        origin="imported",
        provenance=IMPORTED,
    )


def _function(item: Item, root: Path, subtasks: Mapping[str, Subtask]) -> EvaluationFunction:
    subtask_id = unquote(Path(item.file).stem)
    if subtask_id not in subtasks:
        raise item.refusal("file name", f"names the subtask {subtask_id!r}, which does not exist")
    source = read_text(root / item.file, item.file).removeprefix(EVALUATION_HEADER)
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise item.refusal("", f"is not Python: {error}") from None
    functions = {part.name: part for part in reversed(module.body) if isinstance(part, ast.FunctionDef)}
    if ENTRY_POINT not in functions:
        raise item.refusal("", f"does not define {ENTRY_POINT}")
    return EvaluationFunction(
        function_id=f"{subtask_id}:{hashlib.sha256(source.encode()).hexdigest()[:12]}",
        subtask_id=subtask_id,
        source=source,
        parameter_names=tuple(argument.arg for argument in functions[ENTRY_POINT].args.args),
        provenance=IMPORTED,
    )


def _task(task_id: str, item: Item, fields: _Task, subtasks: Mapping[str, Subtask]) -> Task:
    names = fields.dag.nodes
    if len(set(names)) != len(names):
        raise item.refusal("dag.nodes", "name a subtask twice")
    nodes: dict[str, BoundSubtask] = {}
    for position, name in enumerate(names):
        if name not in subtasks:
            raise item.refusal(f"dag.nodes[{position}]", f"names the subtask {name!r}, which does not exist")
        nodes[name] = _bind(subtasks[name], fields.task_instruction)
    edges: list[Dependency] = []
    for name, consumers in fields.dag.edges.items():
        if name not in nodes:
            raise item.refusal(f"dag.edges.{name}", "is not a node")
        for consumer in consumers:
            if consumer not in nodes:
                raise item.refusal(f"dag.edges.{name}", f"names {consumer!r}, which is not a node")
            edges.append(_edge(nodes[name], nodes[consumer]))
    for position, order in enumerate(fields.successful_topo):
        if sorted(order) != sorted(names):
            raise item.refusal(f"successful_topo[{position}]", "is not an order of the nodes")
    task = build_task(
        task_id,
        list(nodes.values()),
        edges,
        fields.task_instruction,
        lambda reason: item.refusal("dag.edges", reason),
        intent=fields.task_intent,
    )
    orders = tuple(tuple(nodes[name].instance_id for name in order) for order in fields.successful_topo)
    return task.model_copy(update={"successful_orders": orders, "successful_order_count": len(orders)})


def _bind(subtask: Subtask, instruction: str) -> BoundSubtask:
    parameters = _parameters_in(instruction, subtask)
    try:
        text = fill(subtask.instruction_template, parameters)
    except ParameterInvalidError:
        text = subtask.instruction_template

    def resources(declared: tuple[ResourceDeclaration, ...]) -> tuple[Resource, ...]:
        return tuple(
            guess_resource(item.category, subtask.application, parameters.get(item.parameter, ""))
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
    """The first parameter set of a subtask whose values all occur in an instruction, else the first."""
    sets = subtask.available_parameters or ({},)
    return next((item for item in sets if all(value in instruction for value in item.values())), sets[0])


def _edge(producer: BoundSubtask, consumer: BoundSubtask) -> Dependency:
    read_categories = {item.category for item in consumer.inputs}
    shared = (item for item in producer.outputs if item.category in read_categories)
    completion = guess_resource("completion", producer.application, "")
    resource = next(shared, (*producer.outputs, completion)[0])
    return Dependency(producer=producer.instance_id, consumer=consumer.instance_id, resource=resource)


def _steps(fields: _Steps, item: Item, root: Path) -> Iterator[TrajectoryStep]:
    pictures, actions = len(fields.observations), len(fields.actions)
    if pictures != actions:
        raise item.refusal("observations", f"are {pictures}, but there are {actions} actions")
    for position, (name, action) in enumerate(zip(fields.observations, fields.actions, strict=True)):
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
        raise item.refusal(place, f"{name[:200]!r} cannot be read, does not exist, or is outside the folder")
    if not png.startswith(b"\x89PNG\r\n"):
        raise item.refusal(place, f"{name!r} is not a PNG file")
    return Screenshot.of(png)
