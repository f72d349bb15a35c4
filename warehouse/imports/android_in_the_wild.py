"""Android in the Wild, in the step records that AITZ (Android in the Zoo) publishes: one JSON list of steps
per episode.

Touch points are fractions of the screen, y before x. An episode is one task; its trajectory comes in where
all pictures are there and no step presses a key of the phone other than Enter, for which there is no action
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    click,
    drag,
    pressed,
    read_picture,
    read_tasks,
    typing,
    understood,
)
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Identifier, Item, Text, file_items
from taskloom.warehouse.importing.json_reading import collection_files, inner_json

_TYPE: Final = 3
_TOUCH: Final = 4
_ENTER: Final = 7
_COMPLETE: Final = 10
_IMPOSSIBLE: Final = 11
_STILL: Final = 0.04
"""Largest distance between touching and lifting that still is a tap, as a fraction of the screen."""


def _listed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return inner_json(value)
    except ValueError:
        raise ValueError("must be a list, or text that holds one") from None


def _real(value: object) -> object:
    value = _listed(value)
    try:
        return (
            [float(part) if isinstance(part, int) else part for part in value]
            if isinstance(value, list)
            else value
        )
    except OverflowError:
        raise ValueError("must be numbers that fit a screen") from None


Point = Annotated[list[float], BeforeValidator(_real), Field(min_length=2, max_length=2)]
"""A point, y before x."""


class _Step(ForeignModel):
    episode_id: Identifier
    step_id: int
    instruction: Text
    result_action_type: int
    result_action_text: str = ""
    result_touch_yx: Point = Field(default_factory=lambda: [-1.0, -1.0])
    result_lift_yx: Point = Field(default_factory=lambda: [-1.0, -1.0])
    image_path: str = ""
    coat_screen_desc: str = ""
    coat_action_think: str = ""


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The episodes of a file, or of a folder with its subfolders.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    items = file_items(collection_files(path))
    yield from read_tasks("android_in_the_wild", items, _name, lambda item: _describe(item, root))


def _parts(item: Item) -> list[Item]:
    if not isinstance(item.value, list) or not item.value:
        raise item.refused("", "must be a list of steps")
    return [Item(item.file, value, f"[{number}]") for number, value in enumerate(item.value)]


def _name(item: Item) -> str:
    return _parts(item)[0].named("episode_id")


def _describe(item: Item, root: Path) -> Description:
    steps = [part.parsed(_Step) for part in _parts(item)]
    folder = root / Path(item.file).parent
    shown = [
        (read_picture(root, step.image_path) or read_picture(folder, Path(step.image_path).name), step)
        for step in sorted(steps, key=lambda step: step.step_id)
        if step.result_action_type not in (_COMPLETE, _IMPOSSIBLE)
    ]
    return Description(
        steps[0].instruction,
        ("android",),
        infeasible=steps[-1].result_action_type == _IMPOSSIBLE,
        steps=[(picture, _done(step, picture)) for picture, step in shown],
    )


@understood
def _done(step: _Step, picture: Picture) -> Demonstrated | str | None:
    (touch_y, touch_x), (lift_y, lift_x) = step.result_touch_yx, step.result_lift_yx
    if step.result_action_type == _TYPE:
        done = typing(step.result_action_text)
    elif step.result_action_type == _ENTER:
        done = pressed("{ENTER}")
    elif step.result_action_type == _TOUCH and min(touch_x, touch_y, lift_x, lift_y) >= 0:
        still = (touch_x - lift_x) ** 2 + (touch_y - lift_y) ** 2 <= _STILL**2
        done = (
            click(touch_x, touch_y, picture)
            if still
            else drag([(touch_x, touch_y), (lift_x, lift_y)], picture)
        )
    else:
        return None
    return replace(done, description=step.coat_screen_desc, thought=step.coat_action_think)
