"""The browser driver: one process for all browsers of an event loop."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from typing import ClassVar
from weakref import WeakKeyDictionary

from playwright.async_api import Error as BrowserError
from playwright.async_api import Playwright, async_playwright

from environments.errors import BrowserMissingError

_NODE_VARIABLE = "PLAYWRIGHT_NODEJS_PATH"


class SharedDriver:
    """A driver process, which costs as much memory as a small browser, lent to every browser until the last gives it back."""

    _current: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, SharedDriver]] = WeakKeyDictionary()
    _locks: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]] = WeakKeyDictionary()

    def __init__(self, playwright: Playwright) -> None:
        """Use `SharedDriver.borrow`."""
        self.playwright = playwright
        """Starts browsers."""
        self.launched = 0
        """Browsers it has started."""
        self._users = 0

    @classmethod
    async def borrow(cls) -> SharedDriver:
        """The driver of the running loop, started if need be.

        Raises:
            BrowserMissingError: it does not run on this machine.
        """
        loop = asyncio.get_running_loop()
        async with cls._locks.setdefault(loop, asyncio.Lock()):
            driver = cls._current.get(loop)
            if driver is None:
                driver = cls._current[loop] = cls(await _start_driver())
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


async def _start_driver() -> Playwright:
    """The browser driver; where its own Node lacks a system library, another Node of this machine runs it.

    Raises:
        BrowserMissingError: neither runs.
    """
    try:
        return await async_playwright().start()
    except Exception as error:  # the driver raises a bare Exception when its Node ends at once
        other = shutil.which("node")
        if other is not None and os.environ.get(_NODE_VARIABLE) != other:
            os.environ[_NODE_VARIABLE] = other
            return await _start_driver()
        raise BrowserMissingError(
            f"The browser driver's Node does not run here: {error}. On Debian and Ubuntu: apt-get install libatomic1"
            " (taskloom install does it with root or sudo), or put a Node of your own on the PATH."
        ) from error
