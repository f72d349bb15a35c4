"""AndroidControl: TFRecord files (`android_control-*`) with one episode per message.

Points are pixels. An episode is one task; its trajectory comes in where every step is a click or typing:
scrolling without a distance, opening an application and the keys of a phone have no action here.
Accessibility trees are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    Step,
    as_picture,
    click,
    read_tasks,
    typing,
    understood,
)
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Identifier, Item, Text
from taskloom.warehouse.importing.json_reading import inner_json, matching_files
from taskloom.warehouse.importing.tfrecords import Feature, examples


class _Action(ForeignModel):
    action_type: Text
    x: int | None = None
    y: int | None = None
    text: str = ""


class _Episode(ForeignModel):
    episode_id: Identifier
    goal: Text
    actions: list[_Action]
    step_instructions: list[str]


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The episodes of a file, or of the files of a folder.

    Raises:
        ImportRefusedError: nothing is there, or a file is not a TFRecord.
    """
    pictures: dict[str, list[bytes]] = {}
    yield from read_tasks(
        "android_control",
        _items(matching_files(path, "android_control-*"), pictures),
        lambda item: item.named("episode_id"),
        lambda item: _describe(item, pictures.pop(item.where)),
    )


def _items(files: list[tuple[Path, str]], pictures: dict[str, list[bytes]]) -> Iterator[Item]:
    for file, shown in files:
        for number, features in enumerate(examples(file, shown)):
            value: dict[str, JsonValue] = {
                "actions": [_json(text) for text in _texts(features, "actions")],
                "step_instructions": list(_texts(features, "step_instructions")),
            }
            for name in ("episode_id", "screenshot_widths", "screenshot_heights"):
                numbers = [part for part in features.get(name, []) if isinstance(part, int)]
                value[name] = numbers[0] if name == "episode_id" and numbers else list(numbers)
            value["goal"] = next(iter(_texts(features, "goal")), "")
            item = Item(shown, value, f"record {number}")
            pictures[item.where] = [
                part for part in features.get("screenshots", []) if isinstance(part, bytes)
            ]
            yield item


def _texts(features: dict[str, Feature], name: str) -> list[str]:
    return [part.decode("utf-8", "replace") for part in features.get(name, []) if isinstance(part, bytes)]


def _json(text: str) -> JsonValue:
    try:
        return inner_json(text)
    except ValueError:
        return text


def _describe(item: Item, pictures: list[bytes]) -> Description:
    episode = item.parsed(_Episode)
    shown = [as_picture(data) for data in pictures[: len(episode.actions)]]
    steps: list[Step] | str = f"{len(shown)} pictures of {len(episode.actions)} actions are there"
    if len(shown) == len(episode.actions):
        pairs = zip(shown, episode.actions, strict=True)
        steps = [(picture, _done(action, picture)) for picture, action in pairs]
    return Description(
        episode.goal, ("android",), low_level_instructions=episode.step_instructions, steps=steps
    )


@understood
def _done(action: _Action, picture: Picture) -> Demonstrated | str | None:
    if action.action_type == "click" and action.x is not None and action.y is not None:
        return click(action.x / picture.width, action.y / picture.height, picture)
    if action.action_type == "input_text":
        if "\N{REPLACEMENT CHARACTER}" in action.text:
            raise ValueError("types a text that is not UTF-8")
        return typing(action.text)
    return None
