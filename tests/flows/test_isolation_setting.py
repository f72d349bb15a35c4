"""Whether programs are shut in is a setting, and a run says when they were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.environments.machines import bubblewrap as confinement
from taskloom.flows import wiring
from taskloom.flows.errors import CommandError
from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.summary import RunSummary, why_unconfined
from taskloom.flows.wiring import create_environment, sandbox_settings
from taskloom.resources.errors import ExitCode


def test_one_setting_reaches_applications_and_evaluation_functions(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, isolation="never")
    environment = create_environment(settings, "web_browser")
    assert vars(environment)["_settings"].isolation == "never"
    assert sandbox_settings(settings).isolation == "never"


def test_unknown_isolation_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"isolation.*'automatic', 'always' or 'never'"):
        load_settings(assignments=["isolation=docker"])


def test_the_summary_says_why_nothing_was_shut_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_unconfined("never") == "the settings say isolation: never"
    monkeypatch.setattr(confinement, "bubblewrap_works", lambda: False)
    assert "not installed" in why_unconfined("automatic")
    monkeypatch.setattr(confinement, "bubblewrap_works", lambda: True)
    assert why_unconfined("automatic") == ""
    said = summary(why_unconfined("never")).describe()
    assert "Not confined: the settings say isolation: never." in said and "could have ignored it" in said
    assert "Not confined" not in summary("").describe()


def summary(unconfined: str) -> RunSummary:
    return RunSummary(
        run_id="r",
        flow="build_dataset",
        data="taskloom-data",
        warehouse="taskloom-data/warehouse",
        funnel=(),
        stage_seconds={},
        missing_applications={},
        unconfined=unconfined,
        model_calls=0,
        ledger_replies=0,
        cost_usd=0.0,
    )


@pytest.mark.parametrize(
    ("assignments", "works", "agent_acts", "refused"),
    [
        ([], False, False, False),
        ([], False, True, True),
        (["models.roles.actor.model={provider: openai, model: m}"], False, False, True),
        (["models.roles.actor.model={provider: openai, model: m}"], True, False, False),
        (["models.roles.actor.model={provider: openai, model: m}", "isolation=never"], False, True, False),
        (["models.roles.actor.model={provider: openai, model: m}", "platform=simulated"], False, True, False),
    ],
)
def test_a_model_acts_only_where_it_is_shut_in_or_the_risk_is_taken(
    monkeypatch: pytest.MonkeyPatch, assignments: list[str], works: bool, agent_acts: bool, refused: bool
) -> None:
    monkeypatch.setattr(wiring, "bubblewrap_works", lambda: works)
    settings = load_settings(assignments=assignments)
    if not refused:
        wiring.refuse_unconfined(settings, agent_acts=agent_acts)
        return
    with pytest.raises(CommandError, match=r"apt-get install bubblewrap.*isolation to 'never'") as refusal:
        wiring.refuse_unconfined(settings, agent_acts=agent_acts)
    assert refusal.value.exit_code == ExitCode.MISSING_REQUIREMENT
