"""Deployments, and the limits that runs share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from taskloom.flows.running.environment_pool import EnvironmentPool
from taskloom.flows.settings import load_settings
from taskloom.flows.wiring import create_environment
from tests.conftest import Run


@pytest.mark.parametrize("command", ["serve", "setup-prefect"])
def test_without_a_server_nothing_is_scheduled(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    code, _, error = run(command)
    assert code == 4 and "export PREFECT_API_URL=" in error


def test_served_runs_need_an_absolute_data_folder(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    monkeypatch.delenv("TASKLOOM_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taskloom.yaml").write_text("data: here\nplatform: simulated\n")
    code, _, error = run("serve")
    assert code == 2 and "`data` is here" in error
    code, _, error = run("serve", "--export-format", "nothing")
    assert code == 2 and "--export-format is 'nothing'; choose from" in error


def test_there_is_a_limit_for_environments_and_one_for_each_key(prefect_home: Path) -> None:
    from taskloom.flows.deploying.prefect_setup import limits_of

    settings = load_settings(
        assignments=[
            "environments=6",
            "models.default={provider: openai, model: a}",
            "models.roles.actor.model={provider: anthropic, model: b, api_key_variable: TEAM_KEY}",
            "models.roles.actor.fallbacks=[{provider: openai, model: c}]",
            "models.limits={openai/a: {concurrency: 8}, openai/c: {concurrency: 16}}",
        ]
    )
    assert {item.name: item.limit for item in limits_of(settings)} == {
        "taskloom-environments-web_browser": 6,
        "taskloom-key-openai": 16,
        "taskloom-key-team-key": 32,
    }


async def test_joint_platforms_share_the_limits_of_those_that_they_join(
    prefect_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.deploying.prefect_setup import limits_of
    from taskloom.flows.running import shared_places

    taken: list[str] = []

    @asynccontextmanager
    async def concurrency(names: list[str]) -> AsyncIterator[None]:
        taken.extend(names)
        yield

    monkeypatch.setattr(shared_places, "concurrency", concurrency)
    settings = load_settings(assignments=["platform=simulated+web_browser"])
    async with shared_places.environment_place(settings.platform):
        assert taken == ["taskloom-environments-simulated", "taskloom-environments-web_browser"]
    assert [item.name for item in limits_of(settings)] == taken


def test_the_export_follows_the_nightly_build(prefect_home: Path) -> None:
    from taskloom.flows.deploying.serving import Schedule, deployments

    schedule = Schedule(
        "30 1 * * *", "Europe/Berlin", "/etc/taskloom.yaml", "/exported/{version}", "omnibench"
    )
    nightly, after = deployments(schedule)
    assert (nightly.name, nightly.parameters) == ("nightly", {"settings_file": "/etc/taskloom.yaml"})
    (planned,) = nightly.schedules
    assert (planned.schedule.cron, planned.schedule.timezone) == ("30 1 * * *", "Europe/Berlin")
    assert after.parameters["folder"] == "/exported/{version}"
    (trigger,) = after.triggers
    assert trigger.expect == {"prefect.flow-run.Completed"}
    assert len(deployments(Schedule("0 2 * * *", "UTC", "", "", "omnibench"))) == 1


async def test_a_leased_environment_holds_a_shared_place() -> None:
    held: list[str] = []

    @asynccontextmanager
    async def place(platform: str) -> AsyncIterator[None]:
        held.append(platform)
        yield
        held.remove(platform)

    def shared(platform: str) -> AbstractAsyncContextManager[None]:
        return place(platform)

    settings = load_settings(assignments=["platform=simulated"])
    pool = EnvironmentPool(lambda name: create_environment(settings, name), 2, shared)
    async with pool.lease("simulated", ["simulated_notes"]):
        assert held == ["simulated"]
    assert held == []
    await pool.close()
