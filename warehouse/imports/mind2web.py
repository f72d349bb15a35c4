"""Mind2Web (`train_*.json`, `test_*.json`), Multimodal-Mind2Web (`*.parquet`, one row per action with its
screenshot), and the lists of tasks on live websites in SeeAct, Online-Mind2Web and Mind2Web-Live.

A task is one subtask on a website; where the website is an address, its host is the application. The HTML of
pages is not kept. A trajectory comes in where every action has a picture and a place and is a click,
hovering, Enter or typing; choosing from a list has no action here. A task of a list has no demonstration, and
is told by its `task_id` or `index`; Mind2Web-Live's website is that of the first address that it evaluates.
"""

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, AliasPath, Field, JsonValue

from taskloom.taskgraph.records.interaction import Action, ClickInput, KeyboardInput, MoveInput
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    Step,
    as_picture,
    read_tasks,
    typing,
    understood,
    website_name,
)
from taskloom.warehouse.importing.items import (
    ForeignModel,
    Item,
    Items,
    Records,
    Text,
    items_of,
    table_rows,
    unreadable,
)
from taskloom.warehouse.importing.json_reading import inner_json, matching_files

_ROWS = 20
_PAGES = ("raw_html", "cleaned_html", "neg_candidates", "screenshot")
"""Fields that are not kept: whole pages, and pictures, which are stored beside the tables."""


class _Operation(ForeignModel):
    op: Text
    original_op: str = ""
    """What was done: `op` calls hovering and Enter clicks, too."""
    value: str = ""


class _Task(ForeignModel):
    website: Text = Field(
        validation_alias=AliasChoices("website", AliasPath("evaluation", 0, "content", "url"))
    )
    confirmed_task: Text = Field(validation_alias=AliasChoices("confirmed_task", "task"))
    domain: str = ""
    subdomain: str = ""
    action_reprs: list[str] = Field(default_factory=list)


def read(path: Path) -> Records:
    """The tasks of a file, or of the JSON and Parquet files of a folder with its subfolders."""
    files = matching_files(path, "*.json", "*.parquet")
    pictures: dict[str, list[bytes | None]] = {}
    items = (
        item
        for file, shown in files
        if file.name not in ("manifest.json", "dataset_infos.json")
        for item in (
            _parquet_items(file, shown, pictures) if file.suffix == ".parquet" else items_of([(file, shown)])
        )
    )
    yield from read_tasks(
        "mind2web", items, _name, lambda item: _describe(item, pictures.pop(_name(item), []))
    )


def _parquet_items(file: Path, shown: str, pictures: dict[str, list[bytes | None]]) -> Items:
    """One item per task, whose rows follow each other; where the file is cut, its last task is left out."""
    rows = table_rows(file, shown, _ROWS, lambda column: column.name not in _PAGES[:3])
    try:
        for _, actions in itertools.groupby(rows, lambda row: row.get("annotation_id")):
            yield _joined(list(actions), shown, pictures)
    except ImportRefusedError as error:
        yield unreadable(error, shown)


def _joined(rows: list[dict[str, Any]], shown: str, pictures: dict[str, list[bytes | None]]) -> Item:
    rows = sorted(rows, key=_position)
    of_action = (*_PAGES, "operation", "pos_candidates", "action_uid")
    whole: dict[str, JsonValue] = {
        name: value
        for name, value in rows[0].items()
        if name not in of_action and not name.startswith("target_action")
    }
    whole["actions"] = [
        {name: row.get(name) for name in ("action_uid", "operation", "pos_candidates", "target_action_reprs")}
        for row in rows
    ]
    name = str(rows[0].get("annotation_id"))
    pictures[name] = [
        held.get("bytes") if isinstance(held := row.get("screenshot"), dict) else None for row in rows
    ]
    # A column that is no JSON, such as a date or bytes, is kept as its text.
    return Item(shown, json.loads(json.dumps(whole, default=str)), name)


def _position(row: dict[str, Any]) -> int:
    """Place of a row's action in its task; rows without one stay in the order of the file."""
    text = str(row.get("target_action_index") or 0)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _name(item: Item) -> str:
    return item.named("annotation_id", "task_id", "index")


def _describe(item: Item, pictures: list[bytes | None]) -> Description:
    task = item.parsed(_Task)
    content = item.value if isinstance(item.value, dict) else {}
    actions = content.get("actions")
    kept = [
        {name: value for name, value in action.items() if name not in _PAGES}
        for action in (actions if isinstance(actions, list) else ())
        if isinstance(action, dict)
    ]
    if "actions" in content:
        content = {**content, "actions": kept}  # type: ignore[dict-item]
    shown = [as_picture(data) if data else None for data in pictures]
    shown += [None] * (len(kept) - len(shown))
    steps: list[Step] | str | None = None
    if kept and len(kept) != len(task.action_reprs or kept):
        steps = f"{len(kept)} of its {len(task.action_reprs)} actions are there"
    elif kept:
        steps = [(at, understood(at, partial(_done, done))) for at, done in zip(shown, kept, strict=True)]
    return Description(task.confirmed_task, (website_name(task.website),), content=content, steps=steps)


def _done(action: dict[str, JsonValue], picture: Picture) -> Demonstrated | None:
    try:
        operation = _Operation.model_validate(_json(action.get("operation")))
        box = _box(action.get("pos_candidates"))
    except ValueError:
        return None
    if box is None:
        return None
    if box[0] >= picture.width or box[1] >= picture.height:
        raise ValueError(f"its element at {box[0]}, {box[1]} is outside the screen")
    done: dict[str, Action] = {
        "CLICK": ClickInput(control_label=""),
        "HOVER": MoveInput(control_label=""),
        "ENTER": KeyboardInput(keys="{ENTER}"),
    }
    if operation.op == "TYPE":
        done["TYPE"] = typing(operation.value).action
    name = operation.original_op or operation.op
    words = str(action.get("target_action_reprs") or "")
    return Demonstrated(done[name], box, words) if name in done else None


def _json(value: JsonValue) -> JsonValue:
    return inner_json(value) if isinstance(value, str) else value


def _box(candidates: JsonValue) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom from the attribute `bounding_box_rect` (left, top, width, height)."""
    found = _json(candidates)
    for candidate in found if isinstance(found, list) else []:
        element = _json(candidate)
        attributes = _json(element.get("attributes")) if isinstance(element, dict) else None
        text = attributes.get("bounding_box_rect") if isinstance(attributes, dict) else None
        if isinstance(text, str):
            left, top, width, height = (int(float(part)) for part in text.split(","))
            if left >= 0 and top >= 0 and width > 0 and height > 0:
                return (left, top, left + width, top + height)
    return None
