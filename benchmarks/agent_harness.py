"""The overhead of measuring an agent: `python -m benchmarks agent_harness`.

Four environments at once, with pictures, perform the same actions by the browser driver alone (click,
picture), by calling the environment directly (act, observe, evidence), and by an agent of foreign code
through the episode loop with all its guards. They take turns in one process. The figures are the ratios of
their steps a second and of the processor time of a step, browsers included, which is what limits a full
machine: for Chromium, and for the simulated platform, whose steps take a millisecond, so that the overhead is
visible. A last figure is the processor time from the command to the first attempt, including Python's start.
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


class ClickingAgent:
    """Clicks the first control `steps` times."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        if len(history) >= self.steps:
            return Decision(status="finish")
        return Decision(status="continue", action=ClickInput(control_label=observation.controls[0].label))


@asynccontextmanager
async def open_driver_pages(settings: WebBrowserSettings) -> AsyncIterator[list[Page]]:
    """The page in browsers that only the driver uses, one for each environment."""
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


async def click_by_driver(page: Page, steps: int) -> None:
    """The actions by the driver alone, without any waits."""
    for _ in range(steps):
        await page.mouse.click(20, 20)
        await page.screenshot()


async def act_directly(environment: Environment, application: Application, steps: int) -> None:
    observation = await environment.reset([application])
    for _ in range(steps):
        observation = await environment.act(ClickInput(control_label=observation.controls[0].label))
        await environment.evidence()


async def run_attempt(environment: Environment, application: Application, steps: int) -> None:
    """The actions as an attempt."""
    agent = GuardedAgent(lambda: ClickingAgent(steps), apart=True)
    assignment = Assignment(instance_id="a", subtask_id="a", instruction="Click.")
    await run_episode(
        environment,
        agent,
        assignment=assignment,
        applications=[application],
        step_limit=steps,
    )
    await agent.close()


def page_application(folder: str) -> Application:
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
    """The speed of one way of acting in one round."""

    steps_a_second: float
    """In wall time."""
    core_milliseconds: float
    """Processor time of a step, of this process and everything that it started, such as browsers."""


def processor_seconds() -> float:
    """Processor time so far of this process and all its running descendants."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        used[number] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    pending, total = [os.getpid()], 0.0
    while pending:
        number = pending.pop()
        total += used.get(number, 0.0)
        pending += children.get(number, [])
    return total


async def rates(steps: int, rounds: int, name: str = "simulated") -> dict[str, list[Pace]]:
    """The pace on a platform, in turns: with an agent, directly, and in Chromium by the driver."""
    paces: dict[str, list[Pace]] = {}
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        in_browser = name == "web_browser"
        settings = {"temporary_folder": folder} | ({"data_folder": folder} if in_browser else {})
        application = page_application(folder) if in_browser else next(iter(platform(name).applications()))
        environments = [create_environment(name, settings) for _ in range(SIDE_BY_SIDE)]
        for item in environments:
            opened.push_async_callback(item.close)
        works: dict[str, Callable[[], list[Awaitable[None]]]] = {
            "directly": lambda: [act_directly(item, application, steps) for item in environments],
            "with an agent": lambda: [run_attempt(item, application, steps) for item in environments],
        }
        if in_browser:
            pages = await opened.enter_async_context(
                open_driver_pages(WebBrowserSettings.model_validate(settings))
            )
            works["by the driver"] = lambda: [click_by_driver(item, steps) for item in pages]
        for number in range(rounds + 1):
            for title, work in works.items():
                began, used = time.perf_counter(), processor_seconds()
                await asyncio.gather(*work())
                if number:
                    total, seconds = SIDE_BY_SIDE * steps, time.perf_counter() - began
                    pace = Pace(total / seconds, 1000 * (processor_seconds() - used) / total)
                    paces.setdefault(title, []).append(pace)
    return paces


def figures(quick: bool) -> list[Figure]:
    rounds = 2 if quick else 5
    try:
        chromium = asyncio.run(rates(20, rounds, "web_browser"))
    except BrowserMissingError as error:
        raise NotMeasuredError(str(error)) from None
    process = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    start_seconds = float(process.stdout)
    simulated = asyncio.run(rates(20 if quick else 60, rounds))
    return [
        _compare_speed("in Chromium", chromium, "by the driver", goal=True),
        _compare_speed("in Chromium", chromium, "directly", goal=False),
        _compare_processor_time("in Chromium", chromium, "by the driver"),
        _compare_processor_time("in Chromium", chromium, "directly"),
        _compare_speed("simulated", simulated, "directly", goal=False),
        Figure(
            "`taskloom evaluate` before its first attempt, imports",
            start_seconds,
            "s of processor time",
            "under 5",
            start_seconds < 5,
            note="no Prefect server is started unless PREFECT_API_URL names one",
        ),
    ]


_BASELINES = {
    "by the driver": "the browser driver alone: click, picture",
    "directly": "the same environments called directly",
}


def _compare_processor_time(where: str, paces: dict[str, list[Pace]], baseline: str) -> Figure:
    raw = [item.core_milliseconds for item in paces[baseline]]
    ours = [item.core_milliseconds for item in paces["with an agent"]]
    return Figure(
        f"processor time of a step of an attempt, four environments at once, {where}",
        statistics.median(b / a for a, b in zip(raw, ours, strict=True)),
        f"times that {baseline}",
        "",
        None,
        _BASELINES[baseline],
        f"{statistics.median(ours):.0f} instead of {statistics.median(raw):.0f} core-ms, browsers included",
    )


def _compare_speed(where: str, paces: dict[str, list[Pace]], baseline: str, *, goal: bool) -> Figure:
    raw = [item.steps_a_second for item in paces[baseline]]
    ours = [item.steps_a_second for item in paces["with an agent"]]
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
