"""The end of a run names what was left out, and proposes only what can be done next."""

import pytest

from flows.summaries.summary import FunnelRow, RunSummary


def summary(flow: str = "build_dataset", **reached: int) -> RunSummary:
    return RunSummary(
        run_id="r",
        flow=flow,
        data="taskloom",
        warehouse="taskloom/warehouse",
        funnel=tuple(FunnelRow(step=name.replace("_", " "), items=count) for name, count in reached.items()),
        stage_seconds={},
        missing_applications={"zotero": "application_unavailable: port 8080 never opened"},
        model_calls=0,
        ledger_replies=0,
        cost_usd=0,
    )


def test_a_run_without_results_leads_to_the_reasons_and_not_to_an_export() -> None:
    text = summary(tasks_validated=0).describe()
    assert "taskloom sql rejections" in text
    assert "export" not in text and "report" not in text
    assert "zotero: application_unavailable: port 8080 never opened" in text


@pytest.mark.parametrize(
    ("flow", "step", "next_command"),
    [
        ("build_dataset", "tasks_validated", "taskloom export hugging_face"),
        ("verify_subtasks", "subtasks_verified", "taskloom compose"),
        ("explore_applications", "subtasks_proposed", "taskloom sql funnel"),
    ],
)
def test_a_run_with_results_leads_on(flow: str, step: str, next_command: str) -> None:
    text = summary(flow, **{step: 3}).describe()
    assert next_command in text and "rejections" not in text
