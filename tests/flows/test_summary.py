"""The end of a run names what was left out, and proposes only what can be done next."""

from pathlib import Path

import pytest

from taskloom.flows.summary import FunnelRow, PairMeasurements, RunSummary
from taskloom.taskgraph.measures.acceptance_rates import acceptance_report
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome


def summary(flow: str = "build_dataset", **reached: int) -> RunSummary:
    return RunSummary(
        run_id="r",
        flow=flow,
        data="taskloom-data",
        warehouse="taskloom-data/warehouse",
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


def test_error_rates_are_told_or_said_to_be_unknown() -> None:
    verdict = JudgedOutcome(
        outcome_id="1",
        case_id="empty",
        subtask_id="a.b",
        application="a",
        kind="empty",
        right=False,
        accepted=False,
        function_id="f",
    )
    known = summary().model_copy(update={"error_rates": acceptance_report([verdict])})

    assert "not known: no labelled outcome" in summary().describe()
    assert "wrong work rejected  100.0 % (20.7 to 100.0 %, 1 of 1)" in known.describe()


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


def test_measured_pairs_are_told_with_those_that_never_worked() -> None:
    def text(pairs: PairMeasurements) -> str:
        return summary("verify_subtasks", subtasks_verified=3).model_copy(update={"pairs": pairs}).describe()

    assert "Orders of two subtasks" not in summary("verify_subtasks").describe()
    none = text(PairMeasurements(observations=0))
    assert "nothing left to measure" in none and "0 orders never worked" in none
    many = text(PairMeasurements(observations=40, clashes=tuple(f"a.y{n} after a.x" for n in range(12))))
    assert "40 observations" in many and "12 orders never worked" in many
    assert "a.y9 after a.x" in many and "a.y10 after a.x" not in many
    assert "taskloom sql orders" in many


def test_a_gate_that_does_not_hold_becomes_an_event(prefect_home: Path) -> None:
    from prefect.events.clients import AssertingEventsClient
    from prefect.events.worker import EventsWorker

    from taskloom.flows.hosting import emit_gate_failure

    kept = summary(tasks_validated=3).model_copy(update={"not_published": "fewer tasks than before"})
    AssertingEventsClient.reset()
    EventsWorker.set_client_override(AssertingEventsClient)
    try:
        emit_gate_failure(kept)
        EventsWorker.instance().drain()
    finally:
        EventsWorker.set_client_override(None)
    sent = [event for client in AssertingEventsClient.all for event in client.events]
    (event,) = [event for event in sent if event.event.startswith("taskloom.")]
    assert event.event == "taskloom.gate-failed" and event.resource.id == "taskloom.run.r"
    assert event.payload["message"] == "fewer tasks than before"


def test_the_price_of_a_run_is_one_line() -> None:
    costs = {"browsers": 354.2, "taskloom": 140.0}
    paid = summary().model_copy(update={"core_seconds": costs, "newly_verified": 35})
    assert "494 core-seconds (browsers 354, taskloom 140); 14.1 per subtask verified" in paid.describe()
    assert "core-seconds" not in summary().describe()


def test_tasks_that_the_pool_cannot_supply_are_told_with_the_reason_and_what_to_do() -> None:
    short = summary("compose_tasks", tasks_validated=3).model_copy(
        update={"not_composed": ("163 of all cells: a thorough search found no more.",)}
    )

    assert "163 of all cells: a thorough search" in short.describe()
    assert "taskloom plan" in short.describe()
    assert "taskloom plan" not in summary("compose_tasks", tasks_validated=3).describe()
