"""A week of nights on the simulated platform, with a clock: a new application, drift, an outage and a cut
budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from pydantic import JsonValue

from taskloom.environments.platforms.simulated.applications import APPLICATIONS
from taskloom.flows.nights.run_reports import RunReport, run_reports
from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.summary import RunSummary
from taskloom.model_clients.errors import BudgetExhaustedError, ProviderDownError
from taskloom.warehouse.store import Warehouse
from tests.flows.nights.test_nights import OtherNotes
from tests.flows.overheard import OverheardAnswers
from tests.servers.models.behaviour import Behaviour, WireCall
from tests.servers.models.server import LocalModelServer

pytestmark = pytest.mark.slow

MONDAY = datetime(2026, 11, 2, 2, tzinfo=UTC)
KEY_VARIABLE = "WEEK_KEY"
FIRST = ("simulated_files", "simulated_notes", "simulated_tables")
USUAL = (
    "platform=simulated",
    "composition.count=8",
    "intents.wanted=3",
    "replay_share=0",
    "nights.enabled=true",
    "nights.recheck_share=0.5",
)


@dataclass
class Week:
    """One dataset, its provider and its clock."""

    data: Path
    url: str
    today: int = 0
    minutes: int = 0
    reports: dict[int, RunReport] = field(default_factory=dict)

    def time(self) -> datetime:
        """A minute later each time that somebody asks."""
        self.minutes += 1
        return MONDAY + timedelta(days=self.today - 1, minutes=self.minutes)

    def settings(self, *assignments: str, budget: str = "") -> Settings:
        served: dict[str, JsonValue] = {
            "roles": {
                "summarizer": {
                    "model": {
                        "provider": "openai",
                        "model": "m",
                        "base_url": self.url,
                        "api_key_variable": KEY_VARIABLE,
                    }
                }
            },
            "retries": {
                "first_wait_seconds": 0.01,
                "longest_wait_seconds": 0.02,
                "pause_seconds": 0.02,
                "longest_pause_seconds": 0.02,
                "longest_outage_seconds": 0.1,
            },
            **({"budget": budget} if budget else {}),
        }
        return load_settings(assignments=[*USUAL, *assignments], data=self.data, models=served)

    async def night(self, day: int, *assignments: str, budget: str = "") -> RunSummary:
        from taskloom.flows.build_dataset import build_dataset

        self.today, self.minutes = day, 0
        with patch("taskloom.flows.running.clock.datetime") as clock:
            clock.now.side_effect = lambda _: self.time()
            summary = await build_dataset(settings=self.settings(*assignments, budget=budget))
        assert isinstance(summary, RunSummary) and summary.report is not None
        return summary

    def told(self) -> list[RunReport]:
        with Warehouse(self.data / "warehouse", read_only=True) as store:
            return run_reports(store)

    def versions(self) -> list[tuple[str, str, str]]:
        with Warehouse(self.data / "warehouse", read_only=True) as store:
            return [(item.name, item.parent, item.run_id) for item in store.versions()]

    def tasks(self, version: str = "") -> dict[str, str]:
        with Warehouse(self.data / "warehouse", read_only=True, version=version or None) as store:
            rows = [tuple(row) for row in store.query("SELECT task_id, status FROM tasks").rows()]
        assert len(rows) == len({row[0] for row in rows}), "no task is there twice"
        return {str(name): str(status) for name, status in rows}

    def asked(self, sql: str) -> set[str]:
        with Warehouse(self.data / "warehouse", read_only=True) as store:
            return {str(row[0]) for row in store.query(sql).rows()}


async def test_every_version_and_decision_of_a_week(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "none")
    down: list[str] = []
    script: Callable[[int, WireCall], Behaviour] = lambda number, call: (  # noqa: E731
        Behaviour("status", status=503) if down else Behaviour()
    )
    answers = OverheardAnswers(monkeypatch, load_settings(assignments=["platform=simulated"], data=tmp_path))
    async with LocalModelServer(script, answers) as server:
        week = Week(tmp_path / "data", server.url)
        three, four = f"applications=[{', '.join(FIRST)}]", f"applications=[{', '.join(APPLICATIONS)}]"

        # Monday: everything is new.
        monday = await week.night(1, three)
        assert monday.report is not None and monday.exit_code == 0
        assert monday.report.explored == FIRST
        assert all(item.reason.startswith("it is new") for item in monday.report.choices)
        assert monday.report.rechecks == () and monday.report.validated == 8
        assert week.versions() == [("v1", "", monday.run_id)]

        # Tuesday: nothing is new, and that is no failure.
        tuesday = await week.night(2, three)
        assert tuesday.report is not None and tuesday.report.nothing_new and tuesday.exit_code == 0
        assert tuesday.report.explored == () and tuesday.report.model_calls == 0
        first_half = {item.subtask_id for item in tuesday.report.rechecks}
        assert len(first_half) == 5 and {item.outcome for item in tuesday.report.rechecks} == {"holds"}
        assert len(week.versions()) == 1

        # Wednesday: an application was added, and is the only one that is explored.
        wednesday = await week.night(3, four)
        assert wednesday.report is not None and wednesday.exit_code == 0
        assert wednesday.report.explored == ("simulated_mail",)
        assert all(name.startswith("simulated_mail.") for name in wednesday.report.verified)
        other_half = {item.subtask_id for item in wednesday.report.rechecks}
        assert first_half.isdisjoint(other_half), "the other half had its turn"
        assert wednesday.report.composed == 0, "the quota is met"
        assert week.versions()[1:] == [("v2", "v1", wednesday.run_id)]

        # Thursday: the notes editor changed without a new version. What no longer replays is retired, tasks
        # that need it too, others take their place; and because too many subtasks were lost, the version
        # before stays the newest.
        monkeypatch.setitem(APPLICATIONS, "simulated_notes", OtherNotes)
        thursday = await week.night(4, four)
        assert thursday.report is not None
        lost = set(thursday.report.retired_subtasks)
        assert lost == {f"simulated_notes.{name}" for name in ("append_line", "paste_note", "write_note")}
        rechecked = {item.subtask_id for item in thursday.report.rechecks}
        assert "simulated_notes.copy_note" in rechecked, (
            "one failed, so all of its application were performed"
        )
        assert thursday.report.explored == ("simulated_notes",) and not thursday.report.verified
        assert thursday.report.retired_tasks == list(week.tasks().values()).count("retired") > 0
        assert all(
            "no longer does what it did" in reason for reason in thursday.report.retired_subtasks.values()
        )
        assert "of its subtasks no longer replay" in str(thursday.report.choices)
        needed = "SELECT subtask_id FROM task_subtasks JOIN tasks USING (task_id) WHERE status = 'validated'"
        assert not week.asked(needed) & lost, "nothing is composed from it again"
        assert not week.asked("SELECT subtask_id FROM evaluation_functions WHERE accepted") & lost
        retired = {name for name, status in week.tasks().items() if status == "retired"}
        assert week.asked("SELECT item_id FROM rejections WHERE reason = 'subtask_retired'") == retired
        assert week.asked("SELECT items FROM funnel WHERE step = 'tasks retired'") == {str(len(retired))}
        assert thursday.report.validated == thursday.report.retired_tasks, "others took their place"
        (failed,) = [item for item in thursday.report.gates if not item.held]
        assert (failed.gate, failed.value, failed.previous, failed.previous_version) == (
            "subtasks_lost",
            10,
            13,
            "v2",
        )
        assert thursday.exit_code == 6 and not thursday.version and len(week.versions()) == 2
        assert "10 verified subtasks, 13 in v2: 23% fewer" in thursday.describe()
        assert set(week.tasks("v2").values()) == {"validated"}, "a published version never changes"

        # Friday: someone accepts the loss and wants more tasks, but the provider is down.
        friday = (four, "composition.count=12", "gates.subtasks_lost=0.3")
        down.append("since midnight")
        with pytest.raises(ProviderDownError):
            await week.night(5, *friday)
        assert week.told()[-1].status == "interrupted" and len(week.versions()) == 2
        down.clear()

        # Saturday: the provider is back, and the budget was cut.
        with pytest.raises(BudgetExhaustedError):
            await week.night(6, *friday, budget="1ktok")
        assert week.told()[-1].status == "budget_exhausted" and len(week.versions()) == 2
        assert len(week.told()) == 5, "Saturday went on with Friday's run"

        # Sunday: there is money again, and Friday's run comes to its end.
        sunday = await week.night(7, *friday)
        assert sunday.report is not None and sunday.exit_code == 0
        assert sunday.run_id.startswith("20261106-") and sunday.report.explored == ()
        assert week.versions()[2:] == [("v3", "v2", sunday.run_id)]
        assert list(week.tasks("v3").values()).count("validated") == 12

        told = week.told()
        assert [item.run_id[:8] for item in told] == [
            "20261102",
            "20261103",
            "20261104",
            "20261105",
            "20261106",
        ]
        assert [item.outcome for item in told] == [
            "published v1",
            "nothing new",
            "published v2",
            "not published: subtasks_lost",
            "published v3",
        ]
