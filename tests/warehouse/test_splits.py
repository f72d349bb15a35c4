from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.sets.compared import COLUMNS, ComparedTasks, Rows, compare
from taskloom.warehouse.sets.dividing import TOLERANCE, Division, apportion
from taskloom.warehouse.sets.dividing import divide as divide_table
from taskloom.warehouse.sets.key_table import SPLITS, KeyTable, SplitName
from taskloom.warehouse.sets.selection import parse_request
from taskloom.warehouse.sets.splits import LeakageReport, find_resembling, leakage
from tests.shared_work import examples
from tests.warehouse.sample_parts import file_resource
from tests.warehouse.samples import records

KEYS = st.dictionaries(
    st.integers(0, 200).map(lambda number: f"task-{number}"),
    st.frozensets(st.integers(0, 30).map(lambda number: f"subtask {number}"), min_size=1, max_size=5),
    min_size=1,
    max_size=60,
)
SHARES: dict[SplitName, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}


def divide(
    keys: Mapping[str, frozenset[str]],
    shares: Mapping[SplitName, float],
    seed: int = 0,
    strata: Mapping[str, Sequence[str]] | None = None,
) -> Division:
    """The division of tasks with their keys and labels by id."""
    names = sorted(keys)
    table = KeyTable.of((name, keys[name]) for name in names)
    labels = KeyTable.of((name, strata[name]) for name in names) if strata is not None else None
    return divide_table(table, shares, seed, labels)


@settings(max_examples=examples(50, 150))
@given(KEYS, st.integers(0, 3))
def test_no_key_stands_in_two_sets_and_no_task_is_lost(keys: dict[str, frozenset[str]], seed: int) -> None:
    division = divide(keys, SHARES, seed)

    held = [{key for task in division.tasks[name] for key in keys[task]} for name in SPLITS]
    assert not held[0] & held[1] and not held[0] & held[2] and not held[1] & held[2]
    everything = [*division.left_out, *(task for members in division.tasks.values() for task in members)]
    assert sorted(everything) == sorted(keys)
    assert division == divide(keys, SHARES, seed)


def test_separate_groups_are_dealt_out_without_loss() -> None:
    keys = {f"task-{number}": frozenset({f"subtask {number}"}) for number in range(100)}

    division = divide(keys, SHARES)

    assert [len(division.tasks[name]) for name in SPLITS] == [80, 10, 10]
    assert not division.left_out


def test_a_connected_pool_still_gives_a_test_set() -> None:
    keys = {
        f"task-{number}": frozenset(f"subtask {(number * step) % 40}" for step in (1, 3, 7))
        for number in range(400)
    }

    division = divide(keys, SHARES)

    assert len(division.tasks["test"]) > 0
    assert len(division.tasks["train"]) > 100


def test_no_set_is_starved_for_another_in_a_connected_pool() -> None:
    names = [f"task-{number}" for number in range(600)]
    keys = {
        name: frozenset(
            f"subtask {(number * step + number // 7) % (12 + 5 * step)} {step}" for step in (1, 2, 3)
        )
        | {f"intent {number % 11}"}
        for number, name in enumerate(names)
    }

    division = divide(keys, SHARES)

    assert all(division.tasks[name] for name in SPLITS)
    assert len(division.tasks["train"]) > len(division.tasks["test"])


@given(st.integers(0, 500), st.integers(0, 10), st.integers(0, 10))
def test_a_number_is_apportioned_without_rest(total: int, first: int, second: int) -> None:
    shares: dict[SplitName, float] = {
        "train": (20 - first - second) / 20,
        "validation": first / 20,
        "test": second / 20,
    }

    counts = apportion(total, shares)

    assert sum(counts.values()) == total
    assert all(abs(counts[name] - total * shares[name]) < 1 for name in SPLITS)


def test_shares_must_add_up() -> None:
    with pytest.raises(SelectionInvalidError, match="add up"):
        divide({"a": frozenset({"x"})}, {"train": 0.5})


def compared(
    sets: Mapping[SplitName, list[Task]], lines: Sequence[str] = ()
) -> tuple[ComparedTasks, dict[SplitName, Rows]]:
    """What is compared of the tasks of some sets, and their numbers."""
    tasks = [task for members in sets.values() for task in members]
    rows = [
        {
            "task_id": task.task_id,
            "instruction": task.instruction,
            "intent_id": task.intent_id,
            "intent": task.intent,
            "templates": [node.subtask_id for node in task.graph.nodes],
            "resource_values": [
                item.value for node in task.graph.nodes for item in (*node.inputs, *node.outputs)
            ],
            "parts": [node.instruction for node in task.graph.nodes],
        }
        for task in tasks
    ]
    lists = {"templates", "resource_values", "parts", "applications"}
    schema = pa.schema([(name, pa.list_(pa.string()) if name in lists else pa.string()) for name in COLUMNS])
    found = compare(
        [pa.RecordBatch.from_pylist(rows, schema=schema)],
        lambda names: {task.task_id: task.instruction for task in tasks if task.task_id in names},
        (),
        lines,
    )
    return found, found.numbered({name: [task.task_id for task in members] for name, members in sets.items()})


def report_on(lines: Sequence[str] = (), **sets: list[Task]) -> LeakageReport:
    given = {name: sets[name] for name in SPLITS if name in sets}
    return leakage(*compared(given, lines), [f"list:{number}" for number in range(1, len(lines) + 1)])


def test_the_report_finds_what_leaks() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    twin = task.model_copy(update={"task_id": "twin"})

    report = report_on([task.instruction.upper()], train=[task], validation=[], test=[twin])

    kinds = {leak.kind for leak in report.leaks}
    assert kinds == {"template", "value", "intent", "instruction"}
    assert report.checked["template"] == 2


def test_an_unrelated_list_is_no_leak() -> None:
    task = next(item for item in records() if isinstance(item, Task))

    report = report_on(["Open the browser and look up the weather in Oslo today"], train=[task])

    assert report.leaks == ()


def altered(task: Task, name: str, **fields: object) -> Task:
    """A task whose subtask, resources and intent are others, but for `fields`."""
    first = task.graph.nodes[0]
    node = first.model_copy(
        update={"instance_id": f"{name}:1", "subtask_id": name, "outputs": (), "inputs": (), "parameters": {}}
    )
    graph = task.graph.model_copy(update={"nodes": (node,), "edges": ()})
    own = {"task_id": name, "intent_id": name, "intent": name, "instruction": f"Do {name}.", "graph": graph}
    return task.model_copy(update={**own, **fields})


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("graph", None, "template"),
        ("intent_id", "intent-1", "intent"),
        ("intent", " prepare THE report", "intent"),
        ("instruction", "In notes, create 'a.csv', then in sheets, chart 'a.csv'!", "instruction"),
        ("instruction", "IN NOTES, create 'a.csv', then  in sheets, chart 'a.csv'.", "instruction"),
    ],
)
def test_every_way_to_leak_is_found(field: str, value: str | None, kind: str) -> None:
    task = next(item for item in records() if isinstance(item, Task))
    other = altered(task, "other")
    values = [
        node.model_copy(update={"parameters": {"csv_path": "z.csv"}, "inputs": (), "outputs": ()})
        for node in task.graph.nodes
    ]
    same_template = task.graph.model_copy(update={"nodes": tuple(values), "edges": ()})
    leaking = other.model_copy(update={field: same_template if value is None else value})

    assert not report_on(train=[task], validation=[], test=[other]).leaks
    report = report_on(train=[task], validation=[], test=[leaking])

    assert {leak.kind for leak in report.leaks} == {kind}


def test_one_value_in_resources_of_two_categories_is_a_leak() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    other = altered(task, "other")
    node = other.graph.nodes[0].model_copy(update={"outputs": (file_resource("a.csv", "sheet_path"),)})
    other = other.model_copy(update={"graph": other.graph.model_copy(update={"nodes": (node,)})})

    report = report_on(train=[task], test=[other])

    assert [(leak.kind, leak.value) for leak in report.leaks] == [("value", "a.csv")]


def test_of_two_near_copies_the_one_in_the_larger_set_is_named() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    copy, further = altered(task, "copy", instruction=f"{task.instruction} Well."), altered(task, "further")

    (found,) = find_resembling(*compared({"train": [copy, further], "validation": [], "test": [task]}))

    assert (found.value, found.found_in) == ("copy", ("train", "test: task-1"))


GROUPED = st.lists(st.integers(1, 6), min_size=40, max_size=120)
"""Sizes of groups of tasks that share something."""


@settings(max_examples=examples(20, 60))
@given(
    GROUPED,
    st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (0.9, 0.0, 0.1), (0.34, 0.33, 0.33)]),
    st.integers(0, 3),
)
def test_shares_are_given_within_two_points_where_groups_allow_it(
    sizes: list[int], shares: tuple[float, ...], seed: int
) -> None:
    keys = {
        f"{group}-{member}": frozenset({f"subtask {group}"})
        for group, size in enumerate(sizes)
        for member in range(size)
    }
    asked = dict(zip(SPLITS, shares, strict=True))

    division = divide(keys, asked, seed)

    slack = max(TOLERANCE * len(keys), max(sizes) / 2)
    for name in SPLITS:
        assert abs(len(division.tasks[name]) - asked[name] * len(keys)) <= slack
    assert not division.left_out


def test_every_set_gets_its_share_of_every_stratum() -> None:
    keys = {f"task-{number:04}": frozenset({f"subtask {number}"}) for number in range(1000)}
    strata = {
        task: (f"branch={'hard' if number % 10 == 0 else 'easy'}", f"application={number % 7}")
        for number, task in enumerate(sorted(keys))
    }

    division = divide(keys, SHARES, 3, strata)

    assert [len(division.tasks[name]) for name in SPLITS] == [800, 100, 100]
    for label, total in (("branch=hard", 100), *((f"application={number}", 143) for number in range(7))):
        for name, share in SHARES.items():
            held = sum(label in strata[task] for task in division.tasks[name])
            assert abs(held - share * total) <= 0.02 * total + 1, (label, name)


def test_what_a_knot_leaves_out_is_named_with_what_would_connect() -> None:
    keys = {
        f"task-{number}": frozenset(
            f"template {(number * step + number // 7) % (12 + 5 * step)} {step}" for step in (1, 2, 3)
        )
        for number in range(400)
    }

    division = divide(keys, SHARES)

    held = {key: name for name in SPLITS for task in division.tasks[name] for key in keys[task]}
    assert division.left_out
    for task, reason in division.left_out.items():
        owners = {held[key] for key in keys[task] if key in held}
        assert len(owners) > 1
        assert all(f"{name} (template " in reason for name in owners)


def test_a_request_that_cannot_be_meant_is_refused() -> None:
    for split, leak, held in (
        ("train=1,test=x", "", []),
        ("training=1", "", []),
        ("train=0.5,train=0.5", "", []),
        ("train=1", "subtasks", []),
        ("", "value", []),
        ("train=0.8,test=0.2", "", ["application=notes"]),
        ("", "", ["app=notes"]),
        ("", "", ["scenario="]),
    ):
        with pytest.raises(SelectionInvalidError):
            parse_request(split, leak, held)
    assert parse_request("", "", []) is None


def test_tasks_that_hang_together_in_a_ring_are_parted_where_that_costs_little() -> None:
    keys = {
        f"task-{number}": frozenset(f"subtask {(number + place) % 60}" for place in range(1 + number % 4))
        for number in range(600)
    }

    division = divide(keys, SHARES)

    assert len(division.left_out) < 60
    total = sum(map(len, division.tasks.values()))
    assert all(len(division.tasks[name]) >= (SHARES[name] - TOLERANCE) * total for name in SPLITS)


@settings(max_examples=examples(30, 150))
@given(KEYS, st.integers(0, 3))
def test_no_task_is_left_out_that_only_one_set_has_things_of(
    keys: dict[str, frozenset[str]], seed: int
) -> None:
    division = divide(keys, SHARES, seed)

    owner = {key: name for name in SPLITS for task in division.tasks[name] for key in keys[task]}
    for task in division.left_out:
        assert len({owner[key] for key in keys[task] if key in owner}) > 1
