"""The typed reply of each model role: lists, texts, numbers and fixed fields alone, so that every provider's
structured output can enforce them; a mapping is a list of named values.

Replies that can mean only what was asked for, in a slightly other form, are read and not sent back; a field
that the reply's type does not have stays an error, because a model that names one expects it to count."""

import re
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.record import Record
from taskloom.taskgraph.records.criticism import Score
from taskloom.taskgraph.records.gestures import GESTURES


def read_near_miss(model: type[BaseModel], value: object) -> object:
    """`value` in the form that `model` expects, as far as it can mean only that.

    A list or wrapper of one is opened, a single item becomes a list of one, null stands for what was left
    out, numbers stand for texts, letter case does not count where the words are given, and a mapping is a
    list of named values.
    """
    fields = model.model_fields
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and set(value[0]) & set(fields):
            value = value[0]
        else:
            first, field = next(iter(fields.items()))
            value = {first: value} if get_origin(field.annotation) is list else value
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and not set(value) & set(fields):
        (inner,) = value.values()
        value = read_near_miss(model, inner) if isinstance(inner, dict | list) else value
    return {
        name: _fitted(fields[name].annotation, item) if name in fields else item
        for name, item in (value.items() if isinstance(value, dict) else ())
        if item is not None or name not in fields or fields[name].is_required()
    }


def _fitted(annotation: Any, value: object) -> object:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and isinstance(value, str):
        return next((word for word in arguments if _plain(str(word)) == _plain(value)), value)
    if origin is list:
        return _list_of(arguments[0], value)
    if annotation is str and isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return read_near_miss(annotation, value)
    return value


def _list_of(item: Any, value: object) -> list[object]:
    if value is None:
        return []
    if _is_named(item):
        return _named_values(value)
    parts = value if isinstance(value, list) else [value]
    lists = get_origin(item) is list and _is_named(*get_args(item))
    if (
        lists
        and value
        and parts is value
        and all(isinstance(part, dict) and set(part) == _NAMED for part in parts)
    ):
        parts = [value]  # one set of values without the list around it
    return [_fitted(item, part) for part in parts]


def _named_values(value: object) -> list[object]:
    """Named values, also where they are the entries of one mapping or of several."""
    parts = value if isinstance(value, list) else [value]
    found: list[object] = []
    for part in parts:
        if isinstance(part, dict) and set(part) != _NAMED:
            found += [{"name": name, "value": _fitted(str, given)} for name, given in part.items()]
        else:
            found.append(part)
    return found


def _is_named(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, BaseModel) and set(item.model_fields) == _NAMED


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).casefold()


_NAMED = {"name", "value"}


class ReplyPart(Record):
    """A reply or a part of one, read leniently."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        return read_near_miss(cls, value)


class NamedValue(ReplyPart):
    """One parameter with its value."""

    name: str
    """Name of the parameter."""
    value: str
    """Its value."""


class ProposedSubtask(ReplyPart):
    """A subtask that the explorer proposes (B.1)."""

    name: str
    """Short name in lower case with underscores, unique within the application."""
    instruction_template: str = ""
    """Instruction with `{parameter}` placeholders; may be left out where only declarations are asked for."""
    parameter_sets: list[list[NamedValue]] = Field(default_factory=list)
    """At least one list of values for all parameters; may be left out where only declarations are asked
    for."""
    inputs: list[ResourceDeclaration] = Field(default_factory=list)
    """Resources that must exist before."""
    outputs: list[ResourceDeclaration] = Field(default_factory=list)
    """Resources that exist afterwards."""
    fresh: list[str] = Field(default_factory=list)
    """Parameters that may take any new value."""


class NewCategory(ReplyPart):
    """A resource category that the explorer proposes because none of the known ones fits."""

    name: str
    """Name in lower case with underscores."""
    kind: str
    """`file`, `record`, or one of the kinds of slots."""
    description: str
    """One sentence."""


class ExplorerReply(ReplyPart):
    """What the explorer answers."""

    subtasks: list[ProposedSubtask]
    """The proposals."""
    categories: list[NewCategory] = Field(default_factory=list)
    """New resource categories that the proposals use."""


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("is a fraction of the control's width or height, from 0 to 1; its centre is 0.5")
    return value


Share = Annotated[float, AfterValidator(_share), Field(json_schema_extra={"minimum": 0, "maximum": 1})]
"""A fraction of a control's width or height."""


class Point(ReplyPart):
    """A point inside a control, as fractions of its width and height."""

    x: Share
    """From the left edge."""
    y: Share
    """From the upper edge."""


class ScreenPoint(ReplyPart):
    """A point of the screen, in the coordinates that were asked for."""

    x: float = Field(ge=0)
    """From the left edge."""
    y: float = Field(ge=0)
    """From the upper edge."""


def _label(value: object) -> object:
    """A label without the brackets that it stands in."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip().removeprefix("[").removesuffix("]") if isinstance(value, str) else value


Label = Annotated[str, BeforeValidator(_label)]
"""Label of a control; also a number, or in brackets."""


class ActorArguments(ReplyPart):
    """Arguments of the function that the actor calls; those of other functions are left alone."""

    button: Literal["left", "right", "middle"] = "left"
    """`click_input`: mouse button."""
    double: bool = False
    """`click_input`: whether to click twice."""
    triple: bool = False
    """`click_input`: whether to click three times."""
    held: list[Literal["ctrl", "alt", "shift"]] = Field(default_factory=list)
    """`click_input`: keys held down meanwhile."""
    keys: str = ""
    """`keyboard_input`: keys in the documented syntax."""
    wheel_dist: int = 0
    """`wheel_mouse_input`: notches, positive upwards."""
    wheel_sideways: int = 0
    """`wheel_mouse_input`: notches, positive to the right."""
    points: list[ScreenPoint] = Field(default_factory=list)
    """Points of the screen instead of a label, where the actor points: one, or for `drag_input` two or
    more."""
    end_label: Label = ""
    """`drag_input`: label of the control to end on."""
    path: list[Point] = Field(default_factory=list)
    """`drag_input`: at least two points; `click_input`: one point, where the centre will not do."""
    seconds: float = Field(default=1.0, ge=0, le=5)
    """`wait`, `hold_input`: how long."""


_FUNCTIONS = ("", *GESTURES)
_STEP_NUMBER = re.compile(r"^\s*step \d+( of \d+)?\s*:?", re.IGNORECASE)


def _function(name: object) -> object:
    """The one function that is meant: letter case does not count, and `_input` may be left out."""
    if not isinstance(name, str):
        return name
    plain = name.strip().casefold().removesuffix("()")
    meant = [known for known in GESTURES if plain in (known, known.removesuffix("_input"))]
    return meant[0] if len(meant) == 1 else plain if plain in _FUNCTIONS else name


def _known_function(name: str) -> str:
    if name not in _FUNCTIONS:
        raise ValueError(f"there is no function {name!r}; known: {', '.join(GESTURES)}")
    return name


def _no_placeholder(thought: str) -> str:
    words = _STEP_NUMBER.sub("", thought).strip(" .:")
    if thought.strip() and (not words or words in GESTURES):
        raise ValueError(f"{thought!r} is a placeholder; say what is seen and why this action follows")
    return thought


ActorFunction = Annotated[
    str,
    BeforeValidator(_function),
    AfterValidator(_known_function),
    Field(json_schema_extra={"enum": list(_FUNCTIONS)}),
]
"""Functions an actor may call: the table of gestures; empty when the status is not CONTINUE."""


class ActorReply(ReplyPart):
    """What the actor answers at one step (E.1)."""

    status: Literal["CONTINUE", "FINISH", "GIVE_UP"]
    """Whether there is more to do, all is done, or it cannot be done."""
    observation: str = ""
    """What the screen shows."""
    thought: Annotated[str, AfterValidator(_no_placeholder)] = ""
    """Why this action; the mere name or number of a step is none."""
    control_label: Label = ""
    """Label of the chosen control, or empty."""
    control_text: str = ""
    """Text of the chosen control, or empty."""
    function: ActorFunction = ""
    """Function to call."""
    args: ActorArguments = ActorArguments()
    """Its arguments."""
    message: str = ""
    """Reason for giving up."""

    @model_validator(mode="before")
    @classmethod
    def _thought_beside(cls, value: object) -> object:
        """What is seen says why, where nothing else does."""
        if not isinstance(value, dict) or str(value.get("thought") or "").strip():
            return value
        return {**value, "thought": value["observation"]} if value.get("observation") else value

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        """An action that nothing is said of teaches nobody anything."""
        if self.status == "CONTINUE" and not self.thought.strip():
            raise ValueError("the thought is empty; say what is seen and why this action follows")
        return self


class EvaluationWriterReply(ReplyPart):
    """What the evaluation writer answers (E.2)."""

    source: str
    """Python source that defines the evaluation function."""


class ProposedEndProduct(ReplyPart):
    """Something that is wanted in the end: a subtask of the pool with one of its parameter sets."""

    subtask_id: str
    """Id of the subtask that brings it about."""
    parameters: list[NamedValue] = Field(default_factory=list)
    """Its values."""


class ProposedIntent(ReplyPart):
    """One goal with its end products and the subtasks that bring them about."""

    goal: str
    """The goal in one sentence without a full stop."""
    subtask_ids: list[str]
    """Ids of the subtasks that serve it, those of the end products included."""
    end_products: list[ProposedEndProduct] = Field(default_factory=list)
    """What is wanted in the end."""
    scenario: str = ""
    """Name of a scenario."""


class IntentExtractorReply(ReplyPart):
    """What the intent extractor answers."""

    intents: list[ProposedIntent]
    """The intents."""


class SummarizerReply(ReplyPart):
    """What the summarizer answers."""

    instruction: str
    """One instruction for the whole task."""
    goal: str = ""
    """The goal in one sentence without a full stop, where none was given."""


class DependencyPair(ReplyPart):
    """One dependency between numbered subtasks."""

    before: int
    """Number of the subtask that must be done first."""
    after: int
    """Number of the subtask that needs its result."""


class DependencyJudgeReply(ReplyPart):
    """What the dependency judge answers."""

    dependencies: list[DependencyPair]
    """The direct dependencies."""
    not_asked_for: list[int] = Field(default_factory=list)
    """Numbers of the subtasks that the instruction does not ask for, or not with the same values."""
    not_listed: list[str] = Field(default_factory=list)
    """What the instruction asks for and no subtask does, in the instruction's words."""


class CriticReply(ReplyPart):
    """What the critic answers."""

    naturalness: Score
    """Whether a person would say it so."""
    sense: Score
    """Whether somebody would want this done."""
    feasibility: Score
    """Whether it can be done from these words."""


class AttemptCriticReply(ReplyPart):
    """What the critic answers about an attempt."""

    done: bool
    """Whether everything that was asked for was done."""
    reason: str = ""
    """What is missing, or what convinced it."""
