"""What an application changes by itself is measured from idle recordings."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.platforms.simulated.platform import (
    SETTINGS,
    SimulatedEnvironment,
    SimulatedSettings,
    applications,
    create,
)
from taskloom.evaluators_api.state.effects import effects
from taskloom.resources.applications import Application, ExampleSubtask, WorkedStep
from taskloom.resources.assets import catalog_folder
from taskloom.resources.noise import NoisePlace
from taskloom.resources.reading.catalog import load_applications
from taskloom.synthesis.noise import noise
from taskloom.synthesis.noise.noise import (
    NoiseSettings,
    is_measured,
    keep,
    measure_noise,
    noise_id,
    opening_steps,
    read_kept,
    with_noise,
)
from taskloom.synthesis.noise.places import noise_places
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Observation, WaitInput
from taskloom.taskgraph.records.provenance import Provenance
from tests.evaluators_api.state.evidence import evidence
from tests.synthesis.visits import SHORT, visits


def feeds(**checked: int) -> str:
    return json.dumps([{"id": name, "title": name, "checked": at} for name, at in checked.items()])


def idle(start: dict[str, str], *ends: dict[str, str]) -> list[tuple[Evidence, Evidence]]:
    return [(evidence(start), evidence(end)) for end in ends]


def judged(start: dict[str, str], end: dict[str, str], places: tuple[NoisePlace, ...]) -> set[str]:
    """Kinds of what is left of the changes from `start` to `end`."""
    known = evidence(start).model_copy(update={"noise": places})
    return {item.kind for item in effects(known, evidence(end), {}, screen=False)}


def test_a_table_that_gains_rows_by_itself_may_gain_others_and_lose_none() -> None:
    places = noise_places(idle({"a.db": visits(1)}, {"a.db": visits(1, 2)}, {"a.db": visits(1, 3)}))
    assert [(item.address, item.kind) for item in places] == [(("visits", "rows", "*"), "added")]
    assert judged({"a.db": visits(1, 5)}, {"a.db": visits(1, 5, 6, 7)}, places) == set()
    assert judged({"a.db": visits(1, 5)}, {"a.db": visits(5)}, places) == {"removed"}


def test_a_field_that_changes_in_several_records_changes_in_all_and_no_other_field() -> None:
    places = noise_places(idle({"a.json": feeds(one=0, two=0)}, {"a.json": feeds(one=7, two=8)}))
    assert judged({"a.json": feeds(new=0)}, {"a.json": feeds(new=3)}, places) == set()
    renamed = feeds(new=0).replace('"title": "new"', '"title": "old"')
    assert judged({"a.json": feeds(new=0)}, {"a.json": renamed}, places) == {"changed"}


def test_a_field_that_changes_in_one_record_stands_for_itself() -> None:
    places = noise_places(idle({"a.json": feeds(one=0, two=0)}, {"a.json": feeds(one=7, two=0)}))
    assert judged({"a.json": feeds(one=0, two=0)}, {"a.json": feeds(one=1, two=0)}, places) == set()
    assert judged({"a.json": feeds(one=0, two=0)}, {"a.json": feeds(one=0, two=1)}, places) == {"changed"}


def test_a_log_grows_and_is_not_emptied() -> None:
    places = noise_places(idle({"a.log": "up\n"}, {"a.log": "up\nready\n"}))
    assert judged({"a.log": "up\n"}, {"a.log": "up\nx\ny\n"}, places) == set()
    assert judged({"a.log": "up\nready\n"}, {"a.log": "ready\n"}, places)


def test_files_with_another_name_at_each_start_are_one_path() -> None:
    places = noise_places(idle({}, {"state/run-17.pid": "1"}, {"state/run-204.pid": "1"}))
    assert places == (NoisePlace(container="state/run-*.pid", kind="added"),)
    assert judged({}, {"state/run-9.pid": "1"}, places) == set()
    assert judged({}, {"state/notes.txt": "1"}, places) == {"added"}


def test_what_always_has_the_same_name_stands_for_itself() -> None:
    both = {"state/a.txt": "1", "state/b.txt": "1"}
    assert {item.container for item in noise_places(idle({}, both, both))} == set(both)


def test_two_paths_without_a_common_part_are_no_pattern() -> None:
    found = noise_places(idle({}, {"one.txt": "1"}, {"other.txt": "1"}))
    assert {item.container for item in found} == {"one.txt", "other.txt"}


@given(
    st.dictionaries(st.sampled_from("abc"), st.text("xy\n", max_size=6)),
    st.lists(st.dictionaries(st.sampled_from("abc"), st.text("xy\n", max_size=6)), min_size=1, max_size=3),
)
def test_what_was_measured_is_no_effect_of_the_recordings_themselves(
    start: dict[str, str], ends: list[dict[str, str]]
) -> None:
    places = noise_places(idle(start, *ends))
    for end in ends:
        assert judged(start, end, places) == set()
    if all(end == start for end in ends):
        assert places == ()


async def test_an_application_is_started_and_left_alone() -> None:
    application = applications()[0]
    environment = create(SETTINGS())
    try:
        found = await measure_noise([application], environment, SHORT, Provenance())
        assert found.places == () and found.recordings == 2
        place = NoisePlace(container="a", kind="added")
        told = found.model_copy(update={"places": (place,)})
        await environment.reset([with_noise(application, [told])])
        assert (await environment.evidence()).noise == (place,)
    finally:
        await environment.close()


async def test_waiting_in_a_simulated_environment_is_no_waiting_for_the_clock() -> None:
    class Patient(SimulatedEnvironment):
        async def act(self, action: Action) -> Observation:
            waits.extend([action.seconds] if isinstance(action, WaitInput) else [])
            return await super().act(action)

    waits: list[float] = []
    environment = Patient(SimulatedSettings())
    try:
        settings = NoiseSettings(recordings=2, seconds=12)
        found = await measure_noise([applications()[0]], environment, settings, Provenance())
    finally:
        await environment.close()
    assert [round(seconds) for seconds in waits] == [5, 5, 2] * 2
    assert found.seconds == 12


class Opening(SimulatedEnvironment):
    """An application that writes something when its page is opened for the first time, which a reset does
    where it is in front; the other one writes as well."""

    def __init__(self) -> None:
        super().__init__(SimulatedSettings())
        self.shown: list[str] = []
        self.broken = ""

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        if self.broken == applications[0].name:
            raise EnvironmentBrokenError("It does not start.")
        self.shown = [applications[0].name]
        return await super().reset(applications, without=without)

    async def bring_to_front(self, application: str) -> Observation:
        self.shown.append(application)
        return await super().bring_to_front(application)

    async def evidence(self) -> Evidence:
        found = await super().evidence()
        made = {f".applications/{name}/opened.json": "{}" for name in self.shown}
        return found.model_copy(update={"files": (*found.files, *evidence(made).files)})


async def test_what_is_written_when_a_page_is_opened_for_the_first_time_is_noise() -> None:
    environment = Opening()
    application, other = applications()[:2]
    try:
        alone = await measure_noise([application], environment, SHORT, Provenance())
        assert alone.places == ()
        found = await measure_noise([application], environment, SHORT, Provenance(), other)
        place = NoisePlace(container=f".applications/{application.name}/opened.json", kind="added")
        assert found.places == (place,)
        environment.broken = other.name
        assert await measure_noise([application], environment, SHORT, Provenance(), other) == alone
    finally:
        await environment.close()


def test_what_was_measured_is_kept_beside_the_application_for_its_version_worlds_and_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = applications()[0]
    second = application.model_copy(update={"world": "bakery"})
    told = ApplicationNoise(
        noise_id=noise_id([application, second]), application=application.name, version=application.version
    )
    keep(tmp_path / "elsewhere", [told])
    assert read_kept(tmp_path / "elsewhere") == () == read_kept(tmp_path)
    keep(tmp_path, [told])
    assert read_kept(tmp_path) == (told,)
    assert told.noise_id != noise_id([application])
    assert told.noise_id != noise_id([application.model_copy(update={"version": "9"}), second])

    monkeypatch.setattr(noise, "_METHOD", "99")
    assert told.noise_id != noise_id([application, second])
    keep(tmp_path, read_kept(tmp_path))
    assert read_kept(tmp_path) == (), "measured in another way"
    (tmp_path / noise.NOISE_FILE).write_text("[")
    assert read_kept(tmp_path) == ()


def test_what_was_measured_of_another_version_or_in_another_way_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measured(entry: Application) -> ApplicationNoise:
        return ApplicationNoise(
            noise_id=noise_id([entry]),
            application=entry.name,
            version=entry.version,
            places=(NoisePlace(container="a", kind="added"),),
        )

    application = applications()[0]
    now = measured(application)
    assert with_noise(application, [now]).noise == now.places
    assert with_noise(application, [measured(application.model_copy(update={"version": "9.9"}))]).noise == ()
    monkeypatch.setattr(noise, "_METHOD", "99")
    assert with_noise(application, [now]).noise == ()


def test_what_looking_makes_in_several_folders_it_makes_in_any() -> None:
    def looked(*names: str) -> Evidence:
        seen = evidence({f"days/{name}/cache/{name}.bin": "1" for name in names})
        return seen.model_copy(update={"directories": tuple(f"days/{name}/cache" for name in names)})

    places = noise_places([(evidence({}), looked("work", "home"))] * 2)
    assert {item.container for item in places} == {"days/*/cache", "days/*/cache/*"}
    start = evidence({}).model_copy(update={"noise": places})
    assert effects(start, looked("garden"), {}, screen=False) == ()
    assert effects(start, evidence({"days/garden/title.txt": "1"}), {}, screen=False)


def test_an_application_is_opened_as_all_of_its_worked_examples_begin() -> None:
    application = applications()[0]
    steps = [WorkedStep(operation="keyboard_input", keys=keys) for keys in ("name", "word", "{what}")]
    one, other = (
        ExampleSubtask(
            name=name,
            instruction_template=f"{name} {{what}}",
            parameter_sets=({"what": "a"}, {"what": "b"}),
            worked_example=tuple(steps),
        )
        for name in ("add", "drop")
    )
    entry = application.model_copy(update={"example_subtasks": (one, other)})
    assert opening_steps(entry) == tuple(steps[:2])
    assert opening_steps(entry.model_copy(update={"example_subtasks": (one,)})) == ()


async def test_a_version_is_measured_once_for_the_worlds_it_was_measured_in() -> None:
    application = applications()[0]
    entries = [application, application.model_copy(update={"world": "bakery-1"})]
    environment = create(SETTINGS())
    try:
        found = await measure_noise(entries, environment, SHORT, Provenance())
    finally:
        await environment.close()
    assert is_measured(entries, [found]) and is_measured(entries[:1], [found])
    assert not is_measured([application.model_copy(update={"world": "shop-1"})], [found])
    assert not is_measured([application.model_copy(update={"version": "next"})], [found])
    assert not is_measured([applications()[1]], [found])
    assert not is_measured(entries, [])


def test_what_ships_was_measured_of_the_versions_that_ship_in_the_way_it_is_now() -> None:
    shipped = read_kept(catalog_folder())
    missing = [
        name
        for name, application in load_applications().items()
        if application.platform == "web_browser"
        and not is_measured([application, application.model_copy(update={"world": "bakery-1"})], shipped)
    ]
    assert not missing, "python -m benchmarks.measured_noise taskloom-data web_browser"
