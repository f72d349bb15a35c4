"""What is wrong with a run is said at once: before Prefect is imported or its server started."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from taskloom.cli.application_skeleton import running_entry, write_entry
from taskloom.flows import wiring
from taskloom.flows.errors import CommandError
from taskloom.flows.preflight import check_keys, check_settings, unpriced
from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.stages.agents import check_agent
from taskloom.flows.wiring import choose_applications
from taskloom.model_clients.errors import BudgetInvalidError, KeyMissingError
from taskloom.resources.errors import ExitCode
from tests.flows.test_environment_pool import IdleEnvironment, most_in_use

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TASKLOOM_DATA"):
        monkeypatch.delenv(name, raising=False)


def simulated(data: Path, *assignments: str) -> Settings:
    return load_settings(assignments=["platform=simulated", *assignments], data=data)


def test_a_budget_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BudgetInvalidError, match="'much'"):
        check_settings(simulated(tmp_path, "models.budget=much"))
    check_settings(simulated(tmp_path))


def test_an_application_with_one_state_for_everybody_is_used_by_one_environment(tmp_path: Path) -> None:
    entry = running_entry("board", "Board", "Office", "http://127.0.0.1:5000/")
    write_entry(tmp_path / "mine" / "applications" / "board.yaml", entry)

    def settings(*assignments: str) -> Settings:
        mine = ["applications=[board]", *assignments]
        return load_settings(assignments=mine, catalog=tmp_path / "mine", data=tmp_path)

    for several in ("environments=2", "fan_out.runner=dask"):
        with pytest.raises(CommandError, match=r"board already runs .* environments=1"):
            choose_applications(settings(several))
    assert list(choose_applications(settings("environments=1"))[0]) == ["board"]


async def test_what_has_one_state_for_everybody_is_leased_by_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "create_environment", lambda *_: IdleEnvironment())
    monkeypatch.setattr("taskloom.flows.settings.first_environments", lambda: 4)
    entry = running_entry("board", "Board", "Office", "http://127.0.0.1:5000/")
    write_entry(tmp_path / "mine" / "applications" / "board.yaml", entry)
    settings = load_settings(catalog=tmp_path / "mine", data=tmp_path)
    pool = wiring.environment_pool(settings, [wiring.catalogue(settings)["board"]])
    most = await most_in_use(pool, ["board"], 4)
    await pool.close()
    assert most == 1


@pytest.mark.parametrize("setting", ["critic.reject_below=3", "critic.minimum_mean={sense: 3}"])
def test_a_critic_that_is_to_decide_must_be_played(tmp_path: Path, setting: str) -> None:
    with pytest.raises(CommandError, match="name a model for the role critic"):
        check_settings(simulated(tmp_path, setting))
    model = "models.roles.critic.model={provider: openai, model: m}"
    check_settings(simulated(tmp_path, setting, model))


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    with pytest.raises(CommandError, match=r"data folder .*taken cannot be written: .*--data"):
        check_settings(simulated(tmp_path / "taken"))
    if os.geteuid():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        with pytest.raises(CommandError, match="cannot be written: Permission denied"):
            check_settings(simulated(locked))


OPENAI = ("models.default.provider=openai", "models.default.model=a")


def test_a_missing_key_is_named_unless_no_call_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyMissingError, match="OPENAI_API_KEY"):
        check_keys(simulated(tmp_path, *OPENAI))
    check_keys(simulated(tmp_path, *OPENAI, "models.replay=true"))
    check_keys(simulated(tmp_path, *OPENAI), ())
    check_keys(simulated(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    check_keys(simulated(tmp_path, *OPENAI))


@pytest.mark.parametrize("name", ["odd", "no_such_module:make", "os:no_such_function", ":make", "os:"])
def test_an_agent_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(CommandError, match="agent"):
        check_agent(name)
    check_agent("recorded")


def test_commands_say_so_before_anything_is_started(run: Run, tmp_path: Path) -> None:
    prefect_was_there = "prefect" in sys.modules
    common = ("--set", "platform=simulated", "--data", tmp_path / "data")
    code, _, said = run("build", *common, "--budget", "much")
    assert code == ExitCode.BAD_INPUT and "'much'" in said
    code, _, said = run("evaluate", *common, "--agent", "odd")
    assert code == ExitCode.BAD_INPUT and "'odd'" in said
    code, _, said = run("build", "--data", tmp_path / "data", "--applications", "drawio")
    assert code == ExitCode.MISSING_REQUIREMENT
    assert "drawio" in said and "not installed" in said
    assert not (tmp_path / "data" / "prefect").exists()
    assert prefect_was_there or "prefect" not in sys.modules


def test_an_application_that_cannot_be_looked_at_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows import wiring

    def looked_at(application: object, data: Path) -> str:
        if getattr(application, "name", "") == "simulated_mail":
            raise PermissionError(13, "Permission denied", str(data / "applications"))
        return ""

    monkeypatch.setattr(wiring, "missing_for_start", looked_at)
    present, absent = choose_applications(simulated(tmp_path))
    assert "simulated_notes" in present
    assert absent == {"simulated_mail": f"{tmp_path}/applications cannot be read: Permission denied"}


def test_models_without_a_price_are_named_before_the_run_and_no_budget_in_money_is_kept_with_them(
    tmp_path: Path,
) -> None:
    model = "models.default={provider: openai, model: no-such-model}"
    priced = "models.roles.critic.model={provider: openai, model: m, prices: {input: 1, output: 2}}"
    assert unpriced(simulated(tmp_path)) == ()
    assert unpriced(simulated(tmp_path, model, priced)) == ("openai/no-such-model",)
    assert unpriced(simulated(tmp_path, model, "models.budget=2Mtok")) == ("openai/no-such-model",)
    assert unpriced(simulated(tmp_path, model, "models.budget=5usd", "models.replay=true")) == ()
    with pytest.raises(BudgetInvalidError, match="no price is known for openai/no-such-model"):
        unpriced(simulated(tmp_path, model, "models.budget=5usd"))
