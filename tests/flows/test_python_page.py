"""The public Python interface: the examples of docs/python.md run, and the names are what the page says."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import taskloom
from taskloom.flows.stages.agents import recorded_parts
from taskloom.interface.dataset import Dataset
from taskloom.omnieval.agents import recorded
from taskloom.omnieval.brief import AgentBrief, AgentTask

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## (.*?)$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SETTINGS = "platform: simulated\ncomposition: {count: 30}\nintents: {wanted: 8}\nreplay_share: 0.2\n"


@pytest.fixture(scope="module")
def folder(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python")
    shutil.copytree(built_data, folder / "taskloom-data")
    (folder / "taskloom.yaml").write_text(SETTINGS, encoding="utf-8")
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    for name in ("DATA", "WAREHOUSE"):
        monkeypatch.delenv(f"TASKLOOM_{name}", raising=False)
    return folder


@pytest.fixture
def dataset(here: Path) -> Iterator[Dataset]:
    with taskloom.open_dataset() as opened:
        yield opened


@pytest.mark.parametrize("heading", EXAMPLES)
@pytest.mark.slow
def test_the_examples_of_the_page_run(here: Path, heading: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", EXAMPLES[heading], re.DOTALL)
    assert blocks
    names: dict[str, object] = {"taskloom": taskloom, "__name__": "__main__"}
    for block in blocks:
        exec(compile(block, f"docs/python.md, {heading}", "exec"), names)


def test_every_public_name_is_there_and_typed() -> None:
    assert len(taskloom.__all__) <= 25
    assert sorted(name for names in taskloom._MODULES.values() for name in names) == sorted(taskloom.__all__)
    for module, names in taskloom._MODULES.items():
        for name in names:
            assert getattr(taskloom, name) is getattr(import_module(module), name)
    assert f"{len(taskloom.__all__)} names" in PAGE
    with pytest.raises(AttributeError, match="no public name 'Warehouse'; it has: Agent"):
        taskloom.Warehouse  # noqa: B018


@pytest.mark.slow
def test_recorded_actions_earn_the_whole_coverage(dataset: Dataset) -> None:
    task = next(dataset.tasks("node_count >= 2"))
    with dataset.environment(task) as environment:
        observation, info = environment.reset()
        parts = recorded_parts(task, environment._place, environment._verified)
        told = AgentTask(task_id=task.task_id, instruction=task.instruction)
        agent = recorded.create(AgentBrief(task=told, recorded=parts, orders=task.successful_orders))
        total, ended = 0.0, False
        while not ended:
            decision = asyncio.run(agent.decide(task.instruction, observation, environment._caller.history))
            observation, reward, ended, truncated, info = environment.step(decision)
            total += reward
            assert not truncated
        assert total == pytest.approx(1)
        assert sorted(info["completed"]) == sorted(node.instance_id for node in task.graph.nodes)  # type: ignore[call-overload]
        with pytest.raises(taskloom.TaskloomError, match="has ended; call reset"):
            environment.step(taskloom.WaitInput(seconds=0))
        judged = environment.judge()
        assert judged.success and judged.steps == len(environment.recording.steps)
        environment.reset()
        assert not environment.judge().success


@pytest.mark.slow
def test_what_cannot_be_done_is_said(dataset: Dataset) -> None:
    with pytest.raises(taskloom.TaskloomError, match="no task named 'nothing'"):
        dataset.task("nothing")
    task = next(iter(dataset))
    with dataset.environment(task, step_limit=1) as environment:
        with pytest.raises(taskloom.TaskloomError, match="call reset"):
            environment.step({"operation": "wait"})
        environment.reset()
        with pytest.raises(taskloom.TaskloomError, match="this is not an action"):
            environment.step({"operation": "shout"})
        _, reward, terminated, truncated, info = environment.step(
            {"operation": "click_input", "control_label": "no such"}
        )
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert "no such" in str(info["problem"])
        assert environment.judge().outcome == "step_limit"
    environment.close()
    with pytest.raises(taskloom.TaskloomError, match="environment is closed"):
        environment.reset()


def test_a_dataset_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(taskloom.TaskloomError, match="There is no warehouse"):
        taskloom.open_dataset(tmp_path / "none")
