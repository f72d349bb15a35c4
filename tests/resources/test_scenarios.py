"""Every set of application categories has exactly one scenario."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.reading.catalog import load_application_categories, load_scenarios
from taskloom.resources.scenarios import scenario_of


def test_the_papers_named_scenarios_are_found() -> None:
    scenarios = load_scenarios()
    assert scenario_of({"Multimedia Playback"}, scenarios).name == "Media Viewing"
    assert scenario_of({"Screen Capture"}, scenarios).name == "Screen Recording"
    both = {"Screen Capture", "Multimedia Editing"}
    assert scenario_of(both, scenarios).name == "Screen Recording Editing"


@given(st.lists(st.sampled_from(load_application_categories()), max_size=20), st.randoms())
def test_the_scenario_depends_on_the_set_alone(names: list[str], random: object) -> None:
    scenarios = list(load_scenarios())
    first = scenario_of(names, scenarios)
    random.shuffle(scenarios)  # type: ignore[attr-defined]
    assert scenario_of(sorted(set(names)), scenarios) == first
    if first.kind == "remainder":
        assert len(set(names)) != 1
    else:
        assert set(first.application_categories) == set(names)
