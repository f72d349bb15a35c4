"""What an export selects, against a plain selection over the same tasks in Python."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Dimension
from taskloom.resources.reading.catalog import load_capabilities, load_scenarios
from taskloom.taskgraph.records.criticism import Review
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.reviews import AcceptanceRule, new_review, parse_rule
from taskloom.warehouse.sets.selection import CellQuota, Selection, candidates, draw, select
from taskloom.warehouse.store import Warehouse
from tests.shared_work import examples
from tests.warehouse.sample_parts import complexity, node, subtask

_APPLICATIONS = ("notes", "sheets", "mail's")
_SCENARIOS = tuple(scenario.name for scenario in load_scenarios())[:3]
_STATUSES = ("validated", "imported", "composed", "rejected")
_CONDITIONS: dict[str, Callable[[Task], bool]] = {
    "": lambda task: True,
    "node_count = 1": lambda task: len(task.graph.nodes) == 1,
    "simulated OR node_count > 1": lambda task: task.simulated or len(task.graph.nodes) > 1,
    "list_contains(applications, 'mail''s')": lambda task: "mail's" in _used(task),
}


def _used(task: Task) -> set[str]:
    return {item.application for item in task.graph.nodes}


def _pool() -> list[Task]:
    """Tasks of all levels, statuses, scenarios and applications, in no order."""
    choose = random.Random(7)
    tasks = []
    for number in range(240):
        names = choose.sample(_APPLICATIONS, choose.choice((1, 1, 2)))
        nodes = tuple(node(subtask("create", name), f"{number}-{name}.csv") for name in names)
        tasks.append(
            Task(
                task_id=f"task {number}",
                status=choose.choice(_STATUSES),
                graph=TaskGraph(nodes=nodes, edges=()),
                scenario=choose.choice(_SCENARIOS),
                simulated=choose.random() < 0.2,
                instruction=f"Do {number}.",
                complexity=complexity(len(nodes), 0, 1, len(nodes)).model_copy(
                    update={f"{name}_level": choose.choices(LEVELS, (1, 1, 2))[0] for name in DIMENSIONS}
                ),
            )
        )
    return tasks


_TASKS = _pool()


def _verdicts() -> dict[str, list[bool]]:
    """What up to three people said of some of the tasks."""
    choose = random.Random(11)
    return {
        task.task_id: [choose.random() < 0.6 for _ in range(choose.randint(1, 3))]
        for task in _TASKS
        if choose.random() < 0.7
    }


_VERDICTS = _verdicts()
_RULES: dict[str, Callable[[list[bool]], bool]] = {
    "any": any,
    "majority": lambda said: 2 * said.count(True) > len(said),
    "all": all,
}


def _reviews() -> Iterator[Review]:
    for task in _TASKS:
        for person, accepted in enumerate(_VERDICTS.get(task.task_id, ())):
            verdict, failed = ("accepted", ()) if accepted else ("rejected", ("sense",))
            yield new_review(task.task_id, task.instruction, f"person {person}", verdict, failed)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, empty_template: Path) -> Iterator[Warehouse]:
    place = tmp_path_factory.mktemp("selection") / "warehouse"
    shutil.copytree(empty_template, place)
    with Warehouse(place) as writer:
        writer.write(_TASKS)
        writer.write(list(_reviews()))
    with Warehouse(place, read_only=True) as opened:
        yield opened


_LEVELS = st.dictionaries(st.sampled_from(DIMENSIONS), st.sampled_from(LEVELS), max_size=3)


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    cells = draw(
        st.lists(
            st.builds(lambda levels, size: CellQuota(levels=levels, size=size), _LEVELS, st.integers(1, 30)),
            max_size=3,
        )
    )
    size = draw(st.none() | st.integers(1, 60))
    if size is not None:
        size = max(size, sum(cell.size for cell in cells))
    return Selection(
        where=draw(st.sampled_from(sorted(_CONDITIONS))),
        unvalidated=draw(st.booleans()),
        levels=draw(_LEVELS),
        capability=draw(st.sampled_from(["", *(item.name for item in load_capabilities())])),
        preset=draw(st.sampled_from(["as_printed", "repaired"])),
        scenario=draw(st.sampled_from(["", *_SCENARIOS])),
        applications=tuple(draw(st.lists(st.sampled_from(_APPLICATIONS), max_size=2, unique=True))),
        cells=tuple(cells),
        size=size,
        seed=draw(st.integers(0, 5)),
        accepted=draw(
            st.none()
            | st.builds(
                lambda rule, people: parse_rule(f"{rule}:{people}"),
                st.sampled_from(sorted(_RULES)),
                st.integers(1, 3),
            )
        ),
    )


def _has(task: Task, levels: dict[Dimension, str]) -> bool:
    return all(getattr(task.complexity, f"{name}_level") == level for name, level in levels.items())


def _meets(task: Task, selection: Selection) -> bool:
    demanded = next(
        (item.levels(selection.preset) for item in load_capabilities() if item.name == selection.capability),
        {},
    )
    return (
        (selection.unvalidated or task.status in ("validated", "imported"))
        and _CONDITIONS[selection.where](task)
        and _has(task, selection.levels)
        and _has(task, dict(demanded))
        and selection.scenario in ("", task.scenario)
        and (not selection.applications or bool(_used(task) & set(selection.applications)))
        and _accepted(task, selection.accepted)
    )


def _accepted(task: Task, asked: AcceptanceRule | None) -> bool:
    if asked is None:
        return True
    said = _VERDICTS.get(task.task_id, [])
    return len(said) >= asked.people and _RULES[asked.rule](said)


def _plainly(selection: Selection) -> tuple[list[str], list[tuple[int, int]]]:
    """What should be selected, and the numbers wanted and found where they differ."""
    meeting = sorted(
        (task for task in _TASKS if _meets(task, selection)),
        key=lambda task: hashlib.sha256(f"{selection.seed}:{task.task_id}".encode()).hexdigest(),
    )
    quotas: Sequence[tuple[dict[Dimension, str], int | None]] = [
        (cell.levels, cell.size) for cell in selection.cells
    ] or [({}, selection.size)]
    taken: list[str] = []
    short: list[tuple[int, int]] = []
    for levels, wanted in quotas:
        free = [task.task_id for task in meeting if _has(task, levels) and task.task_id not in taken]
        if wanted is not None and len(free) < wanted:
            short.append((wanted, len(free)))
        taken += free if wanted is None else free[:wanted]
    return sorted(taken), short


@settings(max_examples=examples(25, 120))
@given(selection=selections())
def test_any_combination_of_filters_selects_what_plain_python_selects(
    pool: Warehouse, selection: Selection
) -> None:
    names, short = _plainly(selection)

    drawn, shortfalls = draw(candidates(pool, selection))

    assert sorted(drawn) == list(select(pool, selection)) == names
    assert [(item.wanted, item.found) for item in shortfalls] == short


@pytest.mark.parametrize("preset", ["as_printed", "repaired"])
@pytest.mark.parametrize("capability", [item.name for item in load_capabilities()])
def test_every_capability_selects_the_tasks_that_test_it(
    pool: Warehouse, capability: str, preset: str
) -> None:
    selection = Selection.model_validate({"capability": capability, "preset": preset})

    names, _ = _plainly(selection)

    assert names, "the pool has tasks of every capability"
    assert list(select(pool, selection)) == names
