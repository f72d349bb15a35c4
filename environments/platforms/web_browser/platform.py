"""Real web applications in a real browser."""

from collections.abc import Callable, Sequence
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.installing.applications import install_applications, missing_for_start
from taskloom.environments.lookup import InstallationResult
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = WebBrowserSettings
missing = missing_for_start


def applications() -> tuple[Application, ...]:
    """None: web applications are the catalogue's."""
    return ()


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

    return WebEnvironment(WebBrowserSettings.model_validate(settings, from_attributes=True))
