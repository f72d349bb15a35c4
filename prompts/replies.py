"""The typed reply of each model role: only lists, texts, numbers and fixed fields, so that every provider's
structured output can enforce them; a mapping is a list of named values.

Replies of a slightly different form that can have only one meaning are accepted and not sent back. An unknown
field remains an error, because a model that sends one expects it to have an effect."""

import re
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.record import Record
from taskloom.taskgraph.records.criticism import Score
from taskloom.taskgraph.records.gestures import GESTURES


def read_near_miss(model: type[BaseModel], value: object) -> object:
    """`value` in the form that `model` expects, if it can have only one meaning.

    A list or wrapper of one item is unwrapped, a single item becomes a list, null counts as omitted, numbers
    become texts, letter case is ignored in fixed words, and a mapping becomes a list of named values.
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
        name: _convert(fields[name].annotation, item) if name in fields else item
        for name, item in (value.items() if isinstance(value, dict) else ())
        if item is not None or name not in fields or fields[name].is_required()
    }


def _convert(annotation: Any, value: object) -> object:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and isinstance(value, str):
        return next((word for word in arguments if _normalized(str(word)) == _normalized(value)), value)
    if origin is list:
        return _convert_list(arguments[0], value)
    if annotation is str and isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return read_near_miss(annotation, value)
    return value


def _convert_list(item: Any, value: object) -> list[object]:
    if value is None:
        return []
    if _is_named_value(item):
        return _named_values(value)
    parts = value if isinstance(value, list) else [value]
    is_list_of_sets = get_origin(item) is list and _is_named_value(*get_args(item))
    if (
        is_list_of_sets
        and value
        and parts is value
        and all(isinstance(part, dict) and set(part) == _NAMED_FIELDS for part in parts)
    ):
        parts = [value]  # one set of values without the list around it
    return [_convert(item, part) for part in parts]


def _named_values(value: object) -> list[object]:
    """Named values, also from the entries of one or several mappings."""
    named: list[object] = []
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict) and set(part) != _NAMED_FIELDS:
            named += [{"name": name, "value": _convert(str, item)} for name, item in part.items()]
        else:
            named.append(part)
    return named


def _is_named_value(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, BaseModel) and set(item.model_fields) == _NAMED_FIELDS


def _normalized(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).casefold()


_NAMED_FIELDS = {"name", "value"}


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
    """The explorer's reply."""

    subtasks: list[ProposedSubtask]
    """The proposals."""
    categories: list[NewCategory] = Field(default_factory=list)
    """New resource categories that the proposals use."""


def _require_fraction(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("is a fraction of the control's width or height, from 0 to 1; its centre is 0.5")
    return value


Share = Annotated[
    float, AfterValidator(_require_fraction), Field(json_schema_extra={"minimum": 0, "maximum": 1})
]
"""A fraction of a control's width or height."""


class Point(ReplyPart):
    """A point inside a control, as fractions of its width and height."""

    x: Share
    """From the left edge."""
    y: Share
    """From the upper edge."""


class ScreenPoint(ReplyPart):
    """A point of the screen, in the requested coordinates."""

    x: float = Field(ge=0)
    """From the left edge."""
    y: float = Field(ge=0)
    """From the upper edge."""


def _strip_brackets(value: object) -> object:
    """A label without the brackets around it."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip().removeprefix("[").removesuffix("]") if isinstance(value, str) else value


Label = Annotated[str, BeforeValidator(_strip_brackets)]
"""Label of a control; also a number, or in brackets."""


class ActorArguments(ReplyPart):
    """Arguments of the function that the actor calls; those of other functions are ignored."""

    button: Literal["left", "right", "middle"] = "left"
    """`click_input`: mouse button."""
    double: bool = False
    """`click_input`: whether to click twice."""
    triple: bool = False
    """`click_input`: whether to click three times."""
    held: list[Literal["ctrl", "alt", "shift"]] = Field(default_factory=list)
    """`click_input`: keys held down during the click."""
    keys: str = ""
    """`keyboard_input`: keys in the documented syntax."""
    wheel_dist: int = 0
    """`wheel_mouse_input`: notches, positive upwards."""
    wheel_sideways: int = 0
    """`wheel_mouse_input`: notches, positive to the right."""
    points: list[ScreenPoint] = Field(default_factory=list)
    """Points of the screen instead of a label, if the actor may point; for `drag_input` at least two."""
    end_label: Label = ""
    """`drag_input`: label of the control to end on."""
    path: list[Point] = Field(default_factory=list)
    """`drag_input`: at least two points; `click_input`: one point, if not the centre."""
    seconds: float = Field(default=1.0, ge=0, le=5)
    """`wait`, `hold_input`: how long."""


_FUNCTIONS = ("", *GESTURES)
_STEP_NUMBER = re.compile(r"^\s*step \d+( of \d+)?\s*:?", re.IGNORECASE)


def _normalize_function(name: object) -> object:
    """The known name of a function; letter case is ignored, and `_input` may be omitted."""
    if not isinstance(name, str):
        return name
    plain = name.strip().casefold().removesuffix("()")
    matches = [known for known in GESTURES if plain in (known, known.removesuffix("_input"))]
    return matches[0] if len(matches) == 1 else plain if plain in _FUNCTIONS else name


def _require_known_function(name: str) -> str:
    if name not in _FUNCTIONS:
        raise ValueError(f"there is no function {name!r}; known: {', '.join(GESTURES)}")
    return name


def _refuse_placeholder(thought: str) -> str:
    words = _STEP_NUMBER.sub("", thought).strip(" .:")
    if thought.strip() and (not words or words in GESTURES):
        raise ValueError(f"{thought!r} is a placeholder; say what is seen and why this action follows")
    return thought


ActorFunction = Annotated[
    str,
    BeforeValidator(_normalize_function),
    AfterValidator(_require_known_function),
    Field(json_schema_extra={"enum": list(_FUNCTIONS)}),
]
"""Functions an actor may call: the table of gestures; empty when the status is not CONTINUE."""


class ActorReply(ReplyPart):
    """The actor's reply at one step (E.1)."""

    status: Literal["CONTINUE", "FINISH", "GIVE_UP"]
    """Whether there is more to do, all is done, or it cannot be done."""
    observation: str = ""
    """What the screen shows."""
    thought: Annotated[str, AfterValidator(_refuse_placeholder)] = ""
    """Reason for this action, more than the name or number of a step."""
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
    def _default_thought(cls, value: object) -> object:
        """Use the observation as the thought if there is none."""
        if not isinstance(value, dict) or str(value.get("thought") or "").strip():
            return value
        return {**value, "thought": value["observation"]} if value.get("observation") else value

    @model_validator(mode="after")
    def _require_thought(self) -> Self:
        """Refuse an action without a reason, from which no model can learn."""
        if self.status == "CONTINUE" and not self.thought.strip():
            raise ValueError("the thought is empty; say what is seen and why this action follows")
        return self


class EvaluationWriterReply(ReplyPart):
    """The evaluation writer's reply (E.2)."""

    source: str
    """Python source that defines the evaluation function."""


class ProposedEndProduct(ReplyPart):
    """A result that the goal names: a subtask of the pool with one of its parameter sets."""

    subtask_id: str
    """Id of the subtask that produces it."""
    parameters: list[NamedValue] = Field(default_factory=list)
    """Its values."""


class ProposedIntent(ReplyPart):
    """One goal with its end products and the subtasks that produce them."""

    goal: str
    """The goal in one sentence without a full stop."""
    subtask_ids: list[str]
    """Ids of the subtasks that serve it, including those of the end products."""
    end_products: list[ProposedEndProduct] = Field(default_factory=list)
    """Its end products."""
    scenario: str = ""
    """Name of a scenario."""


class IntentExtractorReply(ReplyPart):
    """The intent extractor's reply."""

    intents: list[ProposedIntent]
    """The intents."""


class SummarizerReply(ReplyPart):
    """The summarizer's reply."""

    instruction: str
    """One instruction for the whole task."""
    goal: str = ""
    """The goal in one sentence without a full stop, if none was given."""


class DependencyPair(ReplyPart):
    """One dependency between numbered subtasks."""

    before: int
    """Number of the subtask that must be done first."""
    after: int
    """Number of the subtask that needs its result."""


class DependencyJudgeReply(ReplyPart):
    """The dependency judge's reply."""

    dependencies: list[DependencyPair]
    """The direct dependencies."""
    not_asked_for: list[int] = Field(default_factory=list)
    """Numbers of the subtasks that the instruction does not ask for, or not with the same values."""
    not_listed: list[str] = Field(default_factory=list)
    """What the instruction asks for and no subtask does, in the instruction's words."""


class CriticReply(ReplyPart):
    """The critic's reply about a task."""

    naturalness: Score
    """Whether a person would phrase it like this."""
    sense: Score
    """Whether anybody would want this done."""
    feasibility: Score
    """Whether it can be done from the instruction alone."""


class AttemptCriticReply(ReplyPart):
    """The critic's reply about an attempt."""

    done: bool
    """Whether everything that was asked for was done."""
    reason: str = ""
    """What is missing, or what convinced it."""
