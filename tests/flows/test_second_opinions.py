"""A critic's verdicts and people's scores of the attempts of an experiment, beside the functions."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings
from tests.servers.models.behaviour import WireCall
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread

KEY = "sk-test-8d1f60b72c"


@pytest.fixture(scope="module")
def attempted(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with an experiment in which one agent succeeds and one gets half-way."""
    from taskloom.flows.run_experiment import run_experiment

    data = Path(shutil.copytree(built_data, tmp_path_factory.mktemp("opinions") / "data"))
    experiment = {
        "name": "seen",
        "agents": [
            "recorded",
            {"agent": "recorded", "name": "forgets", "settings": {"fault": "forgets_branch"}},
        ],
        "tasks": {"where": "node_count >= 3", "size": 2},
        "quiet_seconds": 0,
    }
    asyncio.run(run_experiment.fn(experiment, settings=whole_settings(data)))
    return data


def rows_of(folder: str, table: str) -> list[list[str]]:
    lines = (Path(folder) / "tables" / f"{table}.csv").read_text(encoding="utf-8").splitlines()
    return [line.split(",") for line in lines[1:]]


@pytest.mark.slow
def test_a_critic_is_asked_once_and_its_agreement_with_the_functions_is_shown(
    attempted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.experimenting.judging_again import ask_critic

    asked: list[str] = []

    def verdict(call: WireCall) -> str:
        """Right about both agents but for one attempt that succeeded."""
        asked.append(call.turns[0])
        done = len([line for line in call.turns[0].splitlines() if line[:1].isdigit()])
        return json.dumps({"done": done >= most, "reason": "Counted."})

    monkeypatch.setenv("CRITIC_KEY", KEY)
    with Warehouse(attempted / "warehouse", read_only=True) as warehouse:
        runs = list(warehouse.read(AgentRun, "experiment_id = 'seen'"))
    most = max(run.steps for run in runs if run.success)
    agreeing = sum((run.steps >= most) == run.success for run in runs)
    with in_a_thread(LocalModelServer(answerer=verdict, key=KEY)) as server:
        model = f"{{provider: openai, model: m, base_url: '{server.url}', api_key_variable: CRITIC_KEY}}"
        settings = whole_settings(attempted, f"models.roles.critic.model={model}")
        report = asyncio.run(ask_critic(settings, "seen"))
        assert len(asked) == len(runs) == 4
        asyncio.run(ask_critic(settings, "seen"))
    assert len(asked) == 4
    assert all("evaluat" not in text and "check_" not in text for text in asked)
    (whole, *_) = [row for row in rows_of(report.folder, "second_opinions") if "all agents" in row]
    assert whole[-4:-2] == ["4", f"{100 * agreeing / 4:.1f}"]
    assert "Cohen" in (Path(report.folder) / "report.html").read_text(encoding="utf-8")
    with Warehouse(attempted / "warehouse", read_only=True) as warehouse:
        said = list(warehouse.read(AgentScore, "metric = 'critic'"))
        spent = warehouse.query("SELECT sum(calls) FROM agent_runs WHERE experiment_id = 'seen'").scalar()
    assert {item.provenance.model for item in said} == {"m"} and spent == 0


@pytest.mark.slow
def test_a_copied_data_folder_keeps_its_reports_to_itself(attempted: Path, tmp_path: Path) -> None:
    from taskloom.flows.experimenting.judging_again import import_human_scores

    copied = Path(shutil.copytree(attempted, tmp_path / "copied"))
    with Warehouse(copied / "warehouse", read_only=True) as warehouse:
        attempt = next(warehouse.read(AgentRun)).agent_run_id
    scores = tmp_path / "people.csv"
    scores.write_text(f"attempt,completion\n{attempt},50\n")
    report = import_human_scores(whole_settings(copied), "seen", scores)
    assert Path(report.folder).is_relative_to(copied)


@pytest.mark.slow
def test_people_are_compared_with_both_metrics(attempted: Path, tmp_path: Path) -> None:
    from taskloom.flows.experimenting.judging_again import import_human_scores

    with Warehouse(attempted / "warehouse", read_only=True) as warehouse:
        runs = list(warehouse.read(AgentRun, "experiment_id = 'seen'"))
    lines = ["attempt,annotator,completion,alignment"]
    for run in runs:
        lines += [f"{run.agent_run_id},{who},{round(100 * run.coverage_rate) - 10 * who}%," for who in (0, 1)]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    report = import_human_scores(whole_settings(attempted), "seen", file)
    (row,) = [row for row in rows_of(report.folder, "second_opinions") if "coverage rate" in row[0] + row[1]]
    assert row[-1] == "1.00" and "4" in row
    page = (Path(report.folder) / "report.html").read_text(encoding="utf-8")
    assert "people (Figure 5), r = 1.00" in page and page.count("<circle") == 4
    with Warehouse(attempted / "warehouse", read_only=True) as warehouse:
        known = {
            item.agent_run_id: item for item in warehouse.read(AgentScore, "metric = 'human_completion'")
        }
    for run in runs:
        assert known[run.agent_run_id].value == pytest.approx(run.coverage_rate - 0.05, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("attempt,completion\nnothing,50", r"line 2: there is no attempt 'nothing' in seen"),
        ("attempt,completion\n{0},much", "line 2: completion is 'much'; it must be a percentage"),
        ("attempt,alignment\n{0},101", "line 2: alignment is '101'"),
        ("name,completion\n{0},1", "has the columns name, completion; it needs attempt"),
        ("", "has the columns none"),
    ],
)
def test_scores_that_cannot_be_meant_are_refused(
    attempted: Path, tmp_path: Path, text: str, message: str
) -> None:
    from taskloom.flows.experimenting.judging_again import import_human_scores

    with Warehouse(attempted / "warehouse", read_only=True) as warehouse:
        first = next(warehouse.read(AgentRun, "experiment_id = 'seen'")).agent_run_id
    file = tmp_path / "scores.csv"
    file.write_text(text.format(first), encoding="utf-8")
    with pytest.raises(CommandError, match=message):
        import_human_scores(whole_settings(attempted), "seen", file)
    with pytest.raises(CommandError, match="there is no experiment 'other'; known: seen"):
        import_human_scores(whole_settings(attempted), "other", file)


@pytest.mark.slow
def test_without_a_model_there_is_no_critic(attempted: Path) -> None:
    from taskloom.flows.experimenting.judging_again import ask_critic

    with pytest.raises(CommandError, match=r"models\.roles\.critic"):
        asyncio.run(ask_critic(whole_settings(attempted), "seen"))
