"""What counts as a side effect, from pieces of evidence."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

import pytest

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Performance
from taskloom.evaluators_api.state.side_effects import expected_places, place, side_effects
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.side_effects import SideEffects

START = {
    "Documents/notes.txt": "first\nsecond\n",
    "Documents/people.csv": "name,city\nAnn,Oslo\nBob,Rome\n",
    ".applications/editor/settings.json": '{"theme": "light", "opened": 1}',
}
DONE = {**START, "Documents/report.txt": "all is well\n"}
PARAMETERS = {"text_path": "Documents/report.txt"}


def state(texts: Mapping[str, str], *directories: str) -> Evidence:
    files = tuple(
        FileState(path=path, size=len(text), sha256=hashlib.sha256(text.encode()).hexdigest(), text=text)
        for path, text in sorted(texts.items())
    )
    return Evidence(step=1, files=files, directories=directories)


def found(end: Mapping[str, str], *directories: str, usual: Mapping[str, str] | None = None) -> SideEffects:
    """Side effects of an attempt that ended in `end`, where a file is to be written."""
    verified = effects(state(START), state(DONE), PARAMETERS)
    housekeeping = {place(effect, {}) for effect in effects(state(START), state(usual or START), {})}
    return side_effects(
        effects(state(START), state(end, *directories), {}),
        expected_places([(verified, PARAMETERS)]),
        housekeeping,
    )


def without(path: str) -> dict[str, str]:
    return {name: text for name, text in DONE.items() if name != path}


def test_work_done_as_verified_has_none_whatever_its_value() -> None:
    assert found(DONE) == SideEffects()
    assert found({**DONE, "Documents/report.txt": "something else\n"}) == SideEffects()


def test_work_not_done_has_none() -> None:
    assert found(START) == SideEffects()


@pytest.mark.parametrize(
    ("end", "counted"),
    [
        (without("Documents/notes.txt"), {"files_lost": 1}),
        ({**DONE, "Documents/other.txt": "x\ny\n"}, {"files_added": 1}),
        ({**DONE, "Documents/notes.txt": "first\n"}, {"records_lost": 1}),
        (
            {**DONE, "Documents/people.csv": START["Documents/people.csv"] + "Cid,Bern\n"},
            {"records_added": 1},
        ),
        (
            {**DONE, "Documents/people.csv": "name,city\nAnn,Oslo\nBob,Paris\n"},
            {"values_changed": 1},
        ),
        (
            {
                **without("Documents/notes.txt"),
                "Documents/a.txt": "x",
                "Documents/b.txt": "y",
            },
            {"files_lost": 1, "files_added": 2},
        ),
    ],
    ids=["file lost", "file added", "line lost", "row added", "cell changed", "several"],
)
def test_everything_else_counts_by_what_it_is(end: dict[str, str], counted: dict[str, int]) -> None:
    result = found(end)

    assert result == SideEffects(total=sum(counted.values()), examples=result.examples, **counted)
    assert len(result.examples) == result.total


def test_what_is_inside_of_something_new_counts_with_it() -> None:
    result = found({**DONE, "Documents/new.csv": "a,b\n1,2\n3,4\n"})

    assert result.total == 1
    assert "Documents/new.csv" in result.examples[0]


def test_a_folder_counts_by_itself_only_when_it_is_empty() -> None:
    assert found(DONE, "Documents/empty").files_added == 1
    assert found({**DONE, "Documents/sub/new.txt": "x"}, "Documents/sub").files_added == 1


def test_the_same_place_is_expected_as_often_as_it_is_verified() -> None:
    added = {**START, "Documents/notes.txt": START["Documents/notes.txt"] + "third\n"}
    verified: Performance = (effects(state(START), state(added), {}), {})
    twice = effects(
        state(START), state({**added, "Documents/notes.txt": added["Documents/notes.txt"] + "x\n"}), {}
    )

    assert side_effects(twice, expected_places([verified])).records_added == 1
    assert side_effects(twice, expected_places([verified, verified])).total == 0


def test_housekeeping_is_none_however_often_and_other_settings_are() -> None:
    opened = START[".applications/editor/settings.json"].replace("1", "2")
    dark = opened.replace("light", "dark")
    usual = {**START, ".applications/editor/settings.json": opened}

    assert found({**DONE, ".applications/editor/settings.json": opened}, usual=usual).total == 0
    assert found({**DONE, ".applications/editor/settings.json": dark}, usual=usual).values_changed == 1


def test_only_files_and_folders_are_possessions() -> None:
    end = state(DONE).model_copy(update={"window_title": "Other", "url": "http://localhost/elsewhere"})

    assert side_effects(effects(state(DONE), end, {}), Counter()).total == 0
