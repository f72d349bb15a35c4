"""ShareGPT: lists of conversations about pictures, as the export of the same name and LLaMA-Factory have
them.

Conversations of one recording (`<id>#1`, `<id>#2`, …) are one demonstration, and so is a conversation of
several turns. The task is what the first human turn asks for; the trajectory comes in where all pictures are
there and every answer is one of our actions.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import AliasChoices, Field, JsonValue, TypeAdapter, ValidationError

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Action
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.dialogues import COORDINATES
from taskloom.warehouse.exporting.exported_actions import Coordinates, unscaled
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Picture,
    Source,
    read_picture,
    task_records,
    trajectories_of,
)
from taskloom.warehouse.importing.items import BrokenItem, ForeignModel, Item, checked, line_items

_MARK: Final = "<image>"
_DESCRIPTION: Final = "dataset_info.json"
_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_ASKED = re.compile(r"^Task: (.*?)(?:\nDone so far:.*)?$", re.DOTALL | re.MULTILINE)


class _Turn(ForeignModel):
    speaker: Literal["human", "gpt", "system", "user", "assistant"] = Field(
        validation_alias=AliasChoices("from", "role")
    )
    value: str = Field(validation_alias=AliasChoices("value", "content"))


class _Conversation(ForeignModel):
    id: str = ""
    conversations: list[_Turn] = Field(validation_alias=AliasChoices("conversations", "messages"))
    image: list[str] = Field(default_factory=list, validation_alias=AliasChoices("image", "images"))


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The conversations of a file, or of the `.json` and `.jsonl` files of a folder.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    files = (
        sorted(
            file
            for file in path.iterdir()
            if file.suffix in (".json", ".jsonl")
            and file.name not in (_DESCRIPTION, "manifest.json", "sets.json")
        )
        if path.is_dir()
        else [path]
    )
    if not files or not all(file.is_file() for file in files):
        raise ImportRefusedError(str(path), "", "holds no .json or .jsonl file of conversations")

    def build(item: Item) -> Iterator[Record]:
        return _records(item, root)

    yield from checked((item for file in files for item in _grouped(file)), build, _name)


def _grouped(file: Path) -> Iterator[Item | BrokenItem]:
    """Conversations that belong to one recording as one item, which is the list of them."""

    def recording(item: Item | BrokenItem) -> str:
        if isinstance(item, BrokenItem):
            return f"broken {item.place}"
        name = item.value.get("id") if isinstance(item.value, dict) else None
        return name.rpartition("#")[0] or item.where if isinstance(name, str) else item.where

    for _, group in itertools.groupby(line_items(file, file.name), recording):
        members = list(group)
        first = members[0]
        if isinstance(first, BrokenItem):
            yield from members
            continue
        values: list[JsonValue] = [item.value for item in members if isinstance(item, Item)]
        yield Item(first.file, values, first.place)


def _conversations(item: Item) -> list[_Conversation]:
    values = item.value if isinstance(item.value, list) else [item.value]
    return [Item(item.file, value, item.place).parsed(_Conversation) for value in values]


def _name(item: Item) -> str:
    name = _conversations(item)[0].id
    return f"sharegpt:{name.rpartition('#')[0] or name or item.where}"


def _records(item: Item, root: Path) -> Iterator[Record]:
    found = _conversations(item)
    asked = next((turn.value for turn in found[0].conversations if turn.speaker in ("human", "user")), "")
    instruction = _instruction(asked)
    if not instruction:
        raise item.refused("conversations", "ask for nothing")
    source = Source(
        task_id=_name(item), format="sharegpt", instruction=instruction, applications=("desktop",)
    )
    yield from task_records(item, source)
    steps: list[tuple[Picture | None, Demonstrated | str | None]] = []
    coordinates = _coordinates(asked)
    for conversation in found:
        pictures = iter(conversation.image)
        shown: Picture | None = None
        for turn in conversation.conversations:
            if turn.speaker in ("human", "user"):
                for _ in range(turn.value.count(_MARK)):
                    shown = read_picture(root, next(pictures, ""))
            elif turn.speaker in ("gpt", "assistant"):
                steps.append((shown, _done(turn.value, shown, coordinates)))
    yield from trajectories_of(source, steps)


def _instruction(asked: str) -> str:
    """What a human turn asks for, without the mark of the picture and what our exports say of actions."""
    match = _ASKED.search(asked)
    if match:
        return match[1].strip()
    lines = [
        line
        for line in asked.replace(_MARK, "").splitlines()
        if not line.startswith("You operate a computer.")
    ]
    return "\n".join(lines).strip()


def _coordinates(asked: str) -> Coordinates:
    names: tuple[Coordinates, ...] = ("thousand", "unit", "absolute")
    return next((name for name in names if f"Points are {COORDINATES[name]}." in asked), "absolute")


def _done(answer: str, picture: Picture | None, coordinates: Coordinates) -> Demonstrated | str | None:
    """The one action of an answer; None where it is none of ours."""
    calls = [
        line.removeprefix("Action:").strip() for line in answer.splitlines() if line.startswith("Action:")
    ]
    calls = [call for call in calls if call != "finish()"]
    if picture is None or len(calls) != 1:
        return None
    before = answer.partition("Action:")[0].strip()
    try:
        call = ast.parse(calls[0], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        values = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        size = (picture.width, picture.height)
        path = [unscaled(point, size, coordinates) for point in values.pop("path", [])]
        point = values.pop("point", None)
        if point is not None:
            values["point"] = unscaled(point, size, coordinates)
        if path:
            values["points"] = path
        action = _ACTION.validate_python({"operation": call.func.id, **values})
    except (SyntaxError, ValueError, TypeError, ValidationError, IndexError, MemoryError, RecursionError):
        return None
    return Demonstrated(action, thought=before.removeprefix("Thought:").strip())
