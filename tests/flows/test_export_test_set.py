"""A test set is exported after all of it was replayed; what works in no order stays out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from taskloom.flows.settings import Settings, load_settings
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.sets.selection import Selection
from taskloom.warehouse.store import Warehouse


def settings(data: Path) -> Settings:
    return load_settings(
        assignments=[
            "platform=simulated",
            "composition.count=6",
            "intents.wanted=2",
            "replay_share=0",
            "replay.components=false",
        ],
        data=data,
        applications=("simulated_notes",),
    )


@pytest.fixture
def built(prefect_home: Path, tmp_path: Path) -> Settings:
    from taskloom.flows.build_dataset import build_dataset

    chosen = settings(tmp_path / "data")
    asyncio.run(build_dataset(settings=chosen))
    return chosen


def replayed(chosen: Settings) -> set[str]:
    with Warehouse(chosen.warehouse_location, read_only=True) as store:
        return {str(row[0]) for row in store.query("SELECT DISTINCT task_id FROM replays").rows()}


@pytest.mark.slow
def test_all_of_a_test_set_is_replayed_once_and_what_fails_is_left_out(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.export_test_set import export_test_set
    from taskloom.synthesis.replay.replay import Replayer

    assert replayed(built) == set()
    with Warehouse(built.warehouse_location, read_only=True) as store:
        nodes = {
            task.task_id: {node.instance_id for node in task.graph.nodes}
            for task in store.read(Task, "status = 'validated'")
        }
    tasks = set(nodes)
    broken = {name for name in tasks if nodes[name] == nodes[min(tasks)]}
    perform = Replayer._perform

    async def sabotaged(self: Replayer, environment: Any, ordered: Any, performance: Any, slips: Any) -> None:
        await perform(self, environment, ordered, performance, slips)
        if {node.instance_id for node in ordered} == nodes[min(tasks)]:
            performance.failing = ordered[-1].instance_id

    monkeypatch.setattr(Replayer, "_perform", sabotaged)
    exported = asyncio.run(export_test_set(str(tmp_path / "out"), settings=built))
    assert (exported.replayed, exported.rejected) == (len(tasks), len(broken))
    assert exported.manifest.outcome.counts["tasks"] == len(tasks) - len(broken)
    assert replayed(built) == tasks
    manifest = json.loads(next((tmp_path / "out").glob("*manifest*.json")).read_text())
    assert not any(name in json.dumps(manifest["splits"]) for name in broken)
    again = asyncio.run(export_test_set(str(tmp_path / "again"), settings=built))
    assert (again.replayed, again.rejected) == (0, 0)
    for _ in range(2):
        named = asyncio.run(export_test_set(str(tmp_path / "{version}"), settings=built))
        assert named.manifest.files == exported.manifest.files and named.replayed == 0
    with Warehouse(built.warehouse_location, read_only=True) as store:
        assert (tmp_path / store.versions()[-1].name / "manifest.json").is_file()
    with pytest.raises(ExportRefusedError, match="exists already"):
        asyncio.run(export_test_set(str(tmp_path / "out"), "omnibench", Selection(size=1), settings=built))


def test_a_published_version_cannot_be_replayed(run: Callable[..., tuple[int, str, str]]) -> None:
    code, _, said = run("export", "omnibench", "--out", "x", "--replay-all", "--version", "v1")
    assert code == 2 and "exclude each other" in said
