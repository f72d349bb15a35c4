"""What a run tells others: alerts at an address, log lines."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.setting_groups.watching_settings import WatchingSettings
from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.watching.alerts import Alerts
from taskloom.flows.watching.run_logs import RUN_LOG, logged
from taskloom.flows.watching.watched import check_watching, watched
from taskloom.taskgraph.records.task import Rejection


class Collector(ThreadingHTTPServer):
    """Keeps what is posted to it, by path."""

    def __init__(self, status: int = 200) -> None:
        self.posted: defaultdict[str, list[bytes]] = defaultdict(list)
        self.status = status
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted[self.path].append(body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    collector = Collector(status)
    serving = threading.Thread(target=collector.serve_forever, daemon=True)
    serving.start()
    try:
        yield collector
    finally:
        collector.shutdown()
        collector.server_close()
        serving.join()


def settings(data: Path, *more: str) -> Settings:
    return load_settings(
        assignments=[
            "platform=simulated",
            "composition.count=4",
            "intents.wanted=2",
            "replay_share=1",
            "watching.alert_variable=ALERTS_GO_TO",
            *more,
        ],
        data=data,
        applications=("simulated_notes",),
    )


async def build(chosen: Settings) -> None:
    from taskloom.flows.build_dataset import build_dataset

    await build_dataset(settings=chosen)


def alerts_at(collector: Collector) -> list[dict[str, str]]:
    return [json.loads(body) for body in collector.posted["/alerts"]]


@pytest.mark.slow
def test_a_budget_that_is_reached_is_told(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("ALERTS_GO_TO", f"{collector.address}/alerts")
        with pytest.raises(Exception, match="is used up"):
            asyncio.run(build(settings(tmp_path, "models.budget=2000tok")))
    (alert,) = alerts_at(collector)
    assert alert["event"] == "taskloom.budget-reached" and alert["flow"] == "build_dataset"
    assert "2000tok of the run is used up" in alert["message"] and alert["run_id"]


@pytest.mark.slow
def test_a_build_has_lines_as_json(
    prefect_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("ALERTS_GO_TO", f"{collector.address}/alerts")
        asyncio.run(build(settings(tmp_path, "watching.logs=json")))
    assert alerts_at(collector) == []
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert {"run begins", "run completed", "stage ended"} <= {line["message"] for line in lines}
    assert len({line["run_id"] for line in lines}) == 1


async def test_a_provider_that_pauses_is_told_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from taskloom.flows.wiring import open_run

    with collecting() as collector:
        monkeypatch.setenv("ALERTS_GO_TO", f"{collector.address}/alerts")
        async with open_run(settings(tmp_path), "verify_subtasks", quiet=True) as run, watched(run):
            run.calls.counters.pauses["openai"] = "ten failures in a row"
            while not alerts_at(collector):
                await asyncio.sleep(0.05)
    assert [(alert["event"], alert["subject"]) for alert in alerts_at(collector)] == [
        ("taskloom.provider-paused", "openai")
    ]


async def test_a_gate_that_does_not_hold_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from taskloom.flows.wiring import open_run

    with collecting() as collector:
        monkeypatch.setenv("ALERTS_GO_TO", f"{collector.address}/alerts")
        async with open_run(settings(tmp_path), "build_dataset", quiet=True) as run, watched(run):
            failed = Rejection(
                item_kind="dataset_version",
                item_id=run.run_id,
                stage="validation",
                reason="judge_not_good_enough",
                message="the judge noticed 3 of 10 spoilt instructions",
                provenance=run.provenance("validation"),
            )
            await run.recorder.record(failed)
    (alert,) = alerts_at(collector)
    assert (alert["event"], alert["subject"]) == ("taskloom.gate-failed", "judge_not_good_enough")
    assert "3 of 10 spoilt instructions" in alert["message"]


async def test_what_cannot_be_delivered_is_logged_without_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with collecting(status=500) as collector:
        refused = Alerts("r", "f", f"{collector.address}/secret-part", events=False)
        await refused.tell("budget-reached", "the budget is used up")
    gone = Alerts("r", "f", f"{collector.address}/secret-part", events=False)
    await gone.tell("budget-reached", "the budget is used up")
    assert caplog.text.count("an alert could not be posted") == 2
    assert "secret-part" not in caplog.text + repr(gone)


async def test_each_thing_is_told_once() -> None:
    with collecting() as collector:
        alerts = Alerts("r", "f", f"{collector.address}/alerts", events=False)
        for subject in ("openai", "openai", "anthropic"):
            await alerts.tell("provider-paused", "it pauses", subject)
    assert [alert["subject"] for alert in alerts_at(collector)] == ["openai", "anthropic"]


def test_an_alert_becomes_an_event_of_prefect(prefect_home: Path) -> None:
    from prefect.events.clients import AssertingEventsClient
    from prefect.events.worker import EventsWorker

    AssertingEventsClient.reset()
    EventsWorker.set_client_override(AssertingEventsClient)
    try:
        asyncio.run(Alerts("run-1", "build_dataset", "", events=True).tell("gate-failed", "too few tasks"))
        EventsWorker.instance().drain()
    finally:
        EventsWorker.set_client_override(None)
    sent = [event for client in AssertingEventsClient.all for event in client.events]
    (event,) = [event for event in sent if event.event.startswith("taskloom.")]
    assert event.event == "taskloom.gate-failed" and event.resource.id == "taskloom.run.run-1"
    assert event.payload["message"] == "too few tasks"


def test_an_address_that_is_not_there_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALERTS_GO_TO", raising=False)
    with pytest.raises(CommandError, match="set ALERTS_GO_TO"):
        check_watching(WatchingSettings(alert_variable="ALERTS_GO_TO"))
    monkeypatch.setenv("ALERTS_GO_TO", "file:///etc/passwd")
    with pytest.raises(CommandError, match="begins with http"):
        check_watching(WatchingSettings(alert_variable="ALERTS_GO_TO"))


@pytest.mark.parametrize("how", ["text", "json"])
def test_log_lines_hold_their_fields(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with logged(how, "run-1"):
        RUN_LOG.info("stage ended", extra={"fields": {"stage": "replay", "done": 3}})
        logging.getLogger("somebody.else").info("not shown")
    RUN_LOG.info("not shown either")
    (line,) = capsys.readouterr().err.splitlines()
    if how == "json":
        shown = json.loads(line)
        assert (shown["message"], shown["run_id"], shown["done"]) == ("stage ended", "run-1", 3)
    else:
        assert line.endswith("info    stage ended stage=replay done=3")
