"""ShareGPT: lists of conversations about pictures, as the export of the same name and LLaMA-Factory have
them.

Conversations of one recording (`<id>#1`, `<id>#2`, …) are one demonstration, and so is a conversation of
several turns. The task is what the first human turn asks for; the trajectory comes in where all pictures are
there and every answer is one of our actions.
"""

import ast
import itertools
import re
from pathlib import Path
from typing import Annotated, Final, Literal, cast, get_args

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, TypeAdapter, ValidationError

from taskloom.taskgraph.records.interaction import Action
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.exporting import Coordinates
from taskloom.warehouse.exporting.recordings import COORDINATES, FINISH, unscaled, with_marks
from taskloom.warehouse.importing.episodes import (
    Demonstrated,
    Description,
    Picture,
    Step,
    read_picture,
    read_tasks,
)
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Item,
    Items,
    Records,
    items_of,
    number_as_text,
)

_MARK: Final = "<image>"
_STEPWISE: Final = "\nDone so far:"
_OURS: Final = "You operate a computer."
"""How our own system text begins."""
_NO_CONVERSATIONS: Final = ("dataset_info.json", "manifest.json", "sets.json")
_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_CALL: Final = re.compile(r"^Action:", re.MULTILINE)
_ASKED = re.compile(r"^Task: (.*?)(?:\nDone so far:.*)?$", re.DOTALL | re.MULTILINE)


def _as_list(value: object) -> object:
    """LLaVA names one picture as a text."""
    return [value] if isinstance(value, str) else value


class _Turn(ForeignModel):
    speaker: Literal["human", "gpt", "system", "user", "assistant"] = Field(
        validation_alias=AliasChoices("from", "role")
    )
    value: str = Field(validation_alias=AliasChoices("value", "content"))

    @property
    def asks(self) -> bool:
        return self.speaker in ("human", "user")


class _Conversation(ForeignModel):
    id: Annotated[str, BeforeValidator(number_as_text)] = ""
    conversations: list[_Turn] = Field(validation_alias=AliasChoices("conversations", "messages"))
    image: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=list, validation_alias=AliasChoices("image", "images")
    )

    @property
    def asked(self) -> str:
        return next((turn.value for turn in self.conversations if turn.asks), "")


def read(path: Path) -> Records:
    """The conversations of a file, or of the `.json` and `.jsonl` files of a folder."""
    root = path if path.is_dir() else path.parent
    inside = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    files = [file for file in inside if file.name not in _NO_CONVERSATIONS and file.is_file()]
    if not files:
        raise ImportRefusedError(str(path), "", "holds no .json or .jsonl file of conversations")
    items = (item for file in files for item in _grouped(file))
    yield from read_tasks("sharegpt", items, _name, lambda item: _describe(item, root))


def _grouped(file: Path) -> Items:
    """Conversations that belong to one recording as one item, which is the list of them."""
    latest = ("", 0)

    def recording(item: Item | BrokenItem) -> str:
        nonlocal latest
        before, number = latest
        recorded, latest = _step_of(item), ("", 0)
        if recorded is None:
            return item.place if isinstance(item, BrokenItem) else item.where
        name, step, place = recorded
        start = before if name == before.partition("\n")[0] and step > number else f"{name}\n{place}"
        latest = (start, step)
        return start

    for _, group in itertools.groupby(items_of([(file, file.name)]), recording):
        members = list(group)
        first = members[0]
        if isinstance(first, BrokenItem):
            yield from members
            continue
        values: list[JsonValue] = [item.value for item in members if isinstance(item, Item)]
        yield Item(first.file, values, first.place)


def _step_of(item: Item | BrokenItem) -> tuple[str, int, str] | None:
    """Recording, step and place of a conversation that is one step as our export writes it."""
    if isinstance(item, BrokenItem):
        return None
    try:
        found = item.parsed(_Conversation)
    except ImportRefusedError:
        return None
    name, _, step = found.id.rpartition("#")
    if not name or not (step.isascii() and step.isdigit()) or _STEPWISE not in found.asked:
        return None
    return name, int(step[:9]), item.where


def _conversations(item: Item) -> list[Item]:
    return [Item(item.file, value, item.place) for value in cast(list[JsonValue], item.value)]


def _name(item: Item) -> str:
    first, *_ = _conversations(item)
    step = _step_of(first)
    return (step[0] if step else first.parsed(_Conversation).id) or item.where


def _describe(item: Item, root: Path) -> Description:
    found = [part.parsed(_Conversation) for part in _conversations(item)]
    asked = found[0].asked
    instruction = _instruction(asked)
    ours = _OURS in asked
    if ours:
        instruction = with_marks(instruction)
    if not instruction:
        raise item.refused("conversations", "ask for nothing")
    steps: list[Step] = []
    told = (name for name in get_args(Coordinates) if f"Points are {COORDINATES[name]}." in asked)
    coordinates: Coordinates = next(told, "absolute")
    end: Picture | None = None
    for conversation in found:
        marks = sum(turn.value.count(_MARK) for turn in conversation.conversations if turn.asks)
        if marks != len(conversation.image):
            fault = f"its texts have {marks} marks {_MARK}, its pictures are {len(conversation.image)}"
            return Description(instruction, ("desktop",), steps=fault)
        pictures = iter(conversation.image)
        shown: Picture | None = None
        for turn in conversation.conversations:
            if turn.asks:
                for _ in range(turn.value.count(_MARK)):
                    shown = read_picture(root, next(pictures, ""))
            elif turn.speaker in ("gpt", "assistant"):
                answer = with_marks(turn.value) if ours else turn.value
                if answer.strip() == FINISH:
                    end = shown
                    continue
                steps.append((shown, _done(answer, shown, coordinates)))
                shown = None  # what follows is done on a screen of its own
    return Description(instruction, ("desktop",), steps=steps, end=end)


def _instruction(asked: str) -> str:
    if match := _ASKED.search(asked):
        return match[1].strip()
    lines = asked.replace(_MARK, "").splitlines()
    return "\n".join(line for line in lines if not line.startswith(_OURS)).strip()


def _done(answer: str, picture: Picture | None, coordinates: Coordinates) -> Demonstrated | str | None:
    before, *found = _CALL.split(answer)
    calls = [call for call in (line.partition("\n")[0].strip() for line in found) if call != "finish()"]
    if picture is None or len(calls) != 1:
        return f"its answer holds {len(calls)} actions of ours"
    try:
        call = ast.parse(calls[0], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return "its answer is no action of ours"
        values = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        size = (picture.width, picture.height)
        path = [unscaled(point, size, coordinates) for point in values.pop("path", [])]
        point = values.pop("point", None)
        if point is not None:
            values["point"] = unscaled(point, size, coordinates)
        if path:
            values["points"] = path
        for at in (*path, values.get("point")):
            if at and not (0 <= at[0] <= size[0] and 0 <= at[1] <= size[1]):
                return f"its point {at} is outside the screen"
        target = str(values.pop("control_text", ""))
        action = _ACTION.validate_python({"operation": call.func.id, **values})
    except (SyntaxError, ValueError, TypeError, ValidationError, IndexError, MemoryError, RecursionError):
        return "its answer is no action of ours"
    return Demonstrated(action, target=target, thought=before.strip().removeprefix("Thought:").strip())
