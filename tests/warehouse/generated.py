"""Strategies for datasets: tasks made here, and files in other people's formats."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, fill, instance_id
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.imported_tasks import build_task
from tests.warehouse.sample_parts import file_resource, subtask

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="{}"), min_size=1, max_size=12
).filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Tasks with the subtasks they bind."""

    subtasks: tuple[Subtask, ...]
    tasks: tuple[Task, ...]


@st.composite
def datasets(draw: st.DrawFn, prefix: str) -> Dataset:
    """One to three subtasks with texts of any script, and one or two tasks of up to five nodes over them."""
    subtasks = [
        subtask(
            f"{prefix}-{number}",
            draw(st.sampled_from(["notes", "sheets", "Écran ✓"])),
            instruction_template=f"{draw(TEXTS)} '{{csv_path}}'",
            available_parameters=tuple({"csv_path": value} for value in draw(st.lists(TEXTS, max_size=2))),
        )
        for number in range(draw(st.integers(1, 3)))
    ]
    return Dataset(
        tuple(subtasks),
        tuple(draw(_task(f"{prefix}/{number} ü", subtasks)) for number in range(draw(st.integers(1, 2)))),
    )


@st.composite
def _task(draw: st.DrawFn, task_id: str, subtasks: list[Subtask]) -> Task:
    chosen = draw(
        st.lists(st.tuples(st.sampled_from(subtasks), TEXTS), min_size=1, max_size=5, unique_by=_instance)
    )
    nodes: list[BoundSubtask] = []
    edges: list[Dependency] = []
    for item, value in chosen:
        needed = (
            draw(st.lists(st.sampled_from(nodes), unique_by=lambda node: node.instance_id, max_size=2))
            if nodes
            else []
        )
        name = _instance((item, value))
        edges += [
            Dependency(producer=other.instance_id, consumer=name, resource=other.outputs[0])
            for other in needed
        ]
        nodes.append(
            BoundSubtask(
                instance_id=name,
                subtask_id=item.subtask_id,
                application=item.application,
                application_category=item.application_category,
                instruction=fill(item.instruction_template, {"csv_path": value}),
                parameters={"csv_path": value},
                inputs=tuple(dict.fromkeys(other.outputs[0] for other in needed)),
                outputs=(file_resource(f"{value} of {name}"),),
            )
        )
    task = build_task(
        task_id, nodes, edges, draw(TEXTS), lambda reason: ImportRefusedError("", "", reason), draw(TEXTS)
    )
    return task.model_copy(update={"permuted_instructions": tuple(draw(st.lists(TEXTS, max_size=2)))})


def _instance(pair: tuple[Subtask, str]) -> str:
    return instance_id(pair[0].subtask_id, {"csv_path": pair[1]})


@st.composite
def osworld_tasks(draw: st.DrawFn) -> dict[str, object]:
    """A task in OSWorld's structure, with fields that nobody knows."""
    metric = st.dictionaries(TEXTS, JSON, max_size=2)
    if draw(st.booleans()):
        count = draw(st.integers(1, 3))
        evaluator: dict[str, object] = {
            "func": draw(st.lists(TEXTS, min_size=count, max_size=count)),
            "conj": draw(st.sampled_from(["and", "or"])),
            "result": draw(st.lists(metric, min_size=count, max_size=count)),
            "expected": draw(st.lists(st.none() | metric, min_size=count, max_size=count)),
        }
    else:
        evaluator = draw(
            st.sampled_from([{"func": "infeasible"}, {"func": "exact_match", "result": {}, "expected": {}}])
        )
    return {
        **draw(st.dictionaries(TEXTS.map(lambda text: f"x{text}"), JSON, max_size=2)),
        "id": draw(TEXTS),
        "instruction": draw(TEXTS),
        "config": draw(st.lists(st.fixed_dictionaries({"type": TEXTS, "parameters": metric}), max_size=2)),
        "related_apps": draw(st.lists(st.sampled_from(["chrome", "LibreOffice-Calc", "gimp"]), max_size=2)),
        "evaluator": evaluator,
        "proxy": draw(st.booleans()),
    }


@st.composite
def crab_tasks(draw: st.DrawFn) -> dict[str, object]:
    """A task in CRAB's structure, its adjacency list acyclic."""
    count = draw(st.integers(1, 4))
    lines = [
        " ".join(map(str, [node, *sorted(draw(st.sets(st.integers(node + 1, count - 1))))]))
        if node + 1 < count
        else str(node)
        for node in range(count)
    ]
    part = st.fixed_dictionaries(
        {"task": TEXTS, "attribute": st.dictionaries(TEXTS, JSON, max_size=2), "output": st.none() | TEXTS}
    )
    return {
        "description": draw(TEXTS),
        "tasks": draw(st.lists(part, min_size=count, max_size=count)),
        "adjlist": "\n".join(lines),
        "unknown": draw(JSON),
    }
