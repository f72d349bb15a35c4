"""The browser driver: one process for all browsers of an event loop."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from weakref import WeakKeyDictionary

import playwright
from playwright.async_api import Error as BrowserError
from playwright.async_api import Playwright, async_playwright

from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.machines.sandbox import WatchedFolder

_NODE_VARIABLE = "PLAYWRIGHT_NODEJS_PATH"


class SharedDriver:
    """A driver process, as large as a small browser, which stops when the last browser releases it."""

    _current: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, SharedDriver]] = WeakKeyDictionary()
    _locks: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]] = WeakKeyDictionary()

    def __init__(self, playwright: Playwright, folder: WatchedFolder) -> None:
        self._folder = folder
        self.playwright = playwright
        self.launched = 0
        self._users = 0

    @classmethod
    async def borrow(cls) -> SharedDriver:
        """The driver of the running event loop, started if necessary.

        Raises:
            BrowserMissingError: it does not run on this machine.
        """
        loop = asyncio.get_running_loop()
        async with cls._locks.setdefault(loop, asyncio.Lock()):
            driver = cls._current.get(loop)
            if driver is None:
                folder = await asyncio.to_thread(WatchedFolder)
                try:
                    driver = cls._current[loop] = cls(await _start_driver(folder), folder)
                except BaseException:
                    folder.close()
                    raise
            driver._users += 1
            return driver

    async def give_back(self, *, broken: bool = False) -> None:
        """Stop it when nobody else uses it; one that may be `broken` is not lent again."""
        loop = asyncio.get_running_loop()
        async with self._locks.setdefault(loop, asyncio.Lock()):
            self._users -= 1
            if (broken or not self._users) and self._current.get(loop) is self:
                del self._current[loop]
            if not self._users:
                with suppress(BrowserError, OSError):
                    await self.playwright.stop()
                await asyncio.to_thread(self._folder.close)


async def _start_driver(folder: WatchedFolder) -> Playwright:
    """The browser driver; if its bundled Node lacks a system library, another Node on this machine runs it.

    Its temporary files are in `folder`, so that nothing is left of them if it is killed.
    """
    before = os.environ.get(_NODE_VARIABLE)
    own = str(Path(playwright.__file__).parent / "driver" / "node")
    failure: Exception | None = None
    for node in dict.fromkeys((before or own, shutil.which("node") or own)):
        os.environ[_NODE_VARIABLE] = await asyncio.to_thread(_node_in, folder, node)
        try:
            return await async_playwright().start()
        except Exception as error:  # the driver raises a bare Exception when its Node ends at once
            failure = error
        finally:
            os.environ.pop(_NODE_VARIABLE)
            if before is not None:
                os.environ[_NODE_VARIABLE] = before
    raise BrowserMissingError(
        f"The browser driver's Node does not run here: {failure}. On Debian and Ubuntu: apt-get install"
        " libatomic1 (taskloom install does it with root or sudo), or put a Node of your own on the PATH."
    ) from failure


def _node_in(folder: WatchedFolder, node: str) -> str:
    """A program that runs `node` with its files and mark in `folder`; `node` where nothing there may run."""
    program = folder.root / "node"
    variables = {"TMPDIR": str(folder.root), **folder.mark}
    told = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    # A child forked while this process writes would hold the file open, so that it cannot be started.
    script = f'#!/bin/sh\nexec env {told} {shlex.quote(node)} "$@"\n'
    command = ["/bin/sh", "-c", 'umask 077; cat > "$1" && chmod 700 "$1"', "sh", str(program)]
    subprocess.run(command, input=script, text=True, check=True)
    return str(program) if os.access(program, os.X_OK) else node
