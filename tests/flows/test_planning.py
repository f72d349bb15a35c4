"""`--dry-run`: calls, tokens and cost by stage, roughly at first, and from what the ledger has seen later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taskloom.cli.main import main
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.planning.planning import plan_run
from taskloom.flows.settings import load_settings
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.cli.test_calls_command import fill
from tests.model_clients.requests import KEY
from tests.servers.web_applications.catalogue import write_catalogue
from tests.synthesis.test_careless_model import careless, on_small_web_applications

_SPENT = "SELECT role, COUNT(*), SUM(input_tokens) FROM calls WHERE outcome = 'answered' GROUP BY role"
STAGES = [
    "exploration",
    "trajectories",
    "evaluation_functions",
    "intents",
    "instructions",
    "validation",
    "criticism",
]


def planned(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> dict[str, dict[str, object]]:
    model = "--set=models.default={provider: openai, model: m, prices: {input: 1, output: 2}}"
    with pytest.raises(SystemExit) as ended:
        main(
            ["build", "--data", str(data), "--set=platform=simulated", model, "--dry-run", "--json", *options]
        )
    assert not ended.value.code
    return {item["stage"]: item for item in json.loads(capsys.readouterr().out)["calls"]}


def test_a_plan_tells_calls_tokens_and_cost_of_every_stage_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned(capsys, tmp_path / "none", "--tasks=100")
    assert list(plan) == STAGES
    assert plan["instructions"]["calls"] == 120
    assert plan["criticism"]["calls"] == 10
    assert plan["instructions"]["cost_usd"] == pytest.approx(120 * (1500 + 2 * 300) / 1e6)
    assert not any(item["measured"] for item in plan.values())
    assert not (tmp_path / "none").exists()


def test_what_the_ledger_has_seen_takes_the_place_of_rough_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, ["a", "b", "c"])
    plan = planned(capsys, tmp_path, "--tasks=100")
    assert plan["instructions"]["measured"]
    assert (plan["instructions"]["calls"], plan["instructions"]["input_tokens"]) == (100, 10_000)
    assert not plan["validation"]["measured"]


def test_a_small_build_is_planned_with_its_core_alone(tmp_path: Path) -> None:
    small = {"platform": "simulated", "exploration": {"core_only": True}}
    whole, core = (
        plan_run(load_settings(data=tmp_path, **given), "verify_subtasks")
        for given in ({"platform": "simulated"}, small)
    )
    marked = [item for one in simulated_applications() for item in one.example_subtasks if item.core]
    assert core.subtasks == len(marked) < whole.subtasks


def test_no_more_tasks_are_planned_than_subtasks_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = planned(capsys, tmp_path / "none", "--tasks=5000")
    assert int(str(few["instructions"]["calls"])) < 5000
    fill(tmp_path, ["a", "b", "c"])
    fill(tmp_path, ["simulated_notes.write_note", "simulated_notes.copy_note"], ModelRole.EVALUATION_WRITER)
    measured = planned(capsys, tmp_path, "--tasks=5000")
    subtasks = sum(len(item.example_subtasks) for item in simulated_applications())
    assert measured["instructions"]["calls"] == round(1.5 * subtasks)


def test_subtasks_that_a_model_proposes_are_expected_to_link_less(tmp_path: Path) -> None:
    settings = load_settings(
        assignments=["applications=[watches]"],
        data=tmp_path,
        catalog=write_catalogue(tmp_path / "mine"),
        intents={"wanted": 10, "per_call": 10},
    )
    plan = plan_run(settings, "build_dataset")
    calls = {item.stage: item.calls for item in plan.calls}
    assert plan.subtasks == 12
    assert (calls["instructions"], calls["intents"]) == (17, 3)


def test_a_batch_is_planned_at_its_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    direct, batched = planned(capsys, tmp_path), planned(capsys, tmp_path, "--batch")
    assert batched["validation"]["cost_usd"] == pytest.approx(
        float(str(direct["validation"]["cost_usd"])) / 2
    )
    assert batched["trajectories"]["cost_usd"] == direct["trajectories"]["cost_usd"]


def test_a_plan_names_a_critic_that_judges_its_own_writing_and_has_none_offline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def assumed(*options: str) -> list[str]:
        with pytest.raises(SystemExit):
            main(
                [
                    "build",
                    "--data",
                    str(tmp_path),
                    "--set=platform=simulated",
                    "--dry-run",
                    "--json",
                    *options,
                ]
            )
        plan = json.loads(capsys.readouterr().out)
        assert ("criticism" in {item["stage"] for item in plan["calls"]}) == bool(options)
        return [item for item in plan["assumptions"] if "critic" in item]

    one, other = (f"{{provider: openai, model: {name}, prices: {{input: 1, output: 2}}}}" for name in "mn")
    assert assumed() == []
    (warning,) = assumed(f"--set=models.default={one}")
    assert warning.startswith("m may be the critic")
    assert assumed(f"--set=models.default={one}", f"--set=models.roles.critic.model={other}") == []


def test_a_plan_says_what_it_takes_for_granted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["build", "--data", str(tmp_path), "--set=platform=simulated", "--dry-run"])
    shown = capsys.readouterr().out
    assert "assumes: all input at the full price" in shown
    assert "assumes: 2 parameter sets a subtask" in shown
    assert "without curated ones" not in shown


@pytest.mark.slow
async def test_a_plan_is_within_a_quarter_of_a_run_that_the_ledger_has_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with EvaluationSandbox() as sandbox:
        async with careless(tmp_path) as (models, _, ledger):
            world = await on_small_web_applications(models, sandbox)
            spent = {
                str(role): (int(str(calls)), int(str(used))) for role, calls, used in ledger.select(_SPENT)
            }
        await world.environments.close()
    settings = load_settings(
        assignments=["applications=[watches, library]"],
        data=tmp_path,
        catalog=write_catalogue(tmp_path / "mine"),
        models={"default": {"provider": "openai", "model": "m", "prices": {"input": 1, "output": 2}}},
    )
    plan = plan_run(settings, "verify_subtasks")
    assert plan.subtasks == len(world.done)
    for item in plan.calls:
        calls, used = spent[item.role]
        assert item.measured
        assert item.calls == pytest.approx(calls, rel=0.25), item.role
        assert item.input_tokens == pytest.approx(used, rel=0.25), item.role
    assert "5 subtasks in each application without curated ones" in plan.describe()
    assert "as many as earlier explorations brought" in plan.describe()
