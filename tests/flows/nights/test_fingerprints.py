"""What makes an application new to a night."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.flows.nights.choices import describe_changes, fingerprint_of
from taskloom.flows.settings import Settings, load_settings
from tests.synthesis.simulated_world import APPLICATIONS

NOTES = APPLICATIONS["simulated_notes"]
SERVED = ("models.roles.explorer.model.provider=openai", "models.roles.explorer.model.model=m")


def settings(data: Path, *assignments: str) -> Settings:
    return load_settings(assignments=["platform=simulated", *assignments], data=data)


def test_an_application_that_did_not_change_has_the_same_fingerprint(tmp_path: Path) -> None:
    one = fingerprint_of(NOTES, settings(tmp_path))
    other = fingerprint_of(NOTES.model_copy(), settings(tmp_path, "environments=1", "composition.count=9"))
    assert describe_changes(one, other) == []


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"version": "2.0"}, f"version {NOTES.version} became 2.0"),
        ({"manual": "Click Save."}, "another manual"),
        ({"example_subtasks": ()}, "another catalogue entry"),
    ],
)
def test_what_changed_of_an_application_is_named(
    tmp_path: Path, update: dict[str, object], said: str
) -> None:
    chosen = settings(tmp_path)
    before = fingerprint_of(NOTES, chosen)
    assert describe_changes(before, fingerprint_of(NOTES.model_copy(update=update), chosen)) == [said]


def test_another_model_is_another_exploration_and_so_are_other_settings(tmp_path: Path) -> None:
    before = fingerprint_of(NOTES, settings(tmp_path))
    served = describe_changes(before, fingerprint_of(NOTES, settings(tmp_path, *SERVED)))
    assert [item.split()[0] for item in served] == ["other", "models"]
    assert "openai/m" in served[1]
    longer = fingerprint_of(NOTES, settings(tmp_path, "exploration.subtasks_per_application=99"))
    assert describe_changes(before, longer) == ["other settings"]


def test_a_new_shortage_asks_a_model_again_once_and_never_a_rule(tmp_path: Path) -> None:
    offline, served = settings(tmp_path), settings(tmp_path, *SERVED)
    before = fingerprint_of(NOTES, served)
    short = fingerprint_of(NOTES, served, ["nothing reads csv_path"])
    assert describe_changes(before, short) == ["composition is short of something else"]
    assert describe_changes(short, fingerprint_of(NOTES, served, ["nothing reads csv_path"])) == []
    assert describe_changes(short, before) == []
    deaf = settings(tmp_path, *SERVED, "nights.explore_for_shortage=false")
    for chosen in (offline, deaf):
        assert (
            describe_changes(fingerprint_of(NOTES, chosen), fingerprint_of(NOTES, chosen, ["nothing"])) == []
        )
