"""Real web applications in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.installing.results import InstallationResult
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = WebBrowserSettings


def applications() -> tuple[Application, ...]:
    """None: web applications are the catalogue's."""
    return ()


def missing(application: Application, data_folder: Path) -> str:
    """What an application still needs before it can start; empty if nothing is missing."""
    from taskloom.environments.installing.applications import missing_for_start

    return missing_for_start(application, data_folder)


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Find or install a browser; what there is now, in words.

    Raises:
        BrowserMissingError: there is none, and none can be had.
    """
    from taskloom.environments.installing.browser_finding import install_browser

    return f"browser: {install_browser(data_folder, on_progress=say).executable}"


def install(
    applications: Sequence[Application], data_folder: Path, say: Callable[[str], None]
) -> list[InstallationResult]:
    """Install each of `applications` in a place of its own."""
    from taskloom.environments.installing.applications import install_applications

    return install_applications(
        applications,
        data_folder,
        on_start=lambda name: say(f"{name}: installing"),
        on_result=lambda result: say(result.in_words()),
        on_wait=lambda: say(f"waiting for another installation into {data_folder}"),
    )


def create(settings: Record) -> Environment:
    """An environment that starts its browser at the first reset."""
    from taskloom.environments.platforms.web_browser.environment import WebEnvironment

    if not isinstance(settings, WebBrowserSettings):
        raise TypeError(f"The platform web_browser needs WebBrowserSettings, not {type(settings).__name__}.")
    return WebEnvironment(settings)
