"""The environment of the web browser platform."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import cast

from playwright.async_api import Download, ElementHandle, Page
from playwright.async_api import Error as BrowserError

from taskloom.environments.aiming import Aim, InputLog, aim, parse_keys, refuse_stale, under_pointer
from taskloom.environments.errors import ActionInvalidError, EnvironmentBrokenError
from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.pages.environment_page import EnvironmentPage
from taskloom.environments.platforms.web_browser.pages.screen import (
    View,
    controls_now,
    fallback_fonts,
    look_at,
)
from taskloom.environments.platforms.web_browser.pages.tab import Tab, TabAsksError, perform
from taskloom.environments.platforms.web_browser.pages.tab_set import TabSet, page_title
from taskloom.environments.platforms.web_browser.servers.hosting import Hosting
from taskloom.environments.platforms.web_browser.settings import PAGE_SIZE, SCREEN_SIZE, WebBrowserSettings
from taskloom.environments.starting_place import ENVIRONMENT, START_PAGE
from taskloom.environments.task_bar import lay_out
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    HoldInput,
    KeyboardInput,
    Observation,
)

_MOST_LOOKS = 12
_COMMANDS = (("Back", "back"), ("Reload", "reload"), (START_PAGE, "start"), ("Close tab", "close"))
"""Buttons of the task bar that navigate; the last is shown only for a tab that a page opened."""
_DROP_DOWN_AT = """([x, y]) => { let doc = document, e = null;
  for (;;) { e = doc.elementFromPoint(x, y);
    while (e && e.shadowRoot) { const inner = e.shadowRoot.elementFromPoint(x, y); if (!inner || inner === e) break; e = inner; }
    if (!e || !['IFRAME', 'FRAME', 'OBJECT'].includes(e.tagName) || !e.contentDocument) return e && e.closest('select');
    const r = e.getBoundingClientRect(); x -= r.left + e.clientLeft; y -= r.top + e.clientTop; doc = e.contentDocument; } }"""  # noqa: E501


class WebEnvironment:
    """Chromium with the applications of the last reset as tabs, in a sandbox of its own."""

    platform = "web_browser"
    simulated = False

    def __init__(self, settings: WebBrowserSettings) -> None:
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._browser: BrowserProcess | None = None
        self._hosting: Hosting | None = None
        self._own_page: EnvironmentPage | None = None
        self._tabs: TabSet | None = None
        self._files: FileSnapshots | None = None
        self._view: View | None = None
        self.log = InputLog()
        self._blocked: dict[str, None] = {}
        self._pointer: tuple[float, float] = (-1.0, -1.0)
        self._background = b""
        self._lock = asyncio.Lock()
        self.without_cache: dict[str, str] = {}
        """Applications whose cached files are not kept between resets, with the reason."""

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications`, the first in front; see the protocol."""
        if not applications:
            raise ValueError("A reset needs at least one application.")
        async with self._lock, _browser_errors():
            self.log.clear()
            self._blocked.clear()
            self._pointer, self._view, self._background = (-1.0, -1.0), None, b""
            if self._sandbox is None or self._hosting is None:
                self._sandbox = await asyncio.to_thread(Sandbox, self._settings.temporary_folder)
                self._hosting = Hosting(self._settings, self._sandbox)
                self._files = FileSnapshots(self._sandbox.home, outside_folders=self._hosting.data_folders)
            if self._tabs is not None:
                await self._tabs.close()
                self._tabs = None
            restart = self._hosting.restart(applications, without)
            browser, own_page = await self._start_browser(self._sandbox, restart)
            await own_page.reset()
            tabs = TabSet(browser, self._hosting, own_page, applications, self._attach, self.without_cache)
            self._tabs = tabs
            await tabs.show(applications[0].name)
            return await self._look()

    async def observe(self) -> Observation:
        """The screen and its controls now, once the page has settled."""
        async with self._lock, _browser_errors():
            return await self._look()

    async def act(self, action: Action) -> Observation:
        """Carry out `action` on the last observation and observe; see the protocol."""
        async with self._lock, _browser_errors():
            self.log.step += 1
            view, tabs = self._view, self._tabs
            if view is None or tabs is None:
                raise _not_reset("anything can be done in it")
            aimed = aim(action, view.controls, SCREEN_SIZE)
            action, target = aimed.action, aimed.target
            if target is None and isinstance(action, KeyboardInput):
                target = next((control for control in view.controls if control.focused), None)
            if isinstance(action, KeyboardInput | HoldInput):
                parse_keys(action.keys)  # raises before anything is done
            tab = tabs.front
            front = tab.application
            await tabs.hosting.keep_running(front)
            window = tabs.own_page.window is not None
            if target is not None and target.label in view.commands:
                if window:
                    raise ActionInvalidError(
                        "A window of the environment is open; answer it before using the task bar."
                    )
                self.log.note(action, target, view.controls, front)
                self._pointer = target.rectangle.center
                if isinstance(action, ClickInput):
                    await self._run_command(tabs, view.commands[target.label])
                return await self._look()
            actor = tabs.own_page.tab if window else tab
            with contextlib.suppress(TabAsksError):
                if aimed.target is not None and not window:
                    refuse_stale(aimed, await controls_now(tab, front, tabs.replacements))
                self.log.note(action, target, view.controls, ENVIRONMENT if window else front)
                point = self._point(aimed)
                field = aimed.target if not window else None
                is_drop_down = field is not None and field.label in view.drop_downs
                if field and is_drop_down and isinstance(action, ClickInput) and action.button == "left":
                    await self._open_drop_down(tabs, tab, field, action)
                else:
                    click_first = aimed.target is not None and not aimed.target.focused
                    form = view.forms.get(target.label, "") if target is not None and not window else ""
                    await perform(actor, action, point, click_first=click_first, form=form)
            return await self._look()

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front, as a click on the task bar does."""
        async with self._lock, _browser_errors():
            tabs = self._tabs
            if tabs is None or application not in tabs.applications:
                known = ", ".join(tabs.applications) if tabs is not None else "none"
                raise ActionInvalidError(f"No application {application!r} was started; started: {known}.")
            await tabs.show(application)
            return await self._look()

    async def evidence(self) -> Evidence:
        """Everything the checks may read, as of the last look."""
        async with self._lock, _browser_errors():
            view, tabs, files = self._view, self._tabs, self._files
            if view is None or tabs is None or files is None:
                raise _not_reset("there is evidence")
            home, clipboard, title, texts = await asyncio.gather(
                asyncio.to_thread(files.take),
                tabs.own_page.clipboard(),
                page_title(tabs.front),
                tabs.reported_states(),
            )
            states, missing = files.reported_states(texts)
            return Evidence(
                step=self.log.step,
                inputs=self.log.events,
                screenshot=view.screenshot,
                controls=view.controls,
                text_under_cursor=under_pointer(view.controls, self._pointer),
                clipboard=clipboard,
                files=tuple(sorted((*home.files, *states), key=lambda state: state.path)),
                directories=home.directories,
                unseen=(*home.unseen, *missing),
                active_application=tabs.front.application,
                window_title=tabs.own_page.window.title if tabs.own_page.window is not None else title,
                url=tabs.address,
                blocked_requests=tuple(self._blocked),
                noise=tuple(place for item in tabs.applications.values() for place in item.noise),
            )

    async def belongings(self) -> tuple[dict[str, bytes | None], str]:
        """The visible files of the home, and the text of the clipboard."""
        async with self._lock, _browser_errors():
            tabs = self._require_tabs()
            copied = await tabs.own_page.clipboard()
            return await asyncio.to_thread(tabs.hosting.sandbox.visible), copied.text or ""

    async def take_over(self, files: Mapping[str, bytes | None], gone: Collection[str], text: str) -> None:
        """Write `files`, remove those in `gone`, and copy `text` unless it is empty."""
        async with self._lock, _browser_errors():
            tabs = self._require_tabs()
            await asyncio.to_thread(tabs.hosting.sandbox.put, files, gone)
            if text:
                await tabs.own_page.copy(text)

    async def fallback_fonts(self) -> list[str]:
        """Plain texts of the page in front drawn in several fonts or an emoji font, each with its fonts."""
        async with self._lock, _browser_errors():
            return await fallback_fonts(self._require_tabs().front.page)

    async def rest(self) -> None:
        """Close all pages and stop the servers; the browser and the environment's own page stay open."""
        async with self._lock:
            tabs, self._tabs, self._view, self._background = self._tabs, None, None, b""
            if tabs is not None:
                await tabs.close()
            if self._hosting is not None:
                await self._hosting.stop()

    async def close(self) -> None:
        """Stop every process and remove every file of this environment. May be called twice."""
        async with self._lock:
            browser, sandbox, hosting = self._browser, self._sandbox, self._hosting
            self._browser = self._sandbox = self._hosting = self._tabs = self._own_page = self._view = None
            try:
                if browser is not None:
                    await browser.close()
                if hosting is not None:
                    await hosting.close()
            finally:
                if sandbox is not None:
                    await asyncio.to_thread(sandbox.close)

    async def _start_browser(
        self, sandbox: Sandbox, restart: Coroutine[None, None, None]
    ) -> tuple[BrowserProcess, EnvironmentPage]:
        """The running browser and the environment's page, started while `restart` starts the servers."""
        if self._browser is not None:
            spoiled = self._browser.profile.spoiled_by
            self.without_cache |= spoiled
            if self._own_page is not None and self._browser.is_running and not spoiled:
                await restart
                return self._browser, self._own_page
            await self._browser.close()
        starting = asyncio.ensure_future(BrowserProcess.start(self._settings, sandbox))
        try:
            await restart
        finally:
            self._browser = await starting
        context = await self._browser.new_context()
        tab = await self._attach(await context.new_page(), ENVIRONMENT, "The environment")
        self._own_page = EnvironmentPage(tab, sandbox.home)
        await self._own_page.open()
        return self._browser, self._own_page

    def _require_tabs(self) -> TabSet:
        if self._tabs is None:
            raise _not_reset("there is anything to see")
        return self._tabs

    async def _look(self) -> Observation:
        tabs = self._require_tabs()
        own_page = tabs.own_page
        for _ in range(_MOST_LOOKS):
            await tabs.wait_for_popups()
            if own_page.window is not None and await own_page.take_answer() is None:
                return await self._look_at(tabs, own_page.tab, ENVIRONMENT, own_page.window.title)
            tab = tabs.front
            if tab.dialog is not None:
                await own_page.ask(tab, tab.dialog, self._background)
                continue
            try:
                await tab.settle()
                if tab.chooser is not None:
                    await own_page.ask_for_file(tab, tab.chooser, await tab.capture())
                    continue
                await tabs.wait_for_popups()
                if tabs.front is tab and tab.dialog is None:
                    observation = await self._look_at(tabs, tab, tab.application, await page_title(tab))
                    if tab.dialog is None and tab.chooser is None:
                        tab.observed = True
                        return observation
            except TabAsksError:
                continue
            except EnvironmentBrokenError:
                if not tab.page.is_closed() or tab.crashed:
                    raise
        raise EnvironmentBrokenError(f"The page of {tabs.front.title} keeps asking questions.")

    async def _look_at(self, tabs: TabSet, tab: Tab, owner: str, title: str) -> Observation:
        commands = _COMMANDS if tabs.front_is_extra else _COMMANDS[:-1]
        buttons = lay_out(await tabs.titles(), tabs.front_position, SCREEN_SIZE, commands)
        self._view = view = await look_at(tab, owner, buttons, tabs.replacements, tabs.own_page.tab)
        if owner != ENVIRONMENT:
            self._background = view.page_picture
        return Observation(
            screenshot=view.screenshot,
            controls=view.controls,
            active_application=tabs.front.application,
            window_title=title,
            url=tabs.address,
            screen_size=SCREEN_SIZE,
        )

    def _point(self, aimed: Aim) -> tuple[float, float]:
        """The point at which `aimed` acts; by default the middle of the page."""
        point = getattr(aimed.action, "point", None)
        if point is None:
            return (PAGE_SIZE[0] / 2, PAGE_SIZE[1] / 2)
        points = aimed.action.points if isinstance(aimed.action, DragInput) else ()
        self._pointer = points[-1] if points else point
        return cast(tuple[float, float], point)

    async def _run_command(self, tabs: TabSet, command: str) -> None:
        with contextlib.suppress(TabAsksError):
            if command.startswith("tab:"):
                await tabs.show_entry(int(command.removeprefix("tab:")))
            elif command == "back":
                await tabs.front.run(tabs.front.page.go_back(wait_until="commit"))
            elif command == "reload":
                await tabs.front.reload()
            elif command == "start":
                await tabs.show_first_page()
            elif command == "close":
                await tabs.close_front()

    async def _open_drop_down(self, tabs: TabSet, tab: Tab, target: Control, action: ClickInput) -> None:
        point = action.point or target.point
        handle = await tab.run(tab.page.evaluate_handle(_DROP_DOWN_AT, list(point)))
        field = handle.as_element()
        if not isinstance(field, ElementHandle):
            await perform(tab, action, point, click_first=False)
            return
        await tab.run(field.focus())
        await tabs.own_page.offer_options(tab, field, target.rectangle, self._background)

    async def _attach(self, page: Page, application: str, title: str) -> Tab:
        limit = self._settings.action_limit_seconds
        tab = Tab(page, application, title, limit, self._save, self._blocked.setdefault)
        await tab.attach()
        return tab

    async def _save(self, download: Download) -> None:
        if self._sandbox is None:
            return
        folder = self._sandbox.home / "Downloads"
        folder.mkdir(exist_ok=True)
        path = free_path(folder, download.suggested_filename)
        path.touch()
        try:
            await download.save_as(path)
        except BrowserError:
            # A download that was cancelled, or comes from another machine, leaves no file.
            path.unlink(missing_ok=True)
        with contextlib.suppress(BrowserError):
            await download.delete()  # the browser's own copy


def _not_reset(wanted: str) -> EnvironmentBrokenError:
    return EnvironmentBrokenError(f"The environment must be reset before {wanted}.")


@contextlib.asynccontextmanager
async def _browser_errors() -> AsyncIterator[None]:
    try:
        yield
    except BrowserError as error:
        raise EnvironmentBrokenError(f"The browser failed: {error.message.splitlines()[0]}") from error


_LONGEST_NAME = 255
_ENDINGS = re.compile(r"(\.tar)?\.[^. ]{1,16}$")


def free_path(folder: Path, suggested: str) -> Path:
    """A free path for a download: its suggested name, shortened if too long, numbered if taken.

    >>> free_path(Path("/nowhere"), "../a/notes.tar.gz").name
    'notes.tar.gz'
    """
    name = PurePosixPath(suggested.replace("\\", "/")).name.replace("\0", "").strip(". ") or "download"
    endings = _ENDINGS.search(name)
    ending = endings.group() if endings and endings.start() else ""
    stem = name.removesuffix(ending)
    room = _LONGEST_NAME - len(f" (99){ending}".encode())
    stem = stem.encode()[:room].decode(errors="ignore")
    path, number = folder / f"{stem}{ending}", 0
    while path.exists():
        number += 1
        path = folder / f"{stem} ({number}){ending}"
    return path
