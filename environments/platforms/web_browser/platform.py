"""Real web applications in a real browser."""

from collections.abc import Callable
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.installing.applications import install_applications, missing_for_start
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = WebBrowserSettings
missing, install = missing_for_start, install_applications


def applications() -> tuple[Application, ...]:
    """Empty: the catalogue has all web applications."""
    return ()


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Find or install a browser; describe it.

    Raises:
        BrowserMissingError: there is none, and none can be installed.
    """
    from taskloom.environments.installing.browser_finding import install_browser

    return f"browser: {install_browser(data_folder, on_progress=say).executable}"


def create(settings: Record) -> Environment:
    """An environment that starts its browser at the first reset."""
    from taskloom.environments.platforms.web_browser.environment import WebEnvironment

    return WebEnvironment(WebBrowserSettings.model_validate(settings, from_attributes=True))
