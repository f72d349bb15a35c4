"""One experiment over a scripted model of every format, each behind the same server."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings
from tests.model_clients.requests import KEY
from tests.omnieval.replies.said import SAID
from tests.omnieval.replies.test_formats import answer
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread


@pytest.mark.slow
def test_a_model_of_every_format_is_evaluated(
    built_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It clicks the middle of the screen, says something that is no action, and then that it is done."""
    from taskloom.flows.run_experiment import run_experiment

    monkeypatch.setenv("TEST_KEY", KEY)
    data = Path(shutil.copytree(built_data, tmp_path / "data"))

    with in_a_thread(LocalModelServer(answerer=answer, key=KEY)) as server:
        model = {"provider": "openai", "base_url": server.url, "api_key_variable": "TEST_KEY"}
        experiment = {
            "name": "formats",
            "agents": [{"agent": name, "model": {**model, "model": name}} for name in sorted(SAID)],
            "tasks": {"size": 1},
            "quiet_seconds": 0,
        }
        report = asyncio.run(run_experiment.fn(experiment, settings=whole_settings(data)))
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        runs = list(warehouse.read(AgentRun, "experiment_id = ?", [report.experiment_id]))
    assert {item.agent for item in runs} == SAID.keys()
    for item in runs:
        assert (item.termination, item.unusable_replies, item.calls) == ("finished", 1, 3), item
        assert item.input_tokens and item.provenance.model == item.agent
