"""ShareGPT: lists of conversations about pictures, as in the export of the same name and LLaMA-Factory.

Conversations of one recording (`<id>#1`, `<id>#2`, …) are one demonstration, and so is a conversation of
several turns. The task is what the first human turn asks for; the trajectory is imported if all pictures
exist and every answer is one of our actions.
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
from taskloom.warehouse.exporting.recordings import COORDINATES, FINISH, unscale, with_marks
from taskloom.warehouse.importing.episodes import (
    DemonstratedAction,
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

_IMAGE_MARK: Final = "<image>"
_STEPWISE: Final = "\nDone so far:"
_SYSTEM_START: Final = "You operate a computer."
"""Beginning of our own system text."""
_NO_CONVERSATIONS: Final = ("dataset_info.json", "manifest.json", "sets.json")
_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_CALL: Final = re.compile(r"^Action:", re.MULTILINE)
_INSTRUCTION = re.compile(r"^Task: (.*?)(?:\nDone so far:.*)?$", re.DOTALL | re.MULTILINE)


def _as_list(value: object) -> object:
    """LLaVA gives a single picture as a string."""
    return [value] if isinstance(value, str) else value


class _Turn(ForeignModel):
    speaker: Literal["human", "gpt", "system", "user", "assistant"] = Field(
        validation_alias=AliasChoices("from", "role")
    )
    value: str = Field(validation_alias=AliasChoices("value", "content"))

    @property
    def is_question(self) -> bool:
        return self.speaker in ("human", "user")


class _Conversation(ForeignModel):
    id: Annotated[str, BeforeValidator(number_as_text)] = ""
    conversations: list[_Turn] = Field(validation_alias=AliasChoices("conversations", "messages"))
    image: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=list, validation_alias=AliasChoices("image", "images")
    )

    @property
    def first_question(self) -> str:
        return next((turn.value for turn in self.conversations if turn.is_question), "")


def read(path: Path) -> Records:
    """The conversations of a file, or of the `.json` and `.jsonl` files of a folder."""
    root = path if path.is_dir() else path.parent
    inside = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    files = [file for file in inside if file.name not in _NO_CONVERSATIONS and file.is_file()]
    if not files:
        raise ImportRefusedError(str(path), "", "holds no .json or .jsonl file of conversations")
    items = (item for file in files for item in _group(file))
    yield from read_tasks("sharegpt", items, _name, lambda item: _describe(item, root))


def _group(file: Path) -> Items:
    """The conversations of each recording as one item, a list."""
    latest = ("", 0)

    def recording(item: Item | BrokenItem) -> str:
        nonlocal latest
        previous, number = latest
        step_of_item, latest = _step_of(item), ("", 0)
        if step_of_item is None:
            return item.place if isinstance(item, BrokenItem) else item.where
        name, step, place = step_of_item
        start = previous if name == previous.partition("\n")[0] and step > number else f"{name}\n{place}"
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
    """Recording, step and position of a conversation that is a single step of our export."""
    if isinstance(item, BrokenItem):
        return None
    try:
        conversation = item.parse(_Conversation)
    except ImportRefusedError:
        return None
    name, _, step = conversation.id.rpartition("#")
    if not name or not (step.isascii() and step.isdigit()) or _STEPWISE not in conversation.first_question:
        return None
    return name, int(step[:9]), item.where


def _conversations(item: Item) -> list[Item]:
    return [Item(item.file, value, item.place) for value in cast(list[JsonValue], item.value)]


def _name(item: Item) -> str:
    first, *_ = _conversations(item)
    step = _step_of(first)
    return (step[0] if step else first.parse(_Conversation).id) or item.where


def _describe(item: Item, root: Path) -> Description:
    conversations = [part.parse(_Conversation) for part in _conversations(item)]
    question = conversations[0].first_question
    instruction = _instruction(question)
    ours = _SYSTEM_START in question
    if ours:
        instruction = with_marks(instruction)
    if not instruction:
        raise item.refusal("conversations", "have no instruction")
    steps: list[Step] = []
    named = (name for name in get_args(Coordinates) if f"Points are {COORDINATES[name]}." in question)
    coordinates: Coordinates = next(named, "absolute")
    end: Picture | None = None
    for conversation in conversations:
        marks = sum(turn.value.count(_IMAGE_MARK) for turn in conversation.conversations if turn.is_question)
        if marks != len(conversation.image):
            fault = (
                f"number of {_IMAGE_MARK} marks in its texts: {marks}, of pictures: {len(conversation.image)}"
            )
            return Description(instruction, ("desktop",), steps=fault)
        pictures = iter(conversation.image)
        screen: Picture | None = None
        for turn in conversation.conversations:
            if turn.is_question:
                for _ in range(turn.value.count(_IMAGE_MARK)):
                    screen = read_picture(root, next(pictures, ""))
            elif turn.speaker in ("gpt", "assistant"):
                answer = with_marks(turn.value) if ours else turn.value
                if answer.strip() == FINISH:
                    end = screen
                    continue
                steps.append((screen, _read_action(answer, screen, coordinates)))
                screen = None  # the next action has a screen of its own
    return Description(instruction, ("desktop",), steps=steps, end=end)


def _instruction(question: str) -> str:
    if match := _INSTRUCTION.search(question):
        return match[1].strip()
    lines = question.replace(_IMAGE_MARK, "").splitlines()
    return "\n".join(line for line in lines if not line.startswith(_SYSTEM_START)).strip()


def _read_action(
    answer: str, picture: Picture | None, coordinates: Coordinates
) -> DemonstratedAction | str | None:
    thought, *lines = _CALL.split(answer)
    calls = [call for call in (line.partition("\n")[0].strip() for line in lines) if call != "finish()"]
    if picture is None or len(calls) != 1:
        return f"its answer holds {len(calls)} of our actions"
    try:
        call = ast.parse(calls[0], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return "its answer is not one of our actions"
        values = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        size = (picture.width, picture.height)
        path = [unscale(point, size, coordinates) for point in values.pop("path", [])]
        point = values.pop("point", None)
        if point is not None:
            values["point"] = unscale(point, size, coordinates)
        if path:
            values["points"] = path
        for place in (*path, values.get("point")):
            if place and not (0 <= place[0] <= size[0] and 0 <= place[1] <= size[1]):
                return f"its point {place} is outside the screen"
        target = str(values.pop("control_text", ""))
        action = _ACTION.validate_python({"operation": call.func.id, **values})
    except (SyntaxError, ValueError, TypeError, ValidationError, IndexError, MemoryError, RecursionError):
        return "its answer is not one of our actions"
    return DemonstratedAction(action, target=target, thought=thought.strip().removeprefix("Thought:").strip())
