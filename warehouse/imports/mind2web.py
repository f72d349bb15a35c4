"""Mind2Web (`train_*.json`, `test_*.json`), Multimodal-Mind2Web (`*.parquet`, one row per action with its
screenshot), and the lists of tasks on live websites in SeeAct, Online-Mind2Web and Mind2Web-Live.

A task is one subtask on a website; if the website is an address, its host is the application. The HTML of
pages is not kept. A trajectory is imported if every action has a picture and a position and is a click,
a hover, Enter or typing; choosing from a list has no action here. A task of a list has no demonstration and
is identified by `task_id` or `index`; Mind2Web-Live's website is that of the first address it evaluates.
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
    DemonstratedAction,
    Description,
    Picture,
    Step,
    as_picture,
    read_or_reason,
    read_tasks,
    typing,
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
    unreadable_item,
)
from taskloom.warehouse.importing.json_reading import inner_json, matching_files

_ROWS = 20
_PAGES = ("raw_html", "cleaned_html", "neg_candidates", "screenshot")
"""Fields that are not kept: whole pages, and pictures, which are stored outside the tables."""


class _Operation(ForeignModel):
    op: Text
    original_op: str = ""
    """The real operation: `op` calls hovering and Enter clicks, too."""
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
        for file, label in files
        if file.name not in ("manifest.json", "dataset_infos.json")
        for item in (
            _parquet_items(file, label, pictures) if file.suffix == ".parquet" else items_of([(file, label)])
        )
    )
    yield from read_tasks(
        "mind2web", items, _name, lambda item: _describe(item, pictures.pop(_name(item), []))
    )


def _parquet_items(file: Path, label: str, pictures: dict[str, list[bytes | None]]) -> Items:
    """One item per task, whose rows are consecutive; the last task of a truncated file is left out."""
    rows = table_rows(file, label, _ROWS, lambda column: column.name not in _PAGES[:3])
    try:
        for _, actions in itertools.groupby(rows, lambda row: row.get("annotation_id")):
            yield _task_item(list(actions), label, pictures)
    except ImportRefusedError as error:
        yield unreadable_item(error, label)


def _task_item(rows: list[dict[str, Any]], label: str, pictures: dict[str, list[bytes | None]]) -> Item:
    rows = sorted(rows, key=_position)
    of_action = (*_PAGES, "operation", "pos_candidates", "action_uid")
    content: dict[str, JsonValue] = {
        name: value
        for name, value in rows[0].items()
        if name not in of_action and not name.startswith("target_action")
    }
    content["actions"] = [
        {name: row.get(name) for name in ("action_uid", "operation", "pos_candidates", "target_action_reprs")}
        for row in rows
    ]
    name = str(rows[0].get("annotation_id"))
    pictures[name] = [
        screenshot.get("bytes") if isinstance(screenshot := row.get("screenshot"), dict) else None
        for row in rows
    ]
    # A column that is not JSON, such as a date or bytes, is kept as text.
    return Item(label, json.loads(json.dumps(content, default=str)), name)


def _position(row: dict[str, Any]) -> int:
    """Position of a row's action in its task; rows without one stay in the order of the file."""
    text = str(row.get("target_action_index") or 0)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _name(item: Item) -> str:
    return item.read_id("annotation_id", "task_id", "index")


def _describe(item: Item, pictures: list[bytes | None]) -> Description:
    task = item.parse(_Task)
    content = item.value if isinstance(item.value, dict) else {}
    actions = content.get("actions")
    kept = [
        {name: value for name, value in action.items() if name not in _PAGES}
        for action in (actions if isinstance(actions, list) else ())
        if isinstance(action, dict)
    ]
    if "actions" in content:
        content = {**content, "actions": kept}  # type: ignore[dict-item]
    screens = [as_picture(data) if data else None for data in pictures]
    screens += [None] * (len(kept) - len(screens))
    steps: list[Step] | str | None = None
    if kept and len(kept) != len(task.action_reprs or kept):
        steps = f"{len(kept)} of its {len(task.action_reprs)} actions are present"
    elif kept:
        steps = [
            (screen, read_or_reason(screen, partial(_read_action, action)))
            for screen, action in zip(screens, kept, strict=True)
        ]
    return Description(task.confirmed_task, (website_name(task.website),), content=content, steps=steps)


def _read_action(action: dict[str, JsonValue], picture: Picture) -> DemonstratedAction | None:
    try:
        operation = _Operation.model_validate(_json(action.get("operation")))
        box = _box(action.get("pos_candidates"))
    except ValueError:
        return None
    if box is None:
        return None
    if box[0] >= picture.width or box[1] >= picture.height:
        raise ValueError(f"its element at {box[0]}, {box[1]} is outside the screen")
    actions: dict[str, Action] = {
        "CLICK": ClickInput(control_label=""),
        "HOVER": MoveInput(control_label=""),
        "ENTER": KeyboardInput(keys="{ENTER}"),
    }
    if operation.op == "TYPE":
        actions["TYPE"] = typing(operation.value).action
    name = operation.original_op or operation.op
    description = str(action.get("target_action_reprs") or "")
    return DemonstratedAction(actions[name], box, description) if name in actions else None


def _json(value: JsonValue) -> JsonValue:
    return inner_json(value) if isinstance(value, str) else value


def _box(candidates: JsonValue) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom from the attribute `bounding_box_rect` (left, top, width, height)."""
    values = _json(candidates)
    for candidate in values if isinstance(values, list) else []:
        element = _json(candidate)
        attributes = _json(element.get("attributes")) if isinstance(element, dict) else None
        text = attributes.get("bounding_box_rect") if isinstance(attributes, dict) else None
        if isinstance(text, str):
            left, top, width, height = (int(float(part)) for part in text.split(","))
            if left >= 0 and top >= 0 and width > 0 and height > 0:
                return (left, top, left + width, top + height)
    return None
