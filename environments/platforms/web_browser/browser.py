"""The browser process of one environment, shut off from every other machine."""

from __future__ import annotations

import asyncio
import os
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext
from playwright.async_api import Error as BrowserError

from taskloom.environments.errors import BrowserMissingError, EnvironmentBrokenError
from taskloom.environments.installing.browser_finding import (
    FONT_VARIABLE,
    BrowserInstallation,
    find_browser,
    font_settings,
)
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.driver import SharedDriver
from taskloom.environments.platforms.web_browser.profile import PERMISSIONS, KeptProfile
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings

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
    # Names and numbers of other machines lead nowhere, for the browser's own services as for pages.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
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
        """Its own context, which keeps cached files."""
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
            "headless": settings.headless,
            "downloads_path": downloads,
            "traces_dir": downloads,
            "artifacts_dir": (
                downloads
            ),  # else a killed run leaves a folder behind in the machine's temporary one
            "chromium_sandbox": False,
            "user_data_dir": tempfile.mkdtemp(prefix="profile-", dir=sandbox.root),
            **_context_options(settings),
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
            profile = await KeptProfile.of(context)
        except BrowserError as error:
            await driver.give_back(broken=True)
            raise EnvironmentBrokenError(f"The browser died: {error.message.splitlines()[0]}") from error
        assert context.browser is not None
        return cls(driver, context.browser, profile, settings)

    @property
    def is_running(self) -> bool:
        """Whether the browser is still there."""
        return self._browser.is_connected()

    async def new_context(self) -> BrowserContext:
        """A context with nothing in it: no cookies, no storage, no cache.

        Raises:
            EnvironmentBrokenError: the browser died.
        """
        try:
            context = await self._browser.new_context(**_context_options(self._settings))
            await _prepare(context, self._settings)
        except BrowserError as error:
            raise EnvironmentBrokenError(f"The browser died: {error.message.splitlines()[0]}") from error
        return context

    async def close(self) -> None:
        """End the browser; one that died already is no error."""
        try:
            await self._browser.close()
        except (BrowserError, OSError):
            await self._driver.give_back(broken=True)
        else:
            await self._driver.give_back()


def _context_options(settings: WebBrowserSettings) -> dict[str, Any]:
    return {
        "viewport": {"width": settings.screen_width, "height": settings.page_height},
        "device_scale_factor": 1,
        "locale": "en-US",
        "timezone_id": "UTC",
        "permissions": list(PERMISSIONS),
        "accept_downloads": True,
        "service_workers": "block",
        "reduced_motion": "reduce",
    }


async def _prepare(context: BrowserContext, settings: WebBrowserSettings) -> None:
    await context.add_init_script(_BEFORE_PAGE)
    context.set_default_timeout(settings.action_limit_seconds * 1000)


def _temporary_folder(sandbox: Sandbox) -> Path:
    """Where the browser puts its temporary files. The path of a socket that it makes below may have 107
    bytes, so a deep sandbox gets a folder elsewhere."""
    folder = sandbox.root / "browser"
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        folder = Path(tempfile.mkdtemp(prefix="taskloom-", dir="/tmp"))
        sandbox.also_remove(folder)
    folder.mkdir(exist_ok=True)
    return folder
