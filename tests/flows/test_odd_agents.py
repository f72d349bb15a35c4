"""Agents that misbehave the way real ones do: each attempt ends by its own name, and the others go on."""

from __future__ import annotations

import asyncio
import gc
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from taskloom.environments.agent import Decision
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from tests.flows.conftest import whole_settings

WAIT = Decision(status="continue", action=WaitInput(seconds=0))
FINISH = Decision(status="finish")


class Raises:
    """In the middle, as a parser of answers does."""

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        if history:
            raise ValueError("could not parse the model's answer")
        return WAIT


class Nothing:
    async def decide(self, instruction: str, observation: Any, history: Any) -> None:
        return None


class Mapping:
    async def decide(self, instruction: str, observation: Any, history: Any) -> dict[str, str]:
        return {"status": "finish"}


class Outside:
    """Points outside of the screen, three times."""

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        if len(history) >= 3:
            return FINISH
        return Decision(status="continue", action=ClickInput(point=(5000, 9000)))


class OddKeys:
    """Presses Ctrl with a letter of another keyboard."""

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        if history:
            return FINISH
        return Decision(status="continue", action=KeyboardInput(keys="^é"))


class Hangs:
    """Its server never answers."""

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        await asyncio.sleep(100_000)
        return FINISH


class Blocks:
    """Written without `await`."""

    def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        time.sleep(0.1)
        return FINISH


class Pries:
    """Searches all that it is given for functions, graphs, evidence, recordings and files of others."""

    def __init__(self, task: Any, seed: int, settings: Any) -> None:
        self.given = [task, seed, settings]

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        for value in _reachable([*self.given, instruction, observation, history]):
            if type(value).__name__ in HIDDEN or (isinstance(value, str) and "EvalResult" in value):
                raise ValueError(f"found a {type(value).__name__}: {value!r:.200}")
        return FINISH if history else WAIT


HIDDEN = {
    "AgentBrief", "AttemptJudge", "EvaluationFunction", "Fixture", "FileState", "GuardedAgent", "RoleModels",
    "RecordedPart", "Settings", "Task", "TaskGraph", "Trajectory", "VerifiedSubtask", "Workplace",
}  # fmt: skip


def _reachable(given: list[Any]) -> Iterator[Any]:
    """Every value that leads from one to the next, but for code."""
    seen: set[int] = set()
    left = list(given)
    while left:
        value = left.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType):
            continue
        seen.add(id(value))
        yield value
        left += gc.get_referents(value)


class FirstFails:
    """The first that is made fails, the others stop at once."""

    made = 0

    def __init__(self) -> None:
        FirstFails.made += 1
        self.bad = FirstFails.made == 1

    async def decide(self, instruction: str, observation: Any, history: Any) -> Decision:
        if self.bad:
            raise ValueError("could not parse the model's answer")
        return FINISH


ENDS = {
    Raises: {"agent_error"},
    Nothing: {"unusable_replies"},
    Mapping: {"failed"},
    Outside: {"failed"},
    OddKeys: {"failed"},
    Hangs: {"out_of_time"},
    Blocks: {"failed"},
    Pries: {"failed"},
    FirstFails: {"agent_error", "failed"},
}


@pytest.fixture(scope="module")
def attempted(built_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[AgentRun]]:
    """The attempts of all of them in one experiment, by agent; their recordings were kept."""
    from taskloom.flows.run_experiment import run_experiment

    data = Path(shutil.copytree(built_data, tmp_path_factory.mktemp("odd") / "data"))
    experiment = {
        "name": "odd",
        "agents": [{"agent": f"{__name__}:{kind.__name__}", "name": kind.__name__} for kind in ENDS],
        "tasks": {"where": "node_count >= 2", "size": 2},
        "limits": {"decision_seconds": 5},
        "quiet_seconds": 0,
    }
    report = asyncio.run(run_experiment.fn(experiment, settings=whole_settings(data)))
    assert (report.attempts, report.wanted, report.invalid, report.holds) == (
        2 * len(ENDS),
        2 * len(ENDS),
        0,
        True,
    )
    said = "Raises, an agent error in 2 attempts: ValueError: could not parse the model's answer (test_"
    assert any(line.startswith(said) for line in report.remarks)
    found: dict[str, list[AgentRun]] = defaultdict(list)
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        for run in warehouse.read(AgentRun, "experiment_id = 'odd'"):
            found[run.agent].append(run)
        kept = {item.trajectory_id for item in warehouse.read(Trajectory)}
    assert {run.trajectory_id for runs in found.values() for run in runs} <= kept
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(ENDS), ids=lambda kind: kind.__name__)
def test_every_attempt_counts_and_ends_by_its_own_name(
    attempted: dict[str, list[AgentRun]], kind: type[object]
) -> None:
    runs = attempted[kind.__name__]
    assert len(runs) == 2
    assert {run.end for run in runs} == ENDS[kind]
    assert not any(run.success or run.completed for run in runs)


@pytest.mark.slow
def test_what_went_wrong_is_said(attempted: dict[str, list[AgentRun]]) -> None:
    (raised, _), (nothing, _) = attempted["Raises"], attempted["Nothing"]
    assert "ValueError: could not parse the model's answer (test_odd_agents.py, line" in raised.message
    assert raised.steps == 1
    assert "NoneType" in nothing.message and nothing.unusable_replies == 3
    assert {run.refused_actions for run in attempted["Outside"]} == {3}
    assert all("within 5 s" in run.message for run in attempted["Hangs"])
