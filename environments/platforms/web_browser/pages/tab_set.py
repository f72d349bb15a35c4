"""The open tabs of one environment: each application's own page, opened when first shown with the browser
state that the application starts with, and the pages that it opens."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from urllib.parse import quote, urldefrag, urlsplit

from playwright.async_api import BrowserContext, Page, Route
from playwright.async_api import Error as BrowserError

from taskloom.environments.errors import ApplicationStartFailedError, EnvironmentBrokenError
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.pages.environment_page import EnvironmentPage
from taskloom.environments.platforms.web_browser.pages.screen import find_controls
from taskloom.environments.platforms.web_browser.pages.tab import Tab, TabAsksError
from taskloom.environments.platforms.web_browser.servers.application_server import request_state
from taskloom.environments.platforms.web_browser.servers.hosting import Hosting
from taskloom.resources.applications import Application, BrowserState
from taskloom.taskgraph.records.evidence import OPEN_DOCUMENT
from taskloom.taskgraph.text_folding import fold_label

_STABLE_LOOKS = 2
_STABLE_PAUSE_SECONDS = 0.1
_RESTLESS_SECONDS = 5.0
_POPUP_SECONDS = 3.0


class TabSet:
    """Tabs of several applications, each with its own cookies and storage, as if on separate hosts."""

    def __init__(
        self,
        browser: BrowserProcess,
        hosting: Hosting,
        own_page: EnvironmentPage,
        applications: Sequence[Application],
        attach: Callable[[Page, str, str], Awaitable[Tab]],
        without_cache: Collection[str] = (),
    ) -> None:
        """Manage tabs of `applications`, none of them open yet; `attach` makes one from page, name and title.
        The first application uses the browser's profile, unless it is in `without_cache`."""
        self.applications = {application.name: application for application in applications}
        self._browser = browser
        self.hosting = hosting
        """The servers of the applications."""
        self.own_page = own_page
        """The page of the environment itself, which also runs scripts on servers' replies."""
        self._make_tab = attach
        kept = applications[:1] if not applications[0].launch.address else ()
        self._in_profile = {application.name for application in kept} - set(without_cache)
        self._tabs: dict[str, list[Tab]] = {name: [] for name in self.applications}
        self._contexts: dict[str, BrowserContext] = {}
        self._opening: set[asyncio.Task[None]] = set()
        self._popup_came = asyncio.Event()
        self._front: Tab | None = None
        self._documents: dict[str, str] = {}

    @property
    def front(self) -> Tab:
        """The tab in front.

        Raises:
            EnvironmentBrokenError: no tab is open.
        """
        if self._front is None:
            raise EnvironmentBrokenError("No application is open.")
        return self._front

    @property
    def address(self) -> str:
        """The address in front without port and home path, which differ between environments."""
        address, home = self.front.page.url, str(self.hosting.sandbox.home)
        parts = urlsplit(address)
        if parts.scheme in ("http", "https"):
            address = parts._replace(netloc=parts.hostname or "").geturl()
        return address.replace(home, "~").replace(quote(home, safe=""), "~")

    @property
    def replacements(self) -> dict[str, str]:
        """Replacements for texts of the page in front that differ between environments."""
        port = self.hosting.ports[self.front.application]
        return {str(self.hosting.sandbox.home): "~", f":{port}/": "/"}

    @property
    def entries(self) -> list[tuple[str, Tab | None]]:
        """What the task bar shows, in order: every tab, and None for an application not opened yet."""
        found: list[tuple[str, Tab | None]] = []
        for name, tabs in self._tabs.items():
            found += [(name, tab) for tab in tabs] or [(name, None)]
        return found

    async def titles(self) -> list[str]:
        """Texts of the task bar: an application's title, followed by the page's for pages that it opened."""
        texts = []
        for name, tab in self.entries:
            title = self.applications[name].title
            if tab is not None and tab is not self._tabs[name][0]:
                title = f"{title}: {await page_title(tab) or 'page'}"
            texts.append(title)
        return texts

    @property
    def front_position(self) -> int:
        """Position of the tab in front among the entries."""
        return [tab for _, tab in self.entries].index(self._front) if self._front is not None else -1

    @property
    def front_is_extra(self) -> bool:
        """Whether the tab in front was opened by a page and so may be closed."""
        return self._front is not None and self._front is not self._tabs[self._front.application][0]

    async def show(self, application: str) -> None:
        """Bring the application's tab to the front, opening it first if necessary.

        Raises:
            ApplicationStartFailedError: its page did not become ready in time.
        """
        tabs = self._tabs[application]
        if not tabs:
            await self._open(self.applications[application])
        else:
            self._front = tabs[-1] if self._front not in tabs else self._front
            await self.front.page.bring_to_front()

    async def show_entry(self, position: int) -> None:
        """Put the entry at `position` of the task bar in front."""
        name, tab = self.entries[position]
        if tab is None:
            await self.show(name)
        else:
            self._front = tab
            await self.front.page.bring_to_front()

    async def show_first_page(self) -> None:
        """Show the first page in the application's own tab; cookies, storage and server stay.

        Raises:
            TabAsksError: the page asks whether to leave it; it is left once the answer is yes.
        """
        tab = self._front = self._tabs[self.front.application][0]
        await self.front.page.bring_to_front()
        application = self.applications[tab.application]
        address = self.hosting.address(application)
        limit = application.launch.start_timeout_seconds
        same_document = "#" in address and urldefrag(tab.page.url).url == urldefrag(address).url
        await tab.run(tab.page.goto(address, wait_until="domcontentloaded", timeout=limit * 1000), limit)
        if same_document:  # a change of the fragment alone loads nothing
            await tab.run(tab.page.reload(wait_until="domcontentloaded"), limit)
        await self._wait_until_ready(tab, application)

    async def reported_states(self) -> dict[tuple[str, str], str | None]:
        """States that applications report, by application and name of the file that shows them.

        Of the documents open in editors, the one in the front window is read; if that fails, its last
        text is used. A state that cannot be read is None.
        """
        found: dict[tuple[str, str], str | None] = {}
        for name, tabs in self._tabs.items():
            launch = self.applications[name].launch
            if launch.open_document is not None:
                tab = self._front if self._front in tabs else (tabs[-1] if tabs else None)
                text = await _text_of(tab, launch.open_document.script)
                text = self._documents.get(name) if text is None else text
                if text is not None:
                    found[name, f"{OPEN_DOCUMENT}{launch.open_document.ending}"] = text
                    self._documents[name] = text
            for state in launch.told_states:
                if not state.address:
                    found[name, state.name] = await _text_of(tabs[0] if tabs else None, state.script)
                    continue
                answer = await asyncio.to_thread(request_state, state, self.hosting.ports[name])
                if answer is not None and state.script:
                    answer = await _text_of(self.own_page.tab, state.script, answer)
                found[name, state.name] = answer
        return found

    async def close_front(self) -> None:
        """Close the tab in front, unless its page asks whether to leave.

        Raises:
            TabAsksError: it asks.
        """
        tab = self.front
        closed = asyncio.Event()
        tab.page.once("close", lambda _: closed.set())
        await tab.run(tab.page.close(run_before_unload=True))
        with contextlib.suppress(TimeoutError):
            await tab.run(asyncio.wait_for(closed.wait(), _POPUP_SECONDS))

    async def wait_for_popups(self) -> None:
        """Wait briefly until pages that are being opened exist; some become downloads instead."""
        tabs = [tab for tabs in self._tabs.values() for tab in tabs]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POPUP_SECONDS):
                while any(tab.announced for tab in tabs):
                    self._popup_came.clear()
                    await self._popup_came.wait()
        for tab in tabs:
            tab.announced = 0
        while self._opening:
            await asyncio.wait(self._opening)

    async def close(self) -> None:
        """Close every tab with all its cookies and storage."""
        for task in self._opening:
            task.cancel()
        contexts, self._contexts = self._contexts, {}
        await asyncio.gather(
            self._browser.profile.take_back(),
            *(context.close() for context in contexts.values()),
            return_exceptions=True,
        )
        self._front = None

    async def _open(self, application: Application) -> None:
        address = self.hosting.address(application)
        if application.name in self._in_profile:
            context = await self._browser.profile.lend(application, address)
        else:
            context = self._contexts[application.name] = await self._browser.new_context()
        tab = await self._add_tab(application, await context.new_page())
        try:
            limit = application.launch.start_timeout_seconds
            kept = self.hosting.browser_state(application)
            if kept:
                await tab.run(store_state(tab.page, kept, address), limit)
            opening = tab.page.goto(address, wait_until="domcontentloaded", timeout=limit * 1000)
            await tab.run(opening, limit)
            await self._wait_until_ready(tab, application)
            await tab.forget_history()
        except TabAsksError:
            return
        except EnvironmentBrokenError as error:
            self.hosting.check(application.name)
            raise ApplicationStartFailedError(f"{application.title} did not open: {error}") from error

    async def _add_tab(self, application: Application, page: Page) -> Tab:
        tab = await self._make_tab(page, application.name, application.title)
        page.on("popup", lambda popup: self._handle_popup(application, tab, popup))
        page.on("close", lambda _: self._remove_tab(tab))
        self._tabs[application.name].append(tab)
        self._front = tab
        return tab

    def _handle_popup(self, application: Application, opener: Tab, page: Page) -> None:
        opener.announced = max(0, opener.announced - 1)
        self._popup_came.set()
        task = asyncio.ensure_future(self._add_popup(application, page))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _add_popup(self, application: Application, page: Page) -> None:
        try:
            if not page.url:  # it only started a download; a browser closes it then
                return await page.close()
            tab = await self._add_tab(application, page)
        except BrowserError:
            return  # it closed itself before listeners were attached
        if application.launch.ready_text:
            with contextlib.suppress(TabAsksError, EnvironmentBrokenError, ApplicationStartFailedError):
                await tab.run(page.wait_for_load_state("domcontentloaded"))
                first = urlsplit(self.hosting.address(application))
                if urlsplit(page.url)[:3] == first[:3]:  # the application's first page, not another one
                    await self._wait_until_ready(tab, application)

    def _remove_tab(self, tab: Tab) -> None:
        tabs = self._tabs[tab.application]
        if tab in tabs:
            tabs.remove(tab)
        if self._front is tab:
            self._front = tabs[-1] if tabs else None

    async def _wait_until_ready(self, tab: Tab, application: Application) -> None:
        """Wait for the ready text, or until several looks in a row find the same types of controls; if a
        page has controls but never settles, stop waiting after a while."""
        clock = asyncio.get_running_loop().time
        limit = application.launch.start_timeout_seconds
        started = clock()
        wanted = fold_label(application.launch.ready_text)
        last_types, equal_looks = "", 0
        while True:
            await tab.settle()
            controls = await find_controls(tab)
            if wanted and any(wanted in fold_label(item["text"] or item["value"]) for item in controls):
                return
            types = " ".join(item["type"] for item in controls)
            equal_looks = equal_looks + 1 if types == last_types and controls else 0
            last_types = types
            restless = controls and clock() > started + _RESTLESS_SECONDS
            if not wanted and (equal_looks >= _STABLE_LOOKS or restless):
                return
            if clock() > started + limit:
                self.hosting.check(application.name)
                reason = (
                    f"the text {application.launch.ready_text!r} did not appear" if wanted else "no controls"
                )
                raise ApplicationStartFailedError(
                    f"{application.title} was not ready within {limit:g} s: {reason}."
                )
            await asyncio.sleep(_STABLE_PAUSE_SECONDS)


async def page_title(tab: Tab) -> str:
    """The title of the tab's page; empty while it cannot be read."""
    if tab.dialog is not None or tab.page.is_closed():
        return ""
    try:
        return await tab.run(tab.page.title())
    except (TabAsksError, EnvironmentBrokenError):
        return ""


async def _text_of(tab: Tab | None, script: str, argument: str | None = None) -> str | None:
    """The text that a script returns in a page; None if it returns none, or the page cannot be asked."""
    if tab is None or tab.dialog is not None:
        return None
    with contextlib.suppress(TabAsksError, EnvironmentBrokenError):
        text = await tab.evaluate(script, argument)
        return text if isinstance(text, str) else None
    return None


_STORE = """({local, session}) => {
  for (const [key, text] of Object.entries(local)) localStorage.setItem(key, text);
  for (const [key, text] of Object.entries(session)) sessionStorage.setItem(key, text);
}"""


async def store_state(page: Page, state: BrowserState, address: str) -> None:
    """Store `state` in the browser of `page`, which then shows an empty page of the origin of `address`.

    The application's server gets no request.

    Raises:
        playwright.async_api.Error: the browser refuses a cookie or a text, or the script fails.
    """
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"
    if state.cookies:
        await page.context.add_cookies(
            [{"name": name, "value": value, "url": origin} for name, value in state.cookies.items()]
        )

    async def empty(route: Route) -> None:
        await route.fulfill(body="<!doctype html>", content_type="text/html")

    pattern = f"{origin}/**"
    await page.route(pattern, empty)
    try:
        await page.goto(f"{origin}/")
        await page.evaluate(_STORE, {"local": state.local_storage, "session": state.session_storage})
        if state.script:
            await page.evaluate(f"async () => {{ await ({state.script}\n) }}")
    finally:
        await page.unroute(pattern, empty)
