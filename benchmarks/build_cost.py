"""The cost of a reset and a step compared with the driver alone: `python -m benchmarks build_cost`.

A page with a megabyte of script, as in real applications, is opened and clicked in 1 and in 4 environments at
once, in turns with the same in the driver alone: a fresh context, the page, and for every click a picture
once two frames were drawn. Seconds are wall time for one environment, and processor time of everything that
was started. The cost of a whole build is in `taskloom sql core_seconds`.
"""

from __future__ import annotations

import asyncio
import base64
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page

from benchmarks.agent_harness import page_application
from benchmarks.run import Figure, NotMeasuredError
from taskloom.environments.environment import Environment
from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.lookup import create_environment
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.servers.hosting import StaticServer
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.flows.running.core_seconds import CoreSeconds
from taskloom.flows.running.environment_pool import EnvironmentPool
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.interaction import ClickInput

_SCRIPT = "".join(
    f"function f{n}(a,b){{const s=[];for(let i=0;i<b;i++)s.push(a*i+{n});"
    f"return s.map(x=>x%7).filter(x=>x>{n % 5})}}\n"
    f"window.t=(window.t||0)+f{n}({n},9).length;\n"
    for n in range(8000)
)
_FRAMES = "() => new Promise(yes => requestAnimationFrame(() => requestAnimationFrame(yes)))"

Costs = dict[str, list[tuple[float, float]]]
"""Wall time and processor time per reset or step, in seconds, by what was measured."""


def heavy_page(folder: str) -> Application:
    """The page with a button, behind a large script."""
    application = page_application(folder)
    site = Path(folder) / "site"
    (site / "large.js").write_text(_SCRIPT, encoding="utf-8")
    index = site / "index.html"
    index.write_text(
        index.read_text().replace("<button", "<script src=large.js></script><button"), encoding="utf-8"
    )
    return application


async def measure(
    costs: Costs,
    name: str,
    core_seconds: CoreSeconds,
    works: Sequence[Callable[[], Awaitable[Any]]],
    times: int = 1,
) -> None:
    """Do each of `works` several times, side by side, and add the cost of doing one of them once."""

    async def repeat(work: Callable[[], Awaitable[Any]]) -> None:
        for _ in range(times):
            await work()

    before, began = sum(core_seconds.so_far().values()), time.perf_counter()
    await asyncio.gather(*map(repeat, works))
    used = sum(core_seconds.so_far().values()) - before
    costs[name].append(((time.perf_counter() - began) / times, used / len(works) / times))


Pages = dict[int, tuple[Page, CDPSession]]
"""The pages of the driver alone, each with the session that takes its pictures."""


async def raw_reset(browser: Browser, address: str, pages: Pages, number: int) -> None:
    """A fresh context with the page, and a picture."""
    if number in pages:
        await pages[number][0].context.close()
    context = await browser.new_context(viewport={"width": 1280, "height": 760})
    opened = await context.new_page()
    pages[number] = opened, await context.new_cdp_session(opened)
    await opened.goto(address, wait_until="domcontentloaded")
    await raw_picture(*pages[number])


async def raw_picture(opened: Page, protocol: CDPSession) -> bytes:
    """A picture once two frames were drawn."""
    await opened.evaluate(_FRAMES)
    answer = await protocol.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    return base64.b64decode(answer["data"])


async def compare_costs(side_by_side: int, resets: int, steps: int) -> tuple[Costs, Costs]:
    """The costs of the driver alone, and of environments."""
    raw: Costs = defaultdict(list)
    ours: Costs = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, CoreSeconds() as core_seconds:
        application, settings = heavy_page(folder), {"data_folder": folder, "temporary_folder": folder}
        environments = [create_environment("web_browser", settings) for _ in range(side_by_side)]
        sandbox, server = Sandbox(Path(folder)), StaticServer(Path(folder) / "site")
        process = await BrowserProcess.start(WebBrowserSettings.model_validate(settings), sandbox)
        browser = (await process.new_context()).browser
        assert browser is not None
        pages: Pages = {}
        address = f"http://127.0.0.1:{server.port}/index.html"

        async def raw_step(number: int) -> None:
            await pages[number][0].get_by_role("button").click()
            await raw_picture(*pages[number])

        async def step(environment: Environment) -> None:
            await environment.act(ClickInput(control_label="1"))

        try:
            for round_number in range(-3, resets):  # the first rounds start browsers, and compile
                costs = (raw, ours) if round_number >= 0 else (defaultdict(list), defaultdict(list))
                raw_resets = [partial(raw_reset, browser, address, pages, n) for n in range(side_by_side)]
                our_resets = [partial(item.reset, [application]) for item in environments]
                await measure(costs[0], "reset", core_seconds, raw_resets)
                await measure(costs[1], "reset", core_seconds, our_resets)
                raw_steps = [partial(raw_step, n) for n in pages]
                our_steps = [partial(step, item) for item in environments]
                await measure(costs[0], "step", core_seconds, raw_steps, steps)
                await measure(costs[1], "step", core_seconds, our_steps, steps)
        finally:
            await asyncio.gather(*(item.close() for item in environments))
            await process.close()
            server.close()
            sandbox.close()
    return raw, ours


async def measure_waits(side_by_side: int, episodes: int) -> tuple[list[float], list[float]]:
    """Seconds without acting between two episodes of eight steps, and the seconds of their resets."""
    waits, resets, free = [], [], [0.0] * side_by_side
    with tempfile.TemporaryDirectory() as folder:
        application, settings = heavy_page(folder), {"data_folder": folder, "temporary_folder": folder}
        pool = EnvironmentPool(lambda name: create_environment(name, settings), side_by_side)
        pool.make_ahead(None)

        async def episode() -> None:
            async with pool.lease("web_browser", [application.name]) as environment:
                began = time.perf_counter()
                await environment.reset([application])
                resets.append(time.perf_counter() - began)
                async with pool.turn():
                    waits.append(time.perf_counter() - free.pop(0))
                    for _ in range(8):
                        await environment.act(ClickInput(control_label="1"))
                    free.append(time.perf_counter())

        try:
            await asyncio.gather(*(episode() for _ in range(episodes)))
        finally:
            await pool.close()
    return waits[2 * side_by_side :], resets[2 * side_by_side :]  # the first start browsers


def figures(quick: bool) -> list[Figure]:
    results = []
    for side_by_side in (1, 4):
        try:
            raw, ours = asyncio.run(compare_costs(side_by_side, 4 if quick else 12, 4))
            waits, resets = asyncio.run(measure_waits(side_by_side, side_by_side * (6 if quick else 12)))
        except BrowserMissingError as error:
            raise NotMeasuredError(str(error)) from None
        results += [_figure(name, side_by_side, raw[name], ours[name]) for name in ("reset", "step")]
        results.append(
            Figure(
                f"wait for a reset, environments at once: {side_by_side}",
                statistics.median(waits) / statistics.median(resets),
                "times a reset, median",
                baseline="resets that are not made ahead",
                note=f"{statistics.median(waits):.2f} instead of {statistics.median(resets):.2f} s",
            )
        )
    return results


def _figure(
    name: str, side_by_side: int, raw: list[tuple[float, float]], ours: list[tuple[float, float]]
) -> Figure:
    (clock, raw_clock), (core, raw_core) = (
        [statistics.fmean(cost[index] for cost in costs) for costs in (ours, raw)] for index in (0, 1)
    )
    return Figure(
        f"{name}, environments at once: {side_by_side}",
        core / raw_core,
        "times the processor time of the driver alone",
        baseline="the same page in the driver alone, with a fresh context for a reset",
        note=f"{core:.3f} instead of {raw_core:.3f} core-seconds; {clock:.2f} instead of {raw_clock:.2f} s on"
        " the clock",
    )
