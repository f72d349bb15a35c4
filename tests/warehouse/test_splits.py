from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskgraph.task import Task
from tests.warehouse.samples import records
from warehouse.errors import SelectionInvalid
from warehouse.splits import SPLITS, divide, leakage

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


def test_shares_must_add_up() -> None:
    with pytest.raises(SelectionInvalid, match="add up"):
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
