"""A platform that shows the small web applications without a browser or a server: their forms as controls,
their files in a home.

What a run costs is then what the chain itself costs, so that runs of many performances fit into ordinary
tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from taskloom.environments.aiming import InputLog, aim, parse_keys, under_pointer
from taskloom.environments.environment import Environment
from taskloom.environments.errors import (
    ActionInvalidError,
    ApplicationUnavailableError,
    EnvironmentBrokenError,
)
from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.simulated.platform import place_of
from taskloom.environments.starting_place import START_PAGE, TASK_BAR_BUTTON
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    KeyboardInput,
    Observation,
    Screenshot,
)
from taskloom.taskgraph.records.keys import KeyPress, runs
from tests.servers.web_applications.catalogue import small_applications
from tests.servers.web_applications.library import Library
from tests.servers.web_applications.pages import Form
from tests.servers.web_applications.reading_pages import Item, items_of
from tests.servers.web_applications.watches import Watches

PLATFORM = "text_browser"
FILES = {
    "text_browser/__init__.py": "",
    "text_browser/platform.py": f"from {__name__} import SETTINGS, applications, create\n",
}
"""What a test adds to the folder of platforms."""


class WebApplication(Protocol):
    """What the small applications have in common."""

    def page(self, path: str, query: Form) -> str | None:
        """The HTML of a path."""
        ...

    def act(self, path: str, given: Form) -> str | None:
        """Carry out a form; the page to show next."""
        ...


_MADE: dict[str, Callable[[Path], WebApplication]] = {"watches": Watches, "library": Library}


class TextBrowserSettings(Record):
    """Settings of the platform."""

    temporary_folder: Path | None = None
    """Where sandbox homes are made."""


class Tab:
    """One application with the page that is open and what stands in its fields."""

    def __init__(self, name: str, title: str, served: WebApplication) -> None:
        """Open the first page."""
        self.name = name
        self.title = title
        self.served = served
        self.path = ""
        self.heading = ""
        self.focus = -1
        self.all_selected = False
        self.items: tuple[Item, ...] = ()
        self.values: dict[int, str] = {}
        self.go("/")

    def go(self, path: str) -> None:
        """Open a page."""
        html = self.served.page(path, {})
        if html is None:
            raise EnvironmentBrokenError(f"{self.title} has no page {path}.")
        self.path, self.focus, self.all_selected = path, -1, False
        self.heading, self.items = items_of(html)
        self.values = {at: item.value for at, item in enumerate(self.items) if item.kind == "Edit"}

    def click(self, at: int) -> None:
        """Click an item."""
        item = self.items[at]
        self.focus, self.all_selected = (at, False) if item.kind == "Edit" else (-1, False)
        if item.kind == "Hyperlink":
            self.go(item.address)
        elif item.kind == "Button":
            self.submit(item.form, item.address)

    def submit(self, form: int, address: str) -> None:
        """Send a form."""
        given = {
            item.name: self.values[at]
            for at, item in enumerate(self.items)
            if item.form == form and item.name
        }
        target = self.served.act(address, given)
        if target is not None:
            self.go(target)

    def type(self, part: str | KeyPress) -> None:
        """Type into the field in focus."""
        chord = part.chord if isinstance(part, KeyPress) else ""
        if self.focus < 0:
            return
        if chord == "enter":
            self.submit(self.items[self.focus].form, self.items[self.focus].address)
        elif chord == "tab":
            later = [at for at in self.values if at > self.focus]
            self.focus = later[0] if later else -1
        elif chord == "ctrl+a":
            self.all_selected = True
        elif isinstance(part, str) or chord in ("backspace", "delete"):
            kept = "" if self.all_selected else self.values[self.focus]
            typed = part if isinstance(part, str) else ""
            self.values[self.focus] = (kept if typed or self.all_selected else kept[:-1]) + typed
            self.all_selected = False


class TextBrowser:
    """The environment."""

    platform = PLATFORM
    simulated = True

    def __init__(self, settings: TextBrowserSettings) -> None:
        """Make a closed environment."""
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._files: FileSnapshots | None = None
        self._tabs: dict[str, Tab] = {}
        self._front = ""
        self._seen: Observation | None = None
        self._log, self._pointer = InputLog(), (-1.0, -1.0)

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state; see the protocol."""
        unknown = [item.name for item in applications if item.name not in _MADE]
        if unknown or not applications:
            raise ApplicationUnavailableError(f"Not known here: {unknown}; known: {', '.join(_MADE)}.")
        if self._sandbox is None:
            self._sandbox = Sandbox(self._settings.temporary_folder)
            self._files = FileSnapshots(self._sandbox.home)
        self._sandbox.clear()
        self._sandbox.lay_fixtures(applications, without)
        self._log, self._pointer = InputLog(), (-1.0, -1.0)
        self._tabs = {
            item.name: Tab(item.name, item.title, _MADE[item.name](self._sandbox.state_folder(item.name)))
            for item in applications
        }
        return await self.bring_to_front(applications[0].name)

    async def observe(self) -> Observation:
        """The page now."""
        if self._front not in self._tabs:
            raise EnvironmentBrokenError("The environment must be reset before there is anything to see.")
        tab = self._tabs[self._front]
        controls = [self._control(tab, at, item) for at, item in enumerate(tab.items)]
        for text in (START_PAGE, *(other.title for other in self._tabs.values())):
            at = len(controls)
            controls.append(
                Control(
                    label=str(at + 1),
                    text=text,
                    control_type=TASK_BAR_BUTTON,
                    rectangle=place_of(at),
                    application="environment",
                )
            )
        known_by = hashlib.sha256(repr((controls, tab.heading)).encode()).hexdigest()
        self._seen = Observation(
            screenshot=Screenshot(sha256=known_by),
            controls=tuple(controls),
            active_application=self._front,
            window_title=tab.heading,
            url=f"http://127.0.0.1{tab.path}",
        )
        return self._seen

    async def act(self, action: Action) -> Observation:
        """Carry out `action` and observe; only clicks and typing change anything."""
        self._log.step += 1
        if self._seen is None:
            raise EnvironmentBrokenError("The environment must be reset before anything can be done in it.")
        controls = self._seen.controls
        aimed = aim(action, controls, self._seen.screen_size)
        action, target = aimed.action, aimed.target
        presses = parse_keys(action.keys) if isinstance(action, KeyboardInput) else ()
        if target is None and presses:
            target = next((control for control in controls if control.focused), None)
        self._log.note(action, target, controls, self._front)
        tab = self._tabs[self._front]
        if target is not None:
            self._pointer = target.rectangle.center
            at = int(target.label) - 1
            if target.control_type == TASK_BAR_BUTTON and isinstance(action, ClickInput):
                self._use_task_bar(tab, target.text)
            elif at < len(tab.items) and (isinstance(action, ClickInput) or (presses and not target.focused)):
                tab.click(at)
                tab.all_selected = isinstance(action, ClickInput) and action.triple
        for part in runs(presses):
            tab.type(part)
        return await self.observe()

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front."""
        if application not in self._tabs:
            raise ActionInvalidError(
                f"No application {application!r} was started; started: {', '.join(self._tabs)}."
            )
        self._front = application
        return await self.observe()

    async def evidence(self) -> Evidence:
        """Everything the checks may read, as of the last look."""
        if self._seen is None or self._files is None:
            raise EnvironmentBrokenError("The environment must be reset before there is evidence.")
        home = self._files.take()
        return Evidence(
            step=self._log.step,
            inputs=self._log.events,
            screenshot=self._seen.screenshot,
            controls=self._seen.controls,
            text_under_cursor=under_pointer(self._seen.controls, self._pointer),
            clipboard=ClipboardState(text=None),
            files=home.files,
            directories=home.directories,
            unseen=home.unseen,
            active_application=self._front,
            window_title=self._seen.window_title,
            url=self._seen.url,
        )

    async def rest(self) -> None:
        """Nothing runs between two items."""

    async def close(self) -> None:
        """Remove every file of this environment. May be called twice."""
        sandbox, self._sandbox, self._front, self._seen = self._sandbox, None, "", None
        if sandbox is not None:
            sandbox.close()

    def _control(self, tab: Tab, at: int, item: Item) -> Control:
        return Control(
            label=str(at + 1),
            text=item.text,
            control_type=item.kind,
            rectangle=place_of(at),
            row=item.row,
            section=item.section,
            value=tab.values.get(at, ""),
            focused=at == tab.focus,
            application=self._front,
        )

    def _use_task_bar(self, tab: Tab, text: str) -> None:
        if text == START_PAGE:
            tab.go("/")
        else:
            self._front = next(name for name, other in self._tabs.items() if other.title == text)


SETTINGS = TextBrowserSettings


def applications() -> tuple[Application, ...]:
    """The small applications, for this platform."""
    return tuple(
        item.model_copy(update={"platform": PLATFORM, "simulated": True}) for item in small_applications()
    )


def create(settings: Record) -> Environment:
    """A closed environment."""
    return TextBrowser(TextBrowserSettings.model_validate(settings, from_attributes=True))
