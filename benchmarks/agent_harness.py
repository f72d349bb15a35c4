"""What measuring an agent costs beside the agent: `python -m benchmarks agent_harness`.

Four environments at once, with pictures: the same actions done by calling the environment directly (the
baseline: act, look, evidence), and done by an agent of foreign code through the episode loop with everything
that guards it. Both in turns, in one process; the ratio of their steps a second is the figure, once for
Chromium, and once for the simulated platform, whose steps take a millisecond, so that the harness shows. A
last figure is the processor time from the command to the first attempt, Python's start included.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.run import Figure, NotMeasuredError
from taskloom.environments.agent import Decision
from taskloom.environments.agents.guarding import GuardedAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import run_episode
from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.lookup import create_environment, platform
from taskloom.resources.applications import Application, Launch
from taskloom.taskgraph.records.assignment import Assignment
from taskloom.taskgraph.records.interaction import ClickInput, Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

SIDE_BY_SIDE = 4
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>Page</title>"
    '<button onclick="this.textContent=+this.textContent+1">0</button>'
)
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


async def directly(environment: Environment, application: Application, steps: int) -> None:
    """The actions without an agent."""
    observation = await environment.reset([application])
    for _ in range(steps):
        observation = await environment.act(ClickInput(control_label=observation.controls[0].label))
        await environment.evidence()


async def measured(environment: Environment, application: Application, steps: int) -> None:
    """The actions as an attempt."""
    agent = GuardedAgent(lambda: Clicking(steps), apart=True)
    assignment = Assignment(instance_id="a", subtask_id="a", instruction="Click.")
    await run_episode(
        environment,
        agent,
        assignment=assignment,
        applications=[application],
        step_limit=steps,
    )
    await agent.close()


def page(folder: str) -> Application:
    """A page with a button that changes when it is clicked."""
    (Path(folder) / "site").mkdir()
    (Path(folder) / "site" / "index.html").write_text(_PAGE, encoding="utf-8")
    return Application(
        name="page",
        title="Page",
        category="Utility Tools",
        version="1",
        licence="MIT",
        description="A page.",
        manual="A page.",
        launch=Launch(serve=str(Path(folder) / "site")),
    )


async def rates(steps: int, rounds: int, name: str = "simulated") -> tuple[list[float], list[float]]:
    """Steps a second of both on a platform, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        browser = name == "web_browser"
        settings = {"temporary_folder": folder} | ({"data_folder": folder} if browser else {})
        application = page(folder) if browser else next(iter(platform(name).applications()))
        environments = [create_environment(name, settings) for _ in range(SIDE_BY_SIDE)]
        found: tuple[list[float], list[float]] = ([], [])
        try:
            for _ in range(rounds + 1):
                for work, times in zip((directly, measured), found, strict=True):
                    began = time.perf_counter()
                    await asyncio.gather(*(work(item, application, steps) for item in environments))
                    times.append(SIDE_BY_SIDE * steps / (time.perf_counter() - began))
        finally:
            await asyncio.gather(*(item.close() for item in environments))
    return found[0][1:], found[1][1:]


def figures(quick: bool) -> list[Figure]:
    """The figures."""
    rounds = 2 if quick else 5
    try:
        chromium = asyncio.run(rates(20, rounds, "web_browser"))
    except BrowserMissingError as error:
        raise NotMeasuredError(str(error)) from None
    started = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    begun = float(started.stdout)
    return [
        _compared("in Chromium", chromium, goal=True),
        _compared("simulated", asyncio.run(rates(20 if quick else 60, rounds)), goal=False),
        Figure(
            "`taskloom evaluate` before its first attempt, imports",
            begun,
            "s of processor time",
            "under 5",
            begun < 5,
            note="no Prefect server is started unless PREFECT_API_URL names one",
        ),
    ]


def _compared(where: str, found: tuple[list[float], list[float]], *, goal: bool) -> Figure:
    raw, ours = found
    ratio = statistics.median(b / a for a, b in zip(raw, ours, strict=True))
    milliseconds = 1000 * (1 / statistics.median(ours) - 1 / statistics.median(raw))
    return Figure(
        f"steps a second of attempts, four environments at once, {where}",
        ratio,
        "of those without an agent",
        "0.9 or more" if goal else "",
        ratio >= 0.9 if goal else None,
        "the same environments called directly",
        f"{statistics.median(ours):.0f} instead of {statistics.median(raw):.0f} steps a second, which is"
        f" {milliseconds:.1f} ms a step",
    )
