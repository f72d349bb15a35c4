"""Looking at the screen: one page's controls and picture, with the task bar below."""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from playwright.async_api import Frame

from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.environments.platforms.web_browser.pages.task_bar import compose, draw
from taskloom.environments.task_bar import TaskBarButton, as_controls
from taskloom.environments.told_controls import ToldControl, told_control
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot

_CONTROLS = files("taskloom.environments.platforms.web_browser.pages").joinpath("controls.js").read_text()
_POSITION = """e => { for (let view = e.ownerDocument.defaultView; ; view = view.parent) {
  try { const at = (view[Symbol.for('taskloom.frames')] || []).indexOf(e); if (at >= 0) return at; } catch (_) { return -1; }
  if (view === view.parent) return -1; } }"""  # noqa: E501
_LIMITS = {"textLimit": 200, "valueLimit": 20_000}


FoundControl = ToldControl
"""One control as `controls.js` reports it: its place is a `rectangle`; of a drop-down field it says `select`,
and of a field with parts of the browser's own the `form` of its value."""
ClosedFrame = dict[str, list[float]]
"""The place of a frame of another origin: its `matrix` and `clip`."""


@dataclass(frozen=True, slots=True)
class View:
    """The screen at one moment, with what is needed to act on it."""

    screenshot: Screenshot
    """The picture, task bar included."""
    page_picture: bytes
    """The picture of the page alone."""
    controls: tuple[Control, ...]
    """Controls of the page, then of the task bar."""
    drop_downs: frozenset[str] = frozenset()
    """Labels of drop-down fields."""
    forms: dict[str, str] = field(default_factory=dict)
    """Per label of a field with parts of the browser's own, such as a date, the form of its value."""
    commands: dict[str, str] = field(default_factory=dict)
    """Per label of a task bar button what it does."""


async def find_controls(tab: Tab) -> list[FoundControl]:
    """The controls on the page, as they are now, those in frames of other origins included."""
    controls, closed = _read(await tab.look(_CONTROLS, _LIMITS))
    return [*controls, *await _in_closed_frames(tab, tab.page.main_frame, closed)] if closed else controls


async def _in_closed_frames(tab: Tab, around: Frame, closed: Sequence[ClosedFrame]) -> list[FoundControl]:
    """The controls of frames that a script of the page cannot enter, at their places in the page."""
    found: list[FoundControl] = []
    for frame in around.child_frames:
        with contextlib.suppress(EnvironmentBrokenError):  # a frame that goes while it is asked shows nothing
            element = await tab.doing(frame.frame_element())
            position = await tab.doing(element.evaluate(_POSITION))
            if not 0 <= position < len(closed):
                found += await _in_closed_frames(tab, frame, closed)
                continue
            controls, inside = _read(await tab.doing(frame.evaluate(_CONTROLS, _LIMITS)))
            controls += await _in_closed_frames(tab, frame, inside)
            moved = (_moved(control, closed[position]) for control in controls)
            found += [control for control in moved if control is not None]
    return found


def _moved(control: FoundControl, frame: ClosedFrame) -> FoundControl | None:
    """A control of a frame at its place in the page around it; None where the frame does not show it."""
    a, b, c, d, e, f = frame["matrix"]
    left, top, right, bottom = control["rectangle"]
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (top, bottom)]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    x, y = control["point"]
    point = [a * x + c * y + e, b * x + d * y + f]
    first_x, first_y, last_x, last_y = frame["clip"]
    if not (first_x <= point[0] <= last_x and first_y <= point[1] <= last_y):
        return None
    place = (
        max(min(across), first_x),
        max(min(down), first_y),
        min(max(across), last_x),
        min(max(down), last_y),
    )
    return {**control, "rectangle": [round(value) for value in place], "point": point}


def _read(answer: Any) -> tuple[list[FoundControl], list[ClosedFrame]]:
    told = json.loads(answer) if isinstance(answer, str) else answer
    return told["controls"], told["closed"]


async def controls_now(tab: Tab, application: str, passing: Mapping[str, str]) -> list[Control]:
    """The controls of the page at this moment, without a picture and without waiting."""
    return _as_controls(await find_controls(tab), application, passing)


async def look_at(
    tab: Tab,
    application: str,
    buttons: Sequence[TaskBarButton],
    screen_size: tuple[int, int],
    passing: Mapping[str, str],
    last: View | None,
    drawing: Tab,
) -> View:
    """The screen with `tab` in front.

    Texts in `passing`, which differ between environments, are replaced in the texts of controls. `last`
    avoids drawing the same picture again. `drawing` is a page of the environment's own, which draws the bar.
    """
    found, picture = await asyncio.gather(find_controls(tab), tab.capture())
    controls = _as_controls(found, application, passing)
    bar = as_controls(buttons, len(controls) + 1)
    if (
        last is not None
        and last.page_picture == picture
        and _bar_key(last.controls[-len(last.commands) :]) == _bar_key(bar)
    ):
        screenshot = last.screenshot
    else:
        bar_picture = await draw(drawing, buttons, screen_size[0])
        screenshot = Screenshot.of(await asyncio.to_thread(compose, picture, bar_picture, screen_size))
    return View(
        screenshot=screenshot,
        page_picture=picture,
        controls=(*controls, *bar),
        drop_downs=frozenset(str(label) for label, item in enumerate(found, 1) if item["select"]),
        forms={str(label): item["form"] for label, item in enumerate(found, 1) if item["form"]},
        commands={control.label: button.command for control, button in zip(bar, buttons, strict=True)},
    )


def _bar_key(bar: Sequence[Control]) -> list[tuple[str, bool | None]]:
    return [(control.text, control.checked) for control in bar]


def _as_controls(
    found: Sequence[FoundControl], application: str, passing: Mapping[str, str]
) -> list[Control]:
    def shown(text: str) -> str:
        for old, new in passing.items():
            text = text.replace(old, new)
        return text

    controls = []
    for label, item in enumerate(found, 1):
        left, top, right, bottom = item["rectangle"]
        place = Rectangle(left=left, top=top, right=right, bottom=bottom)
        controls.append(told_control(item, label, place, application, shown))
    return controls
