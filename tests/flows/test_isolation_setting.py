"""Whether programs are shut in is a setting, and a run says when they were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from environments.machines import bubblewrap as confinement
from flows.settings import Settings, load_settings
from flows.summaries.summary import RunSummary, why_unconfined
from flows.wiring import create_environment, sandbox_settings


def test_one_setting_reaches_applications_and_evaluation_functions(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, isolation="none")
    environment = create_environment(settings, "web_browser")
    assert vars(environment)["_settings"].isolation == "none"
    assert sandbox_settings(settings).isolation == "none"


def test_unknown_isolation_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"isolation.*'automatic', 'bubblewrap' or 'none'"):
        load_settings(assignments=["isolation=docker"])


def test_the_summary_says_why_nothing_was_shut_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_unconfined("none") == "the settings say isolation: none"
    monkeypatch.setattr(confinement, "bubblewrap_works", lambda: False)
    assert "not installed" in why_unconfined("automatic")
    monkeypatch.setattr(confinement, "bubblewrap_works", lambda: True)
    assert why_unconfined("automatic") == ""
    said = summary(why_unconfined("none")).describe()
    assert "Not shut in: the settings say isolation: none." in said and "could have ignored it" in said
    assert "Not shut in" not in summary("").describe()


def summary(unconfined: str) -> RunSummary:
    return RunSummary(
        run_id="r",
        flow="build_dataset",
        data="taskloom",
        warehouse="taskloom/warehouse",
        funnel=(),
        stage_seconds={},
        missing_applications={},
        unconfined=unconfined,
        model_calls=0,
        ledger_replies=0,
        cost_usd=0.0,
    )
