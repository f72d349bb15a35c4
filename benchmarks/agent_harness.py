"""What measuring an agent costs beside the agent: `python -m benchmarks agent_harness`.

Four environments at once, with pictures: the same actions done by the browser driver alone (click, picture),
by calling the environment directly (act, look, evidence), and by an agent of foreign code through the episode
loop with everything that guards it. All in turns, in one process; the ratio of their steps a second is the
figure, and that of the processor time of a step, browsers included, of which a full machine has no more:
for Chromium, and for the simulated platform, whose steps take a millisecond, so that the harness
shows. A last figure is the processor time from the command to the first attempt, Python's start included.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page

from benchmarks.run import Figure, NotMeasuredError
from taskloom.environments.agent import Decision
from taskloom.environments.agents.guarding import GuardedAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, run_episode
from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.lookup import create_environment, platform
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, Launch
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


@asynccontextmanager
async def pages_by_driver(settings: WebBrowserSettings) -> AsyncIterator[list[Page]]:
    """The page in browsers that nothing but the driver uses, one for each environment."""
    async with AsyncExitStack() as opened:
        pages = []
        for _ in range(SIDE_BY_SIDE):
            sandbox = Sandbox(settings.temporary_folder)
            opened.callback(sandbox.close)
            browser = await BrowserProcess.start(settings, sandbox)
            opened.push_async_callback(browser.close)
            pages.append(await (await browser.new_context()).new_page())
            await pages[-1].set_content(_PAGE)
        yield pages


async def by_driver(seen: Page, steps: int) -> None:
    """The actions by the driver alone, which waits for nothing."""
    for _ in range(steps):
        await seen.mouse.click(20, 20)
        await seen.screenshot()


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


@dataclass(frozen=True, slots=True)
class Pace:
    """How one way of working went in one round."""

    steps_a_second: float
    """By the clock."""
    core_milliseconds: float
    """Processor time of a step: of this process and all that it started, such as browsers."""


def processor_seconds() -> float:
    """Processor time so far of this process and of every process below it that still runs."""
    below: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(place.parent.name)
        below.setdefault(int(fields[1]), []).append(number)
        used[number] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    waiting, total = [os.getpid()], 0.0
    while waiting:
        number = waiting.pop()
        total += used.get(number, 0.0)
        waiting += below.get(number, [])
    return total


async def rates(steps: int, rounds: int, name: str = "simulated") -> dict[str, list[Pace]]:
    """The pace on a platform, in turns: with an agent, directly, and in Chromium by the driver."""
    found: dict[str, list[Pace]] = {}
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        browser = name == "web_browser"
        settings = {"temporary_folder": folder} | ({"data_folder": folder} if browser else {})
        application = page(folder) if browser else next(iter(platform(name).applications()))
        environments = [create_environment(name, settings) for _ in range(SIDE_BY_SIDE)]
        for item in environments:
            opened.push_async_callback(item.close)
        works: dict[str, Callable[[], list[Awaitable[None]]]] = {
            "directly": lambda: [directly(item, application, steps) for item in environments],
            "with an agent": lambda: [measured(item, application, steps) for item in environments],
        }
        if browser:
            pages = await opened.enter_async_context(
                pages_by_driver(WebBrowserSettings.model_validate(settings))
            )
            works["by the driver"] = lambda: [by_driver(item, steps) for item in pages]
        for number in range(rounds + 1):
            for title, work in works.items():
                began, used = time.perf_counter(), processor_seconds()
                await asyncio.gather(*work())
                if number:
                    made, seconds = SIDE_BY_SIDE * steps, time.perf_counter() - began
                    pace = Pace(made / seconds, 1000 * (processor_seconds() - used) / made)
                    found.setdefault(title, []).append(pace)
    return found


def figures(quick: bool) -> list[Figure]:
    """The figures."""
    rounds = 2 if quick else 5
    try:
        chromium = asyncio.run(rates(20, rounds, "web_browser"))
    except BrowserMissingError as error:
        raise NotMeasuredError(str(error)) from None
    started = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    begun = float(started.stdout)
    simulated = asyncio.run(rates(20 if quick else 60, rounds))
    return [
        _compared("in Chromium", chromium, "by the driver", goal=True),
        _compared("in Chromium", chromium, "directly", goal=False),
        _worked("in Chromium", chromium, "by the driver"),
        _worked("in Chromium", chromium, "directly"),
        _compared("simulated", simulated, "directly", goal=False),
        Figure(
            "`taskloom evaluate` before its first attempt, imports",
            begun,
            "s of processor time",
            "under 5",
            begun < 5,
            note="no Prefect server is started unless PREFECT_API_URL names one",
        ),
    ]


_BASELINES = {
    "by the driver": "the browser driver alone: click, picture",
    "directly": "the same environments called directly",
}


def _worked(where: str, found: dict[str, list[Pace]], baseline: str) -> Figure:
    raw = [item.core_milliseconds for item in found[baseline]]
    ours = [item.core_milliseconds for item in found["with an agent"]]
    return Figure(
        f"processor time of a step of an attempt, four environments at once, {where}",
        statistics.median(b / a for a, b in zip(raw, ours, strict=True)),
        f"times that {baseline}",
        "",
        None,
        _BASELINES[baseline],
        f"{statistics.median(ours):.0f} instead of {statistics.median(raw):.0f} core-ms, browsers included",
    )


def _compared(where: str, found: dict[str, list[Pace]], baseline: str, *, goal: bool) -> Figure:
    raw = [item.steps_a_second for item in found[baseline]]
    ours = [item.steps_a_second for item in found["with an agent"]]
    ratio = statistics.median(b / a for a, b in zip(raw, ours, strict=True))
    milliseconds = 1000 * (1 / statistics.median(ours) - 1 / statistics.median(raw))
    return Figure(
        f"steps a second of attempts, four environments at once, {where}",
        ratio,
        f"of those {baseline}",
        "0.9 or more" if goal else "",
        ratio >= 0.9 if goal else None,
        _BASELINES[baseline],
        f"{statistics.median(ours):.0f} instead of {statistics.median(raw):.0f} steps a second, which is"
        f" {milliseconds:.1f} ms a step",
    )
