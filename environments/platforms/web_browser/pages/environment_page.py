"""Windows shown by the environment itself, because a headless browser shows none: file picker, questions,
lists. They are drawn in a page of their own over a picture of the page that they belong to, and used like any
other page; the application name of their controls is `environment`."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from playwright.async_api import Dialog, ElementHandle, FileChooser, Route

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.environments.platforms.web_browser.pages.tab import Tab, Unresponsive
from taskloom.environments.starting_place import UNRESPONSIVE
from taskloom.taskgraph.records.evidence import ClipboardState
from taskloom.taskgraph.records.interaction import Rectangle

ADDRESS = "http://environment.localhost/"
"""Address of the environment's page: a secure origin, so it may read the clipboard."""

_MARKUP = (
    files("taskloom.environments.platforms.web_browser.pages").joinpath("environment_page.html").read_text()
)
_TITLES = {"beforeunload": "Leave page?", "unresponsive": UNRESPONSIVE}
_LARGEST_LISTING = 2000
_READ_CLIPBOARD = """async () => {
  const state = {text: null, image: null};
  let items;
  try { items = await navigator.clipboard.read(); } catch (_) { return state; }
  for (const item of items) for (const type of item.types) {
    try {
      if (type === 'text/plain') state.text = await (await item.getType(type)).text();
      if (type.startsWith('image/') && state.image === null) {
        const bytes = new Uint8Array(await (await item.getType(type)).arrayBuffer());
        let text = ''; for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
        state.image = btoa(text);
      }
    } catch (_) { /* this representation cannot be read; another may */ }
  }
  return state;
}"""  # noqa: E501
_SET_CHOICE = """(select, index) => {
  const setter = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'selectedIndex').set;
  if (select.selectedIndex === index) return;
  setter.call(select, index);
  select.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  select.dispatchEvent(new Event('change', {bubbles: true}));
}"""
_LIST_OPTIONS = """select => [...select.options].map((option, index) => ({index, text: option.label || option.text, disabled: option.disabled,
  selected: option.selected, hidden: option.hidden})).filter(option => !option.hidden)"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Window:
    """The open window, and the receiver of its answer."""

    asker: Dialog | Unresponsive | FileChooser | ElementHandle
    tab: Tab
    title: str


class EnvironmentPage:
    """The environment's own page, and the clipboard, which all pages of the browser share."""

    def __init__(self, tab: Tab, home: Path) -> None:
        self.tab = tab
        self.window: Window | None = None
        self._home = home

    async def open(self) -> None:
        """Load the page."""
        await self.tab.page.route(ADDRESS + "*", _serve)
        await self.tab.page.goto(ADDRESS)

    async def ask_for_file(self, tab: Tab, chooser: FileChooser, background: bytes) -> None:
        """Show the file picker for `chooser`."""
        field = chooser.element
        folders = await field.evaluate("e => e.webkitdirectory === true")
        title = "Open folder" if folders else "Open files" if chooser.is_multiple() else "Open file"
        several = chooser.is_multiple() and not folders
        shown = {"entries": self._entries(), "start": "", "folders": folders, "several": several}
        await self._show("showPicker", Window(chooser, tab, title), background, shown)

    async def ask(self, tab: Tab, dialog: Dialog | Unresponsive, background: bytes) -> None:
        """Show an `alert`, `confirm`, `prompt` or `beforeunload` of the page, or that it is unresponsive."""
        title = _TITLES.get(dialog.type, f"{tab.title} says")
        message = dialog.message
        if dialog.type == "beforeunload" and not message:
            message = "Changes that you made may not be saved."
        shown = {"kind": dialog.type, "message": message, "value": dialog.default_value}
        await self._show("showQuestion", Window(dialog, tab, title), background, shown)

    async def offer_options(
        self, tab: Tab, field: ElementHandle, rectangle: Rectangle, background: bytes
    ) -> None:
        """Show the options of a drop-down field at `rectangle`."""
        edges = [rectangle.left, rectangle.top, rectangle.right, rectangle.bottom]
        shown = {"options": await field.evaluate(_LIST_OPTIONS), "rectangle": edges}
        await self._show("showOptions", Window(field, tab, "Options"), background, shown)

    async def _show(
        self, function: str, window: Window, background: bytes, shown: Mapping[str, object]
    ) -> None:
        """Draw a window over the picture of its page, by a function of the environment's page."""
        self.window = window
        picture = "data:image/png;base64," + base64.b64encode(background).decode()
        argument = {"background": picture, "title": window.title, **shown}
        await self.tab.page.evaluate(f"argument => {function}(argument)", argument)

    async def take_answer(self) -> Tab | None:
        """Pass on the answer, if any; returns the tab that got it, or None while the window stays open."""
        window = self.window
        if window is None:
            return None
        answer = await self.tab.page.evaluate("() => takeAnswer()")
        if answer is None:
            return None
        self.window = None
        await self.tab.page.evaluate("() => clearPage()")
        if isinstance(window.asker, FileChooser):
            window.tab.chooser = None
            if "files" in answer:
                await window.asker.set_files([self._home / path for path in answer["files"]])
        elif isinstance(window.asker, Dialog | Unresponsive):
            window.tab.close_question(window.asker)
            if answer["accepted"]:
                await window.asker.accept(answer.get("text", ""))
            else:
                await window.asker.dismiss()
        elif "index" in answer:
            await window.asker.evaluate(_SET_CHOICE, answer["index"])
        return window.tab

    async def clipboard(self) -> ClipboardState:
        """The content of the clipboard; an empty text counts as nothing."""
        state = await self.tab.run(self.tab.page.evaluate(_READ_CLIPBOARD))
        image = base64.b64decode(state["image"]) if state["image"] else None
        return ClipboardState(
            text=state["text"] or None, image_sha256=hashlib.sha256(image).hexdigest() if image else None
        )

    async def reset(self) -> None:
        """Close any window without an answer and empty the clipboard, as at a reset."""
        self.window = None
        await self.tab.page.evaluate("() => clearPage()")
        await self.copy("")

    async def copy(self, text: str) -> None:
        """Copy `text` to the clipboard."""
        await self.tab.page.evaluate("text => navigator.clipboard.writeText(text)", text)

    def _entries(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        pending = [self._home]
        while pending and len(found) < _LARGEST_LISTING:
            folder = pending.pop(0)
            inside = sorted(folder.iterdir(), key=lambda path: (not path.is_dir(), path.name.casefold()))
            for path in inside:
                if path.name.startswith(".") or path.name == APPLICATIONS_FOLDER:
                    continue
                found.append({"path": path.relative_to(self._home).as_posix(), "folder": path.is_dir()})
                if path.is_dir() and not path.is_symlink():
                    pending.append(path)
        return found


async def _serve(route: Route) -> None:
    await route.fulfill(body=_MARKUP, content_type="text/html; charset=utf-8")
