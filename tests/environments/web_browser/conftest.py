"""One browser for all tests of this folder; every test resets it to a page of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.environment import WebEnvironment
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, Fixture, Launch
from taskloom.taskgraph.records.interaction import Action, ClickInput, Control, KeyboardInput, Observation

FIXTURES = (
    Fixture(category="text_path", value="Documents/a.txt", content="hello"),
    Fixture(category="text_path", value="Documents/deep/b.txt", content="deep"),
)


class Screen:
    """A started environment and its last observation, with the few words tests need."""

    def __init__(self, environment: WebEnvironment, folder: Path) -> None:
        self.environment = environment
        self.folder = folder
        self.now: Observation
        self._sites = 0

    def application(self, name: str, **pages: str) -> Application:
        """An application of the pages given; `index` comes first."""
        self._sites += 1
        site = self.folder / f"site{self._sites}"
        site.mkdir()
        for page, markup in pages.items():
            (site / f"{page}.html").write_text(f"<!doctype html><meta charset=utf-8>{markup}")
        return Application(
            name=name,
            title=name.title(),
            category="Utility Tools",
            version="1",
            licence="MIT",
            description="A page.",
            manual="A page.",
            launch=Launch(serve=str(site)),
            fixtures=FIXTURES,
        )

    async def open(self, markup: str, **pages: str) -> list[Control]:
        """Reset to a page; its controls."""
        self.now = await self.environment.reset([self.application("page", index=markup, **pages)])
        return self.controls

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of the environment."""
        assert self.environment._sandbox is not None
        return self.environment._sandbox

    @property
    def controls(self) -> list[Control]:
        """Controls of the page or window in front, without the task bar."""
        return [control for control in self.now.controls if control.control_type != "TaskBarButton"]

    @property
    def texts(self) -> list[str]:
        """Their texts."""
        return [control.text for control in self.controls]

    def find(self, text: str, control_type: str = "") -> Control:
        """The first control with that text."""
        for control in self.now.controls:
            if control.text == text and control_type in ("", control.control_type):
                return control
        raise AssertionError(
            f"no {control_type} {text!r} among {[(c.control_type, c.text) for c in self.now.controls]}"
        )

    async def do(self, action: Action) -> Observation:
        """Act and remember what is seen."""
        self.now = await self.environment.act(action)
        return self.now

    async def click(self, text: str, control_type: str = "", *, double: bool = False) -> Observation:
        """Click a control by its text."""
        label = self.find(text, control_type).label
        return await self.do(ClickInput(control_label=label, double=double))

    async def type(self, keys: str, into: str = "") -> Observation:
        """Type keys, into a control if one is named."""
        label = self.find(into).label if into else ""
        return await self.do(KeyboardInput(control_label=label, keys=keys))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WebEnvironment]:
    folder = tmp_path_factory.mktemp("web")
    settings = WebBrowserSettings(data_folder=folder / "data", temporary_folder=folder / "temporary")
    environment = WebEnvironment(settings)
    yield environment
    await environment.close()


@pytest_asyncio.fixture(loop_scope="session")
async def screen(shared: WebEnvironment, tmp_path: Path) -> Screen:
    made = Screen(shared, tmp_path)
    try:
        await made.open("<title>Start</title><button>Start</button>")
    except BrowserMissingError as error:
        pytest.skip(str(error))
    return made
