"""What was measured to change by itself is no change; names decide nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.evaluators_api.state.effects import changed_paths, effects
from taskloom.evaluators_api.state.noise import Noise
from taskloom.resources.noise import NoisePlace
from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.state.evidence import evidence

TABLES = ("training_sessions", "sessions", "cache", "orders_fts", "session_attribute")
PATHS = ("a.log", "x.tmp", "notes.db-journal", ".cache/a.txt", ".applications/x/.hidden", "logs/a.txt")


def table(name: str, *rows: int) -> str:
    head = f'CREATE TABLE "{name}"("id" PRIMARY KEY, "at"); -- {len(rows)} rows\n'
    return head + "".join(f"INSERT INTO \"{name}\" VALUES({row},'x');\n" for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_rows_lost_and_added_are_effects_whatever_the_table_is_called(name: str) -> None:
    start = evidence({".applications/x/a.db": table(name, 1, 2)})
    lost = evidence({".applications/x/a.db": table(name, 1)})
    more = evidence({".applications/x/a.db": table(name, 1, 2, 3)})
    assert [item.kind for item in effects(start, lost, {})] == ["removed"]
    assert {item.kind for item in effects(start, more, {})} == {"added"}
    assert find_side_effects(start, lost, []).records_lost == 1


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_changed_is_an_effect_whatever_it_is_called(path: str) -> None:
    assert changed_paths(evidence({path: "a"}), evidence({path: "b"})) == (path,)


def test_two_rows_with_an_old_and_a_new_price_are_two() -> None:
    head = "item,old_price,new_price\n"
    start, end = evidence({"a.csv": head}), evidence({"a.csv": f"{head}tea,1,2\ntea,2,3\n"})
    assert find_side_effects(start, end, []).records_added == 2


@pytest.mark.parametrize("value", ["2026-11-25 16:40:00", "1795402302", "20261122081519669"])
def test_a_time_that_somebody_typed_is_a_change(value: str) -> None:
    start, end = evidence({"a.json": '{"due": ""}'}), evidence({"a.json": f'{{"due": "{value}"}}'})
    assert find_side_effects(start, end, []).values_changed == 1


def noisy(state: Evidence, *places: NoisePlace) -> Evidence:
    return state.model_copy(update={"noise": places})


def test_only_the_measured_kind_at_the_measured_place_is_noise() -> None:
    grows = NoisePlace(container="a.db", address=("visits", "rows", "*"), kind="added")
    counted = NoisePlace(container="a.db", address=("visits", "count"), kind="changed")
    start = noisy(evidence({"a.db": table("visits", 1)}), grows, counted)
    assert effects(start, evidence({"a.db": table("visits", 1, 2)}), {}) == ()
    assert changed_paths(start, evidence({"a.db": table("visits", 1, 2)})) == ()
    assert effects(start, evidence({"a.db": table("visits", 2)}), {})
    assert effects(start, evidence({}), {})


def test_folders_and_files_with_made_up_names() -> None:
    places = (
        NoisePlace(container="state/run-*.pid", kind="added"),
        NoisePlace(area="directory", container="state/*", kind="added"),
    )
    start = noisy(evidence({}), *places)
    end = evidence({"state/run-17.pid": "1"}).model_copy(update={"directories": ("state", "state/x", "y")})
    assert effects(start, end, {}, screen=False)[0].container == "state"
    assert [item.container for item in effects(start, end, {}) if item.area == "directory"] == ["state", "y"]
    assert changed_paths(start, evidence({"state/run/1.pid": "1"})) == ("state/run/1.pid",)


@given(st.lists(st.text(min_size=1, max_size=4), max_size=4), st.text(max_size=4))
def test_a_place_covers_itself_and_what_is_inside_and_no_sibling(address: list[str], other: str) -> None:
    noise = Noise([NoisePlace(container="a", address=tuple(address), kind="added")])
    assert noise.covers("file", "a", (*address, other), "added")
    assert not noise.covers("file", "b", address, "added")
    assert not noise.covers("file", "a", address, "removed")
    if address and "*" not in address and other != address[-1]:
        assert not noise.covers("file", "a", (*address[:-1], other), "added")
