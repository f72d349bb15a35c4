"""Real web applications in a real browser."""

from __future__ import annotations

from taskloom.environments.environment import Environment
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = WebBrowserSettings


def settings(values: dict[str, object]) -> WebBrowserSettings:
    """The settings of this platform from plain values."""
    return WebBrowserSettings.model_validate(values)


def applications() -> tuple[Application, ...]:
    """None: web applications are the catalogue's."""
    return ()


def create(settings: Record) -> Environment:
    """An environment that starts its browser at the first reset."""
    from taskloom.environments.platforms.web_browser.environment import WebEnvironment

    if not isinstance(settings, WebBrowserSettings):
        raise TypeError(f"The platform web_browser needs WebBrowserSettings, not {type(settings).__name__}.")
    return WebEnvironment(settings)
