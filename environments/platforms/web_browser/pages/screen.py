"""Looking at the screen: one page's controls and picture, with the task bar below."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TypedDict, cast

from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.environments.platforms.web_browser.pages.task_bar import TaskBarButton, as_controls, compose
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot

_CONTROLS = files("taskloom.environments.platforms.web_browser.pages").joinpath("controls.js").read_text()
_LIMITS = {"textLimit": 200, "valueLimit": 20_000}


class FoundControl(TypedDict):
    """One control as `controls.js` reports it."""

    type: str
    text: str
    value: str
    parent_text: str
    parent_type: str
    row: str
    section: str
    rectangle: list[int]
    point: list[float]
    checked: bool | None
    disabled: bool
    focused: bool
    select: bool


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
    commands: dict[str, str] = field(default_factory=dict)
    """Per label of a task bar button what it does."""


async def find_controls(tab: Tab) -> list[FoundControl]:
    """The controls on the page, as they are now."""
    answer = await tab.look(_CONTROLS, _LIMITS)
    return cast(list[FoundControl], json.loads(answer) if isinstance(answer, str) else answer)


async def controls_now(tab: Tab, application: str, passing: Mapping[str, str]) -> list[Control]:
    """The controls of the page at this moment, without a picture and without waiting."""
    return [
        _as_control(item, str(label), application, passing)
        for label, item in enumerate(await find_controls(tab), 1)
    ]


async def look_at(
    tab: Tab,
    application: str,
    buttons: Sequence[TaskBarButton],
    screen_size: tuple[int, int],
    passing: Mapping[str, str],
    last: View | None,
) -> View:
    """The screen with `tab` in front.

    Texts in `passing`, which differ between environments, are replaced in the texts of controls. `last`
    avoids drawing the same picture again.
    """
    found, picture = await asyncio.gather(find_controls(tab), tab.capture())
    controls = [_as_control(item, str(label), application, passing) for label, item in enumerate(found, 1)]
    bar = as_controls(buttons, len(controls) + 1)
    if last is not None and last.page_picture == picture and _bar_of(last) == _bar_key(bar):
        screenshot = last.screenshot
    else:
        screenshot = Screenshot.of(await asyncio.to_thread(compose, picture, buttons, screen_size))
    return View(
        screenshot=screenshot,
        page_picture=picture,
        controls=(*controls, *bar),
        drop_downs=frozenset(str(label) for label, item in enumerate(found, 1) if item["select"]),
        commands={control.label: button.command for control, button in zip(bar, buttons, strict=True)},
    )


def _bar_key(bar: Sequence[Control]) -> list[tuple[str, bool | None]]:
    """What decides how the task bar looks."""
    return [(control.text, control.checked) for control in bar]


def _bar_of(view: View) -> list[tuple[str, bool | None]]:
    return _bar_key([control for control in view.controls if control.label in view.commands])


def _as_control(item: FoundControl, label: str, application: str, passing: Mapping[str, str]) -> Control:
    left, top, right, bottom = item["rectangle"]
    place = Rectangle(left=left, top=top, right=right, bottom=bottom)
    x, y = (round(value) for value in item["point"])

    def shown(text: str) -> str:
        for old, new in passing.items():
            text = text.replace(old, new)
        return text

    return Control(
        label=label,
        text=shown(item["text"]),
        control_type=item["type"],
        parent_text=shown(item["parent_text"]),
        parent_type=item["parent_type"],
        row=shown(item["row"]),
        section=shown(item["section"]),
        rectangle=place,
        free_point=None if _is_centre(place, x, y) else (x, y),
        value=shown(item["value"]),
        checked=item["checked"],
        disabled=item["disabled"],
        focused=item["focused"],
        application=application,
    )


def _is_centre(place: Rectangle, x: int, y: int) -> bool:
    return abs(place.center[0] - x) <= 1 and abs(place.center[1] - y) <= 1
