"""All browsers of one event loop share one driver process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess, SharedDriver
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from tests.limits import LONGEST_SECONDS

pytestmark = pytest.mark.browser


def drivers() -> list[int]:
    """Driver processes that are children of this process."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == os.getpid() and b"run-driver" in words:
                found.append(int(folder.name))
    return found


async def test_the_driver_lives_as_long_as_the_last_browser(tmp_path: Path) -> None:
    before = set(drivers())
    settings = WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path)
    sandboxes = [Sandbox(tmp_path), Sandbox(tmp_path)]
    try:
        try:
            one, other = await asyncio.gather(*(BrowserProcess.start(settings, item) for item in sandboxes))
        except BrowserMissingError as error:
            pytest.skip(str(error))
        assert len(set(drivers()) - before) == 1
        await one.close()
        context = await other.new_context()
        page = await context.new_page()
        assert await page.evaluate("1 + 1") == 2
        await other.close()
    finally:
        for sandbox in sandboxes:
            sandbox.close()
    assert set(drivers()) == before


async def test_a_driver_that_died_is_not_lent_again(tmp_path: Path) -> None:
    before = set(drivers())
    settings = WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path)
    sandboxes = [Sandbox(tmp_path), Sandbox(tmp_path), Sandbox(tmp_path)]
    try:
        try:
            first = await BrowserProcess.start(settings, sandboxes[0])
        except BrowserMissingError as error:
            pytest.skip(str(error))
        (process,) = set(drivers()) - before
        os.kill(process, signal.SIGKILL)
        second = await BrowserProcess.start(settings, sandboxes[1])
        await first.close()
        third = await BrowserProcess.start(settings, sandboxes[2])
        assert len(set(drivers()) - before) == 1 and process not in drivers()
        for browser in (second, third):
            await (await browser.new_context()).new_page()
            await browser.close()
    finally:
        for sandbox in sandboxes:
            sandbox.close()
    assert set(drivers()) == before


async def test_a_browser_that_does_not_start_gives_the_driver_back(tmp_path: Path) -> None:
    before = set(drivers())
    program = tmp_path / "no-browser"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o700)
    settings = WebBrowserSettings(data_folder=tmp_path, browser_executable=program)
    sandbox = Sandbox(tmp_path)
    try:
        with pytest.raises(BrowserMissingError, match="does not start"):
            await BrowserProcess.start(settings, sandbox)
    finally:
        sandbox.close()
    assert set(drivers()) == before and asyncio.get_running_loop() not in SharedDriver._current


async def test_a_killed_run_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    program = """
import asyncio, os, sys
from pathlib import Path
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
async def main():
    folder = Path(sys.argv[1])
    await BrowserProcess.start(WebBrowserSettings(data_folder=Path(sys.argv[2]), temporary_folder=folder), Sandbox(folder))
    print(sum(1 for _ in folder.rglob("*")), flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""  # noqa: E501
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        str(temporary),
        str(tmp_path / "data"),
        stdout=-1,
        stderr=-1,
        env=environment,
    )
    output, errors = await process.communicate()
    if b"BrowserMissingError" in errors:
        pytest.skip(errors.decode()[-300:])
    assert int(output) > 0, "a running browser keeps something there"
    async with asyncio.timeout(LONGEST_SECONDS):
        while list(temporary.iterdir()):
            await asyncio.sleep(0.1)
