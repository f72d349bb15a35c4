from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskgraph.records.task import Task
from tests.warehouse.sample_parts import file_resource
from tests.warehouse.samples import records
from warehouse.errors import SelectionInvalidError
from warehouse.sets.dividing import SPLITS, apportion, divide
from warehouse.sets.splits import leakage, resembling

KEYS = st.dictionaries(
    st.integers(0, 200).map(lambda number: f"task-{number}"),
    st.frozensets(st.integers(0, 30).map(lambda number: f"subtask {number}"), min_size=1, max_size=5),
    min_size=1,
    max_size=60,
)
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}


@settings(max_examples=150)
@given(KEYS, st.integers(0, 3))
def test_no_key_stands_in_two_sets_and_no_task_is_lost(keys: dict[str, frozenset[str]], seed: int) -> None:
    division = divide(keys, SHARES, seed)  # type: ignore[arg-type]

    held = [{key for task in division.tasks[name] for key in keys[task]} for name in SPLITS]
    assert not held[0] & held[1] and not held[0] & held[2] and not held[1] & held[2]
    everything = [*division.left_out, *(task for members in division.tasks.values() for task in members)]
    assert sorted(everything) == sorted(keys)
    assert division == divide(keys, SHARES, seed)  # type: ignore[arg-type]


def test_separate_groups_are_dealt_out_without_loss() -> None:
    keys = {f"task-{number}": frozenset({f"subtask {number}"}) for number in range(100)}

    division = divide(keys, SHARES)  # type: ignore[arg-type]

    assert [len(division.tasks[name]) for name in SPLITS] == [80, 10, 10]
    assert not division.left_out


def test_a_connected_pool_still_gives_a_test_set() -> None:
    keys = {
        f"task-{number}": frozenset(f"subtask {(number * step) % 40}" for step in (1, 3, 7))
        for number in range(400)
    }

    division = divide(keys, SHARES)  # type: ignore[arg-type]

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

    division = divide(keys, SHARES)  # type: ignore[arg-type]

    assert all(division.tasks[name] for name in SPLITS)
    assert len(division.tasks["train"]) > len(division.tasks["test"])


@given(st.integers(0, 500), st.integers(0, 10), st.integers(0, 10))
def test_a_number_is_apportioned_without_rest(total: int, first: int, second: int) -> None:
    shares = {"train": (20 - first - second) / 20, "validation": first / 20, "test": second / 20}

    counts = apportion(total, shares)  # type: ignore[arg-type]

    assert sum(counts.values()) == total
    assert all(abs(counts[name] - total * shares[name]) < 1 for name in SPLITS)


def test_shares_must_add_up() -> None:
    with pytest.raises(SelectionInvalidError, match="add up"):
        divide({"a": frozenset({"x"})}, {"train": 0.5})


def test_the_report_finds_what_leaks() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    twin = task.model_copy(update={"task_id": "twin"})

    report = leakage(
        {"train": [task], "validation": [], "test": [twin]}, named_lists={"list": [task.instruction.upper()]}
    )

    kinds = {leak.kind for leak in report.leaks}
    assert kinds == {"subtask", "resource", "intent", "instruction"}
    assert report.checked["subtask"] == 2


def test_an_unrelated_list_is_no_leak() -> None:
    task = next(item for item in records() if isinstance(item, Task))

    report = leakage(
        {"train": [task]}, named_lists={"list": ["Open the browser and look up the weather in Oslo today"]}
    )

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
        ("graph", None, "subtask"),
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

    assert not leakage({"train": [task], "validation": [], "test": [other]}).leaks
    report = leakage({"train": [task], "validation": [], "test": [leaking]})

    assert {leak.kind for leak in report.leaks} == {kind}


def test_one_value_in_resources_of_two_categories_is_a_leak() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    other = altered(task, "other")
    node = other.graph.nodes[0].model_copy(update={"outputs": (file_resource("a.csv", "sheet_path"),)})
    other = other.model_copy(update={"graph": other.graph.model_copy(update={"nodes": (node,)})})

    report = leakage({"train": [task], "test": [other]})

    assert [(leak.kind, leak.value) for leak in report.leaks] == [("resource", "a.csv")]


def test_of_two_near_copies_the_one_in_the_larger_set_is_named() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    copy, further = altered(task, "copy", instruction=f"{task.instruction} Well."), altered(task, "further")

    (found,) = resembling({"train": [copy, further], "validation": [], "test": [task]})

    assert (found.value, found.found_in) == ("copy", ("train", "test: task-1"))
