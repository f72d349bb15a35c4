"""The browser process of one environment, without access to other machines; the driver that all browsers of
an event loop share; and the profile that a browser keeps between episodes."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import playwright
from playwright.async_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Playwright,
    Request,
    Response,
    async_playwright,
)
from playwright.async_api import Error as BrowserError

from taskloom.environments.errors import BrowserMissingError, EnvironmentBrokenError
from taskloom.environments.installing.browser_finding import (
    FONT_VARIABLE,
    BrowserInstallation,
    find_browser,
    font_settings,
)
from taskloom.environments.machines.sandbox import Sandbox, WatchedFolder
from taskloom.environments.platforms.web_browser.settings import PAGE_SIZE, WebBrowserSettings
from taskloom.resources.applications import Application

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
        """Stop the driver if nobody else uses it; one that may be `broken` is not lent again."""
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
    """Start the driver; if its bundled Node lacks a system library, another Node of this machine runs it.

    Its temporary files are in `folder`, so none are left if it is killed.
    """
    before = os.environ.get(_NODE_VARIABLE)
    own = str(Path(playwright.__file__).parent / "driver" / "node")
    failure: Exception | None = None
    for node in dict.fromkeys((before or own, shutil.which("node") or own)):
        os.environ[_NODE_VARIABLE] = await asyncio.to_thread(_write_node_script, folder, node)
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


def _write_node_script(folder: WatchedFolder, node: str) -> str:
    """Write a script that runs `node` with `folder`'s files and mark; return `node` if it may not run."""
    program = folder.root / "node"
    variables = {"TMPDIR": str(folder.root), **folder.mark}
    assignments = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    # A shell writes the file: a child forked while this process wrote it would keep it open and unusable.
    script = f'#!/bin/sh\nexec env {assignments} {shlex.quote(node)} "$@"\n'
    command = ["/bin/sh", "-c", 'umask 077; cat > "$1" && chmod 700 "$1"', "sh", str(program)]
    subprocess.run(command, input=script, text=True, check=True)
    return str(program) if os.access(program, os.X_OK) else node


PERMISSIONS = ("clipboard-read", "clipboard-write")
"""Permissions of every page."""
_CLOSING_SECONDS = 10.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1", ""})


class KeptProfile:
    """The browser's default context, with a blank page always open, lent to one application at a time."""

    def __init__(self, context: BrowserContext, protocol: CDPSession) -> None:
        self._context = context
        self._protocol = protocol
        self._blank = context.pages[0]
        self._application = ""
        self._origin = ""
        self._revalidates = False
        self.spoiled_by: dict[str, str] = {}
        """Applications that left data that cannot be cleared, with the reason."""
        context.on("request", self._handle_request)

    async def lend(self, application: Application, address: str) -> BrowserContext:
        """The context, cleared of all but cached files, for `application` at `address`."""
        if self._origin:
            await self._clear(self._origin)
        self._application, self._origin = application.name, _origin(address)
        before, self._revalidates = self._revalidates, bool(application.launch.command)
        if before != self._revalidates:
            # The browser revalidates every cached file with the server, whatever headers it had.
            headers = {"Cache-Control": "max-age=0"} if self._revalidates else {}
            await self._context.set_extra_http_headers(headers)
            change = self._context.on if self._revalidates else self._context.remove_listener
            change("response", self._handle_response)
        return self._context

    async def take_back(self) -> None:
        """Close every page of the episode without confirmation."""
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                while pages := [page for page in self._context.pages if page is not self._blank]:
                    await asyncio.gather(*(page.close() for page in pages))
        except (BrowserError, TimeoutError) as error:
            self._spoil(f"a page does not close ({type(error).__name__})")

    async def _clear(self, origin: str) -> None:
        await self._context.clear_cookies()
        await self._context.clear_permissions()
        await self._context.grant_permissions(PERMISSIONS)
        await self._protocol.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        storage = await self._protocol.send("Storage.getUsageAndQuota", {"origin": origin})
        if storage["usage"]:
            self._spoil(f"{storage['usage']} bytes of {storage['usageBreakdown']} remain")

    def _handle_request(self, request: Request) -> None:
        if request.is_navigation_request():
            origin, host = _origin(request.url), urlsplit(request.url).hostname or ""
            if origin != self._origin and host and is_loopback(host):
                self._spoil(f"it opens pages of another origin ({host})")

    def _handle_response(self, response: Response) -> None:
        """Spoil the profile if the server asks for a password, which the browser keeps, or if its files
        cannot be revalidated exactly, because modification times have whole seconds."""
        headers = response.headers
        if "www-authenticate" in headers:
            self._spoil("its server asks for a password")
        elif (
            "last-modified" in headers
            and "etag" not in headers
            and "no-store" not in headers.get("cache-control", "")
            and response.request.resource_type not in ("script", "stylesheet", "font")
        ):
            self._spoil("its server dates changes only to the second")

    def _spoil(self, reason: str) -> None:
        self.spoiled_by.setdefault(self._application, reason)


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    return host in _LOOPBACK or host.startswith("127.") or host.endswith(".localhost")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-dev-shm-usage",
    # Addresses of other machines resolve for neither pages nor the browser's own services.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_CONTEXT_OPTIONS: dict[str, Any] = {
    "viewport": {"width": PAGE_SIZE[0], "height": PAGE_SIZE[1]},
    "device_scale_factor": 1,
    "locale": "en-US",
    "timezone_id": "UTC",
    "permissions": list(PERMISSIONS),
    "accept_downloads": True,
    "service_workers": "block",
    "reduced_motion": "reduce",
}
"""Options of every context."""
_LONGEST_FOLDER = 60
_PAGES = files("taskloom.environments.platforms.web_browser.pages")
_BEFORE_PAGE = _PAGES.joinpath("before_page.js").read_text()


class BrowserProcess:
    """One browser process; its clipboard belongs to one environment."""

    def __init__(
        self, driver: SharedDriver, browser: Browser, profile: KeptProfile, settings: WebBrowserSettings
    ) -> None:
        self._driver = driver
        self._browser = browser
        self.profile = profile
        """Its default context, which keeps cached files."""
        self._settings = settings

    @classmethod
    async def start(cls, settings: WebBrowserSettings, sandbox: Sandbox) -> BrowserProcess:
        """Start the browser.

        Raises:
            BrowserMissingError: there is no browser, or it does not start.
        """
        if settings.browser_executable is None:
            installation = find_browser(settings.data_folder)
        else:
            installation = BrowserInstallation(settings.browser_executable)
            if not os.access(installation.executable, os.X_OK):
                raise BrowserMissingError(
                    f"The browser {str(installation.executable)!r} of the settings is not a program that can"
                    " be run. Correct the path, or leave it out to have one found."
                )
        environment: dict[str, str | float | bool] = {
            **os.environ,
            **sandbox.mark,
            FONT_VARIABLE: str(await asyncio.to_thread(font_settings, settings.data_folder)),
            **installation.environment,
            "TMPDIR": str(_temporary_folder(sandbox)),
        }
        downloads = sandbox.root / "downloads"
        downloads.mkdir(exist_ok=True)
        options: dict[str, Any] = {
            "executable_path": installation.executable,
            "args": list(_ARGUMENTS),
            "env": environment,
            "headless": True,
            "downloads_path": downloads,
            "traces_dir": downloads,
            "artifacts_dir": (
                downloads
            ),  # else a killed run leaves a folder in the system's temporary folder
            "chromium_sandbox": False,
            "user_data_dir": tempfile.mkdtemp(prefix="profile-", dir=sandbox.root),
            **_CONTEXT_OPTIONS,
        }
        while True:
            driver = await SharedDriver.borrow()
            try:
                context = await driver.playwright.chromium.launch_persistent_context(**options)
            except asyncio.CancelledError:
                await driver.give_back()
                raise
            except BrowserError as error:
                await driver.give_back(broken=True)
                if driver.launched:  # it worked before, so it may be the driver that died
                    continue
                lines = [line for line in error.message.splitlines() if line.strip()]
                raise BrowserMissingError(
                    f"The browser {str(installation.executable)!r} does not start:"
                    f" {' '.join(lines[:4])[:600]}"
                ) from error
            driver.launched += 1
            break
        try:
            await _prepare(context, settings)
            profile = KeptProfile(context, await context.new_cdp_session(context.pages[0]))
        except BrowserError as error:
            await driver.give_back(broken=True)
            raise EnvironmentBrokenError(f"The browser died: {error.message.splitlines()[0]}") from error
        assert context.browser is not None
        return cls(driver, context.browser, profile, settings)

    @property
    def is_running(self) -> bool:
        """Whether the browser still runs."""
        return self._browser.is_connected()

    async def new_context(self) -> BrowserContext:
        """An empty context: no cookies, no storage, no cache.

        Raises:
            EnvironmentBrokenError: the browser died.
        """
        try:
            context = await self._browser.new_context(**_CONTEXT_OPTIONS)
            await _prepare(context, self._settings)
        except BrowserError as error:
            raise EnvironmentBrokenError(f"The browser died: {error.message.splitlines()[0]}") from error
        return context

    async def close(self) -> None:
        """End the browser, which may have died already."""
        try:
            await self._browser.close()
        except (BrowserError, OSError):
            await self._driver.give_back(broken=True)
        else:
            await self._driver.give_back()


async def _prepare(context: BrowserContext, settings: WebBrowserSettings) -> None:
    await context.add_init_script(_BEFORE_PAGE)
    context.set_default_timeout(settings.action_limit_seconds * 1000)


def _temporary_folder(sandbox: Sandbox) -> Path:
    """The folder for the browser's temporary files. The path of a socket in it may have at most 107 bytes, so
    a deep sandbox gets a folder outside it."""
    folder = sandbox.root / "browser"
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        folder = Path(tempfile.mkdtemp(prefix="taskloom-", dir="/tmp"))
        sandbox.also_remove(folder)
    folder.mkdir(exist_ok=True)
    return folder
