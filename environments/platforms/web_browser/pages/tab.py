"""One page of the browser: waiting, questions, scripts, pictures, mouse and keyboard."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Dialog, Download, FileChooser, Frame, Page, Request, WebSocket
from playwright.async_api import Error as BrowserError

from taskloom.environments.aiming import parse_keys
from taskloom.environments.errors import ActionInvalidError, EnvironmentBrokenError, EnvironmentFailureError
from taskloom.environments.platforms.web_browser.browser import is_loopback
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.keys import KEY_NAMES, KeyPress, runs

_Result = TypeVar("_Result")
_SETTLE = files("taskloom.environments.platforms.web_browser.pages").joinpath("settle.js").read_text()
_LIMITS = {"quiet": 70, "limit": 800, "ahead": 500}
"""In milliseconds: how long a settled page must be unchanged, the maximum wait for one that never stops
changing, and how far ahead timers are waited for."""
_NETWORK_LIMIT_SECONDS = 4.0
"""Maximum wait for pending requests."""
_UNENDING_TYPES = frozenset({"eventsource", "websocket", "media", "ping"})
_SLOW_REQUEST_SECONDS = 1.5
_ERROR_PAGE = "chrome-error:"
_NETWORK_ERROR = "net::ERR_"


class TabAsksError(EnvironmentFailureError):
    """The page asks a question, which stops everything in the page until it is answered."""


@dataclass(frozen=True, slots=True, eq=False)
class Unresponsive:
    """The question whether to wait for an unresponsive page or to leave it, answered like a `Dialog`."""

    tab: Tab
    type = "unresponsive"
    message = "You can wait for it to become responsive or exit the page."
    default_value = ""

    async def accept(self, _: str = "") -> None:
        """Interrupt the page and reload it."""
        await self.tab.interrupt()

    async def dismiss(self) -> None:
        """Continue to wait."""


@dataclass(eq=False)
class Tab:
    """One page, the application it belongs to, and what it currently waits for."""

    page: Page
    application: str
    title: str
    limit_seconds: float
    """How long one input or one look may take before the page counts as hung."""
    on_download: Callable[[Download], Awaitable[None]]
    on_blocked: Callable[[str], object]
    """Called with every address outside the loopback interface."""
    dialog: Dialog | Unresponsive | None = None
    observed: bool = False
    """Whether it was observed; from then on, hanging leads to a question, not an error."""
    chooser: FileChooser | None = None
    announced: int = 0
    """Windows that the page is opening."""
    crashed: bool = False
    _protocol: CDPSession = field(init=False)
    _requests: dict[Request, float] = field(default_factory=dict)
    _downloads: set[asyncio.Task[None]] = field(default_factory=set)
    _question_came: asyncio.Event = field(default_factory=asyncio.Event)
    _suspended: set[asyncio.Future[Any]] = field(default_factory=set)

    async def attach(self) -> None:
        """Start listening to events of the page."""
        page = self.page
        page.on("dialog", self._handle_dialog)
        page.on("filechooser", self._handle_chooser)
        page.on("download", self._handle_download)
        page.on("request", self._handle_request)
        page.on("requestfinished", self._forget_request)
        page.on("requestfailed", self._forget_request)
        page.on("websocket", self._handle_socket)
        page.on("framenavigated", self._handle_navigation)
        page.on("crash", self._handle_crash)
        self._protocol = await page.context.new_cdp_session(page)
        self._protocol.on("Page.windowOpen", self._handle_window)
        await self._protocol.send("Page.enable")

    async def run(self, work: Awaitable[_Result], limit_seconds: float | None = None) -> _Result:
        """The result of `work` on this page, within this time limit or the tab's.

        Raises:
            TabAsksError: the page asked a question or no longer responds; the work continues once the
                question is answered.
            EnvironmentBrokenError: the page crashed, was closed, or did not respond in time.
        """
        limit = limit_seconds or self.limit_seconds
        task = asyncio.ensure_future(work)
        task.add_done_callback(self._forget_suspended)
        question = asyncio.ensure_future(self._question_came.wait())
        try:
            await asyncio.wait((task, question), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if self.dialog is None and self.observed:
                self._handle_dialog(Unresponsive(self))
            if self.dialog is not None:
                self._suspended.add(task)
                raise TabAsksError(
                    f"{self.title} asks a question, and nothing goes on there until it is answered."
                )
            raise EnvironmentBrokenError(f"The page of {self.title} did not answer within {limit:g} s.")
        except BrowserError as error:
            state = "crashed" if self.crashed else "was closed" if self.page.is_closed() else "failed"
            raise EnvironmentBrokenError(
                f"The page of {self.title} {state}: {error.message.splitlines()[0]}"
            ) from error
        finally:
            question.cancel()
            if task not in self._suspended:
                task.cancel()

    async def reload(self) -> None:
        """Reload the page; one that was unreachable before may remain so.

        Raises:
            TabAsksError, EnvironmentBrokenError: as for `run`.
        """
        was_unreachable = self.page.url.startswith(_ERROR_PAGE)
        try:
            await self.run(self.page.reload(wait_until="domcontentloaded"))
        except EnvironmentBrokenError as error:
            if not was_unreachable or _NETWORK_ERROR not in str(error.__cause__):
                raise

    async def interrupt(self) -> None:
        """Terminate the running script of the page, and reload the page."""
        with contextlib.suppress(TabAsksError, EnvironmentBrokenError):
            await self.run(self._protocol.send("Runtime.terminateExecution"))
        with contextlib.suppress(TabAsksError, EnvironmentBrokenError):
            await self.reload()

    async def evaluate(self, script: str, argument: object = None) -> object:
        """The result of a script run in the page, run again when a navigation interrupts it."""
        for _ in range(20):
            try:
                return await self.run(self.page.evaluate(script, argument))
            except EnvironmentBrokenError as error:
                if self.crashed or self.page.is_closed() or not _is_interruption(error.__cause__):
                    raise
                await asyncio.sleep(0.03)
        raise EnvironmentBrokenError(f"The page of {self.title} keeps navigating.")

    async def settle(self) -> None:
        """Wait, within limits, until the page stops changing and loading.

        Raises:
            TabAsksError: the page asks a question.
            EnvironmentBrokenError: the page died.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + _NETWORK_LIMIT_SECONDS
        while True:
            await self.evaluate(_SETTLE, _LIMITS)
            if self._downloads:
                await asyncio.wait(self._downloads, timeout=max(0.0, deadline - clock()))
            if not self._is_loading() or clock() > deadline:
                return
            await asyncio.sleep(0.02)

    async def capture(self) -> bytes:
        """The page as a PNG picture."""
        wanted = {"format": "png", "optimizeForSpeed": True}
        answer = await self.run(self._protocol.send("Page.captureScreenshot", wanted))
        return base64.b64decode(answer["data"])

    async def send_key(self, kind: str, character: str, modifiers: int) -> None:
        """Send `keyDown` or `keyUp` of a key that the driver's keyboard lacks."""
        text = {"text": character} if kind == "keyDown" and not modifiers & 3 else {}
        key = {"type": kind, "key": character, "modifiers": modifiers, **text}
        await self.run(self._protocol.send("Input.dispatchKeyEvent", key))

    async def forget_history(self) -> None:
        """Make the current page the first one, so that going back never shows the blank page before it."""
        await self.run(self._protocol.send("Page.resetNavigationHistory"))

    def close_question(self, question: Dialog | Unresponsive) -> None:
        """Close a question that was answered; a newer one stays open."""
        if self.dialog is question:
            self.dialog = None
            self._question_came.clear()

    def _is_loading(self) -> bool:
        now = time.monotonic()
        return any(now - started < _SLOW_REQUEST_SECONDS for started in self._requests.values())

    def _handle_dialog(self, dialog: Dialog | Unresponsive) -> None:
        self.dialog = dialog
        self._question_came.set()

    def _handle_chooser(self, chooser: FileChooser) -> None:
        self.chooser = chooser

    def _handle_download(self, download: Download) -> None:
        task = asyncio.ensure_future(self.on_download(download))
        self._downloads.add(task)
        task.add_done_callback(self._downloads.discard)

    def _handle_request(self, request: Request) -> None:
        if self._check_address(request.url) and request.resource_type not in _UNENDING_TYPES:
            self._requests[request] = time.monotonic()

    def _handle_socket(self, socket: WebSocket) -> None:
        self._check_address(socket.url)

    def _forget_request(self, request: Request) -> None:
        self._requests.pop(request, None)

    def _handle_navigation(self, frame: Frame) -> None:
        if frame.parent_frame is None:
            self._requests = {
                request: at for request, at in self._requests.items() if request.is_navigation_request()
            }

    def _handle_window(self, event: object) -> None:
        self.announced += 1

    def _handle_crash(self, page: Page) -> None:
        self.crashed = True

    def _check_address(self, url: str) -> bool:
        """Whether the address is on this machine; others are passed to `on_blocked`."""
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and not is_loopback(parts.hostname or ""):
            self.on_blocked(url)
            return False
        return True

    def _forget_suspended(self, task: asyncio.Future[Any]) -> None:
        self._suspended.discard(task)
        if not task.cancelled():
            task.exception()


def _is_interruption(error: BaseException | None) -> bool:
    text = str(error)
    return "context was destroyed" in text or "navigat" in text or "Cannot find context" in text


Point = tuple[float, float]
"""A point of the page, in pixels."""

_DRIVER_KEYS = {
    **{name: name.capitalize() for name in KEY_NAMES},
    **{name: f"Arrow{name.capitalize()}" for name in ("up", "down", "left", "right")},
    **{"space": " ", "pageup": "PageUp", "pagedown": "PageDown", "contextmenu": "ContextMenu"},
    **{"ctrl": "Control", "alt": "Alt", "shift": "Shift"},
}
_MODIFIER_BITS = {"alt": 1, "ctrl": 2, "shift": 8}
_SET_VALUE = """text => { let e = Object.getOwnPropertyDescriptor(Document.prototype, 'activeElement').get.call(document);
  for (;;) { const inner = e && e.shadowRoot ? e.shadowRoot.activeElement : e && e.contentDocument ? e.contentDocument.activeElement : null;
    if (!inner) break; e = inner; }
  if (!e || e.tagName !== 'INPUT' || e.disabled || e.readOnly) return false;
  const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set, before = e.value;
  set.call(e, text.trim().toLowerCase().replace('t', 'T').replace('w', 'W'));
  if (!e.value || (e.type === 'color' && e.value !== text.trim().toLowerCase())) { set.call(e, before); return false; }
  e.dispatchEvent(new Event('input', {bubbles: true, composed: true})); e.dispatchEvent(new Event('change', {bubbles: true}));
  return true; }"""  # noqa: E501
_PIXELS_PER_NOTCH = 120
_CHARACTERS_PER_CALL = 400


async def perform(tab: Tab, action: Action, point: Point, *, click_first: bool, form: str = "") -> None:
    """Do `action` at `point`; keys go to whatever has the focus, after a click if `click_first`.

    Text typed into a field with browser-drawn parts, such as a date, is its whole value, in `form`.

    Raises:
        ActionInvalidError: the field rejects the value.
    """
    mouse = tab.page.mouse
    match action:
        case ClickInput():
            async with _held(tab, action.held):
                await tab.run(mouse.click(*point, button=action.button, click_count=action.times))
        case MoveInput():
            await tab.run(mouse.move(*point))
        case WheelMouseInput():
            await tab.run(mouse.move(*point))
            notches = (action.wheel_sideways * _PIXELS_PER_NOTCH, -action.wheel_distance * _PIXELS_PER_NOTCH)
            await tab.run(mouse.wheel(*notches))
        case DragInput():
            await _drag(tab, action.points)
        case KeyboardInput():
            if click_first:
                await tab.run(mouse.click(*point))
            await _press_keys(tab, parse_keys(action.keys), form)
        case HoldInput():
            names = [name for press in parse_keys(action.keys) for name in (*press.modifiers, press.key)]
            async with _held(tab, list(dict.fromkeys(names))):
                await tab.run(asyncio.sleep(action.seconds))
        case WaitInput():
            await tab.run(asyncio.sleep(action.seconds))


async def _drag(tab: Tab, points: Sequence[Point]) -> None:
    mouse = tab.page.mouse
    await tab.run(mouse.move(*points[0]))
    await tab.run(mouse.down())
    for point in points[1:]:
        await tab.run(mouse.move(*point, steps=8))
    await tab.run(mouse.up())


@contextlib.asynccontextmanager
async def _held(tab: Tab, names: Sequence[str]) -> AsyncIterator[None]:
    """Hold keys down together; all are released whatever happens."""
    keyboard, down = tab.page.keyboard, list[str]()
    held = sum(_MODIFIER_BITS.get(name, 0) for name in names)
    try:
        for name in names:
            down.append(name)
            if _is_on_keyboard(name):
                await tab.run(keyboard.down(_DRIVER_KEYS.get(name, name)))
            else:
                await tab.send_key("keyDown", name, held)
        yield
    finally:
        for name in reversed(down):
            if _is_on_keyboard(name):
                await tab.run(keyboard.up(_DRIVER_KEYS.get(name, name)))
            else:
                await tab.send_key("keyUp", name, 0)


def _is_on_keyboard(name: str) -> bool:
    """Whether the driver's keyboard, a plain American one, has the key."""
    return name in _DRIVER_KEYS or (name.isascii() and name.isprintable())


async def _press_keys(tab: Tab, presses: tuple[KeyPress, ...], form: str) -> None:
    keyboard = tab.page.keyboard
    for part in runs(presses):
        if isinstance(part, KeyPress):
            if _is_on_keyboard(part.key):
                names = (*part.modifiers, part.key)
                await tab.run(keyboard.press("+".join(_DRIVER_KEYS.get(name, name) for name in names)))
            else:
                async with _held(tab, (*part.modifiers, part.key)):
                    pass
        elif form:
            if not await tab.run(tab.page.evaluate(_SET_VALUE, part)):
                raise ActionInvalidError(f"The field takes a value written as {form}, not {part!r}.")
        else:
            for start in range(0, len(part), _CHARACTERS_PER_CALL):
                await tab.run(keyboard.type(part[start : start + _CHARACTERS_PER_CALL]))
