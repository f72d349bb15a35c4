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
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Picture,
    Source,
    as_picture,
    click,
    left_out,
    task_records,
    trajectories_of,
    typing,
    understood,
)
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Identifier, Item, Text, checked
from taskloom.warehouse.importing.json_reading import inner_json
from taskloom.warehouse.importing.tfrecords import Feature, examples
from taskloom.warehouse.records import ImportedItem


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


class _Named(ForeignModel):
    episode_id: Identifier


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The episodes of a file, or of the files of a folder.

    Raises:
        ImportRefusedError: nothing is there, or a file is not a TFRecord.
    """
    files = [path] if path.is_file() else sorted(path.glob("android_control-*"))
    if not files or not all(file.is_file() for file in files):
        raise ImportRefusedError(str(path), "", "holds no file android_control-…")
    pictures: dict[str, list[bytes]] = {}

    def build(item: Item) -> Iterator[Record]:
        return _records(item, pictures.pop(item.where))

    yield from checked(_items(files, pictures), build, _name)


def _items(files: list[Path], pictures: dict[str, list[bytes]]) -> Iterator[Item]:
    for file in files:
        for number, features in enumerate(examples(file, file.name)):
            value: dict[str, JsonValue] = {
                "actions": [_json(text) for text in _texts(features, "actions")],
                "step_instructions": list(_texts(features, "step_instructions")),
            }
            for name in ("episode_id", "screenshot_widths", "screenshot_heights"):
                numbers = [part for part in features.get(name, []) if isinstance(part, int)]
                value[name] = numbers[0] if name == "episode_id" and numbers else list(numbers)
            value["goal"] = next(iter(_texts(features, "goal")), "")
            item = Item(file.name, value, f"record {number}")
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


def _name(item: Item) -> str:
    return f"android_control:{item.parsed(_Named).episode_id}"


def _records(item: Item, pictures: list[bytes]) -> Iterator[Record]:
    episode = item.parsed(_Episode)
    source = Source(
        task_id=_name(item), format="android_control", instruction=episode.goal, applications=("android",)
    )
    for record in task_records(item, source):
        yield (
            record
            if isinstance(record, ImportedItem)
            else record.model_copy(update={"low_level_instructions": tuple(episode.step_instructions)})
        )
    shown = [as_picture(data) for data in pictures[: len(episode.actions)]]
    if len(shown) != len(episode.actions):
        yield left_out(source, f"{len(shown)} pictures of {len(episode.actions)} actions are there")
        return
    steps = zip(shown, episode.actions, strict=True)
    yield from trajectories_of(source, [(picture, _done(action, picture)) for picture, action in steps])


@understood
def _done(action: _Action, picture: Picture | None) -> Demonstrated | str | None:
    if picture is None:
        return None
    if action.action_type == "click" and action.x is not None and action.y is not None:
        return click(action.x / picture.width, action.y / picture.height, picture)
    if action.action_type == "input_text":
        if "\N{REPLACEMENT CHARACTER}" in action.text:
            raise ValueError("types a text that is not UTF-8")
        return typing(action.text)
    return None
