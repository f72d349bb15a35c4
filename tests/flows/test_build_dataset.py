"""The whole chain on the simulated platform: what comes out, going on, and mistakes."""

import asyncio
import shutil
from pathlib import Path

import pytest

from taskloom.flows import wiring
from taskloom.flows.settings import Settings
from taskloom.flows.summary import RunSummary
from taskloom.offline.models import OfflineRules
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.prompts.replies import EvaluationWriterReply, SummarizerReply
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings
from tests.synthesis.mistakes import TOO_EARLY, MistakenRules


def build(chosen: Settings) -> RunSummary:
    from taskloom.flows.build_dataset import build_dataset

    summary = asyncio.run(build_dataset(settings=chosen))
    assert isinstance(summary, RunSummary)
    return summary


def reached(summary: RunSummary) -> dict[str, int]:
    return {row.step: row.items for row in summary.funnel if not row.reason}


@pytest.fixture(scope="module")
def first(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunSummary]:
    data = tmp_path_factory.mktemp("data")
    shutil.copytree(built_data, data, dirs_exist_ok=True)
    return data, RunSummary.model_validate_json((data / "summary.json").read_text())


@pytest.mark.slow
def test_a_run_ends_with_validated_tasks_and_a_version(first: tuple[Path, RunSummary]) -> None:
    data, summary = first
    steps = reached(summary)
    assert steps["subtasks verified"] >= 8
    assert steps["tasks validated"] >= 20
    assert steps["tasks replayed"] >= 1
    assert summary.exit_code == 0
    with Warehouse(data / "warehouse", version=summary.version) as store:
        tasks = list(store.read(Task, "status = 'validated'"))
        calls = store.query("SELECT count(*) FROM model_calls").scalar()
    assert calls == summary.model_calls > len(tasks)
    assert len(tasks) == steps["tasks validated"] == steps["tasks covered by replays"]
    assert all(task.simulated and task.instruction and task.successful_order_count for task in tasks)


@pytest.mark.slow
def test_a_second_run_verifies_nothing_again_and_makes_other_tasks(
    first: tuple[Path, RunSummary],
) -> None:
    data, summary = first
    before = reached(summary)
    again = build(whole_settings(data))
    after = reached(again)
    assert after["subtasks verified"] == before["subtasks verified"]
    with Warehouse(data / "warehouse", read_only=True) as store:
        stages = {
            str(row[0])
            for row in store.query(
                "SELECT DISTINCT stage FROM model_calls WHERE run_id = ?", [again.run_id]
            ).rows()
        }
        doubled = store.query("SELECT count(*) - count(DISTINCT task_id) FROM tasks").scalar()
    assert "trajectories" not in stages
    assert doubled == 0
    assert after["tasks composed"] >= before["tasks composed"]
    assert again.version != summary.version


@pytest.mark.slow
def test_mistakes_made_on_purpose_do_not_reach_the_dataset(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt: list[object] = []

    class SpoiltRules(OfflineRules):
        def answer(self, question: PromptInput[Reply], attempt: int = 0) -> Reply:
            rules = OfflineRules(self.applications, self.categories)
            reply, mistake = MistakenRules(rules, 0.3).answer(question, attempt)
            spoilt.extend([reply] if mistake else [])
            return reply

    rules = wiring.offline_rules(whole_settings(tmp_path))
    monkeypatch.setattr(wiring, "offline_rules", lambda _: SpoiltRules(rules.applications, rules.categories))
    assert reached(build(whole_settings(tmp_path)))["tasks validated"] >= 10
    assert len(spoilt) > 20
    with Warehouse(tmp_path / "warehouse", read_only=True) as store:
        accepted = [
            str(row[0])
            for row in store.query("SELECT DISTINCT trajectory_id FROM verifications WHERE accepted").rows()
        ]
        performed = [item for item in store.read(Trajectory) if item.trajectory_id in accepted]
        functions = [item.source for item in store.read(EvaluationFunction, "accepted")]
        told = [item.instruction for item in store.read(Task, "status = 'validated'")]
    assert not [item for item in performed if item.steps[-1].thought == TOO_EARLY]
    assert not [
        item
        for item in spoilt
        if (isinstance(item, EvaluationWriterReply) and item.source in functions)
        or (isinstance(item, SummarizerReply) and item.instruction in told)
    ]


@pytest.mark.slow
def test_a_proposal_that_a_stopped_run_left_is_decided_by_the_next(built_data: Path, tmp_path: Path) -> None:
    from taskloom.flows.build_dataset import verify_subtasks

    shutil.copytree(built_data, tmp_path, dirs_exist_ok=True)
    with Warehouse(tmp_path / "warehouse") as store:
        known = next(store.read(Subtask, "application = 'simulated_notes'"))
        left = known.model_copy(
            update={
                "subtask_id": "simulated_notes.left_over",
                "origin": "proposed",
                "instruction_template": f"Once more: {known.instruction_template}",
                "provenance": known.provenance.model_copy(update={"run_id": "0"}),
            }
        )
        store.write([left])
    asyncio.run(verify_subtasks(settings=whole_settings(tmp_path)))
    with Warehouse(tmp_path / "warehouse", read_only=True) as store:
        decided = store.query(
            "SELECT (SELECT count(*) FROM evaluation_functions WHERE subtask_id = $name)"
            " + (SELECT count(*) FROM rejections WHERE item_id = $name)",
            {"name": left.subtask_id},
        ).scalar()
    assert decided
