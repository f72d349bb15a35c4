"""What measuring an agent costs beside the agent: `python -m benchmarks agent_harness`.

Four environments of the simulated platform at once, with pictures: the same actions done by calling the
environment directly (the baseline: act, look, evidence), and done by an agent of foreign code through the
episode loop with everything that guards it. Both in turns, in one process; the ratio of their steps a second
is the figure. A second figure is the processor time from the command to the first attempt, Python's start
included.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.run import Figure
from taskloom.environments.agent import Decision
from taskloom.environments.agents.guarding import GuardedAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import run_episode
from taskloom.environments.lookup import create_environment, platform
from taskloom.taskgraph.records.assignment import Assignment
from taskloom.taskgraph.records.interaction import ClickInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

SIDE_BY_SIDE = 4
_START = (
    "import taskloom.cli.commands.evaluate, taskloom.flows.experimenting.checking,"
    " taskloom.flows.run_experiment, taskloom.flows.steps, time; print(time.process_time())"
)


class Clicking:
    """Clicks the first control, so many times."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        if len(history) >= self.steps:
            return Decision(status="finish")
        return Decision(status="continue", action=ClickInput(control_label=observation.controls[0].label))


async def directly(environment: Environment, steps: int) -> None:
    """The actions without an agent."""
    observation = await environment.reset(platform("simulated").applications()[:1])
    for _ in range(steps):
        observation = await environment.act(ClickInput(control_label=observation.controls[0].label))
        await environment.evidence()


async def measured(environment: Environment, steps: int) -> None:
    """The actions as an attempt."""
    agent = GuardedAgent(lambda: Clicking(steps), apart=True)
    assignment = Assignment(instance_id="a", subtask_id="a", instruction="Click.")
    await run_episode(
        environment,
        agent,
        assignment=assignment,
        applications=platform("simulated").applications()[:1],
        step_limit=steps,
    )
    await agent.close()


async def rates(steps: int, rounds: int) -> tuple[list[float], list[float]]:
    """Steps a second of both, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        environments = [
            create_environment("simulated", {"temporary_folder": folder}) for _ in range(SIDE_BY_SIDE)
        ]
        found: tuple[list[float], list[float]] = ([], [])
        try:
            for _ in range(rounds + 1):
                for work, times in zip((directly, measured), found, strict=True):
                    began = time.perf_counter()
                    await asyncio.gather(*(work(item, steps) for item in environments))
                    times.append(SIDE_BY_SIDE * steps / (time.perf_counter() - began))
        finally:
            await asyncio.gather(*(item.close() for item in environments))
    return found[0][1:], found[1][1:]


def figures(quick: bool) -> list[Figure]:
    """The figures."""
    raw, ours = asyncio.run(rates(20 if quick else 60, 2 if quick else 5))
    ratio = statistics.median(b / a for a, b in zip(raw, ours, strict=True))
    started = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    begun = float(started.stdout)
    return [
        Figure(
            "steps a second of attempts, four environments at once",
            ratio,
            "of those without an agent",
            "0.9 or more",
            ratio >= 0.9,
            "the same environments called directly",
            f"{statistics.median(ours):.0f} instead of {statistics.median(raw):.0f} steps a second",
        ),
        Figure(
            "`taskloom evaluate` before its first attempt, imports",
            begun,
            "s of processor time",
            "under 5",
            begun < 5,
            note="no Prefect server is started unless PREFECT_API_URL names one",
        ),
    ]
