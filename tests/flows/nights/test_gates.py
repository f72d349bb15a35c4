"""What must hold of the next version, also against the one before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from taskloom.cli.main import create_app
from taskloom.flows.errors import CommandError
from taskloom.flows.nights.gates import gate_results, pass_gates
from taskloom.flows.settings import GateSettings
from taskloom.resources.errors import ExitCode
from taskloom.resources.record import Record
from taskloom.taskgraph.records.criticism import JudgeTrial
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Rejection, Replay, Task
from taskloom.warehouse.records import GateResult
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import version_figures
from tests.warehouse.samples import records

WORDS = [f"word{number}" for number in range(60)]
LIMITS = GateSettings(fewest_compared=2)
TASK = next(item for item in records() if isinstance(item, Task))


def tasks(count: int, start: int = 0, text: str = "") -> list[Record]:
    return [
        TASK.model_copy(
            update={"task_id": f"t{number}", "instruction": text or " ".join(Random(number).sample(WORDS, 7))}
        )
        for number in range(start, start + count)
    ]


def rejections(
    count: int, kind: str = "task", reason: str = "not_executable", stage: str = "replay"
) -> list[Record]:
    return [
        Rejection.model_validate(
            {
                "item_kind": kind,
                "item_id": f"{kind}{number}",
                "stage": stage,
                "reason": reason,
                "message": "m",
            }
        )
        for number in range(count)
    ]


def trials(count: int, noticed: bool, start: int = 0) -> list[Record]:
    return [
        JudgeTrial.model_validate(
            {
                "trial_id": f"j{number}",
                "task_id": "t0",
                "kind": "foreign_deed",
                "instruction": "i",
                "noticed": noticed,
                "findings": (),
            }
        )
        for number in range(start, start + count)
    ]


def replays(count: int, success: bool, start: int = 0) -> list[Record]:
    return [
        Replay(replay_id=f"r{number}", task_id="t0", order=(), success=success)
        for number in range(start, start + count)
    ]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of ten tasks, to be copied."""
    place = tmp_path_factory.mktemp("gates") / "warehouse"
    with Warehouse(place) as opened:
        opened.write([item for item in records() if not isinstance(item, Task | Replay | Rejection)])
        opened.write([*tasks(10), *trials(4, True), *replays(4, True)])
    return place


@pytest.fixture(scope="module")
def published_template(template: Path) -> Path:
    """The same, published as v1."""
    place = Path(shutil.copytree(template, template.with_name("published")))
    with Warehouse(place) as opened:
        opened.publish()
    return place


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse(Path(shutil.copytree(template, tmp_path / "warehouse"))) as opened:
        yield opened


@pytest.fixture
def published(published_template: Path, tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse(Path(shutil.copytree(published_template, tmp_path / "warehouse"))) as opened:
        yield opened


def failing(store: Warehouse, limits: GateSettings = LIMITS) -> dict[str, GateResult]:
    found = gate_results(store, limits, "run", Provenance(run_id="run"))
    return {item.gate: item for item in found if not item.held}


def test_a_first_version_has_nothing_to_be_compared_with(store: Warehouse) -> None:
    assert failing(store) == {}
    few = failing(store, GateSettings(fewest_tasks=11))
    assert few["fewest_tasks"].explanation == "10 validated tasks; gates.fewest_tasks is 11"


def test_the_same_again_and_more_of_it_passes(published: Warehouse) -> None:
    assert failing(published) == {}
    published.write([*tasks(10, 10), *trials(4, True, 4)])
    assert failing(published) == {}


def test_lost_tasks_and_subtasks_are_named_with_both_figures(published: Warehouse) -> None:
    gone = [item.model_copy(update={"status": "retired"}) for item in published.read(Task)][:3]
    functions = [item.model_copy(update={"accepted": False}) for item in published.read(EvaluationFunction)]
    published.write([*gone, functions[0]], replace=True)
    found = failing(published)
    assert sorted(found) == ["subtasks_lost", "tasks_lost"]
    lost = found["tasks_lost"]
    assert (lost.value, lost.previous, lost.previous_version, lost.gate_id) == (7, 10, "v1", "run/tasks_lost")
    assert lost.explanation == "7 validated tasks, 10 in v1: 30% fewer; gates.tasks_lost allows 10%"
    assert failing(published, GateSettings(tasks_lost=0.3, subtasks_lost=0.5)) == {}


@pytest.mark.parametrize(
    ("added", "gate"),
    [
        (rejections(5), "task_rejections"),
        pytest.param(rejections(5, "subtask"), "subtask_rejections", marks=pytest.mark.slow),
        pytest.param(trials(4, False, 4), "judge_misses", marks=pytest.mark.slow),
        pytest.param(replays(4, False, 4), "replay_failures", marks=pytest.mark.slow),
        (tasks(10, 10, "Do it again, and again, until all of it is done."), "variety_lost"),
    ],
)
def test_what_became_worse_since_the_version_before_fails_its_gate(
    published: Warehouse, added: list[Record], gate: str
) -> None:
    published.write(added)
    found = failing(published)
    assert list(found) == [gate]
    value, previous = found[gate].value, found[gate].previous
    assert value is not None and previous is not None and value > previous
    assert f"gates.{gate} allows" in found[gate].explanation and "v1" in found[gate].explanation
    assert failing(published, LIMITS.model_copy(update={gate: 1.0})) == {}
    assert failing(published, GateSettings()) == {}, "too few to compare with the usual limits"


def test_what_was_retired_is_not_counted_as_rejected(published: Warehouse) -> None:
    published.write(rejections(5, reason="subtask_retired", stage="recheck"))
    assert failing(published) == {}


def test_the_figures_of_a_version_stay_what_they_were(published: Warehouse) -> None:
    before = version_figures(published)
    published.write([*tasks(5, 10), *rejections(2)])
    assert version_figures(published, "v1") == before
    assert version_figures(published).tasks == before.tasks + 5


def test_a_version_without_a_table_counts_nothing_of_it(store: Warehouse) -> None:
    before = version_figures(store)
    store.change(lambda connection: connection.execute("DROP TABLE judge_trials"))
    assert before.judge_trials == 4
    assert version_figures(store) == before.model_copy(update={"judge_trials": 0, "judge_noticed": 0})


def test_by_hand_gates_decide_unless_they_are_overruled(store: Warehouse) -> None:
    limits = GateSettings(fewest_tasks=11)
    with pytest.raises(CommandError, match=r"gates\.fewest_tasks is 11.*--force") as refusal:
        pass_gates(store, limits)
    assert refusal.value.exit_code == ExitCode.GATE_FAILED
    assert store.count(GateResult) == 0
    assert pass_gates(store, limits, force=True) == ["10 validated tasks; gates.fewest_tasks is 11"]
    assert [item.gate for item in store.read(GateResult, "forced")] == ["fewest_tasks"]
    assert pass_gates(store, GateSettings()) == []


def test_the_command_publish_refuses_with_its_own_exit_code(
    store: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("TASKLOOM_GATES__FEWEST_TASKS", "11")
    app = create_app()
    refused = CliRunner().invoke(app, ["publish"])
    assert isinstance(refused.exception, CommandError)
    assert int(refused.exception.exit_code) == 6
    assert json.loads(CliRunner().invoke(app, ["versions", "--json"]).stdout or "[]") == []
    forced = CliRunner().invoke(app, ["publish", "--force"])
    assert forced.exit_code == 0
    assert "published v1" in forced.output and "published anyway: 10 validated" in forced.output
