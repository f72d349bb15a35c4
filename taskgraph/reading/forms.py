"""The form of a task graph in JSON that is not our own record: a plain graph."""

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, ClassVar, Final, Self
from unicodedata import category

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.bitmasks import require_size
from taskloom.taskgraph.reading.faults import form_error, json_kind

_ENDS = (("producer", "source", "from"), ("consumer", "target", "to"))
_EDGES: Final = "edges"


def _id_text(given: object) -> str:
    text = str(given) if isinstance(given, str | int) else ""
    if isinstance(given, bool) or not text.strip():
        found = "blank" if isinstance(given, str) else json_kind(given)
        raise form_error(f"is {found}; an id is text or a whole number")
    halves = [letter for letter in text if category(letter) == "Cs"]
    if halves:
        raise form_error(f"holds {halves[0]!a}, which cannot be printed")
    return text


def _text(given: object) -> str:
    if given is None:
        return ""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise form_error(f"is {json_kind(given)}; it must be text")
    return str(given)


def _listed(hint: str) -> BeforeValidator:
    def check(given: object) -> object:
        if not isinstance(given, list | tuple):
            raise form_error(f"is {json_kind(given)}; it must be a list {hint}")
        return given

    return BeforeValidator(check)


def _of_countable_size(given: object) -> object:
    if isinstance(given, list | tuple):
        require_size(given)
    return given


def _as_named(given: object) -> object:
    return given if isinstance(given, Mapping) else {"id": _id_text(given)}


Identifier = Annotated[str, BeforeValidator(_id_text)]
"""An id: text, or a whole number, which is read as text."""
OptionalText = Annotated[str, BeforeValidator(_text)]
"""Text; a number is its text, and null is no text."""


class JsonForm(BaseModel):
    """Fields that are read; those that are unknown are ignored, except where a subclass refuses them."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _KnownKeys(JsonForm):
    """Refuses lists and objects under unknown keys: `edgs` would silently mean no edges.

    Text and numbers, such as a name or a colour, are ignored unless `refuses_all_unknown`.
    """

    refuses_all_unknown: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        names = (str(field.validation_alias or name) for name, field in cls.model_fields.items())
        known = list(dict.fromkeys(names))
        for key, value in given.items():
            filled = isinstance(value, Mapping | list | tuple) and value
            if key not in known and (cls.refuses_all_unknown or filled):
                near = get_close_matches(str(key), known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise form_error(f"has the unknown key {key!r}{hint} Known: {', '.join(known)}")
        return given


class ResourceForm(_KnownKeys):
    """A resource: `category`, `category:value`, or an object."""

    refuses_all_unknown = True

    category: OptionalText = ""
    """Its category."""
    value: OptionalText = ""
    """Its value; blank where it is not known."""
    kind: ResourceKind | None = None
    """Its kind, for categories that the catalogue does not have."""

    @model_validator(mode="before")
    @classmethod
    def _split_text(cls, given: object) -> object:
        if isinstance(given, str):
            name, _, value = given.partition(":")
            return {"category": name, "value": value}
        if not isinstance(given, Mapping | ResourceForm):
            allowed = "'category', 'category:value' or an object with `category`"
            raise form_error(f"is {json_kind(given)}; write {allowed}")
        return given


Resources = Annotated[tuple[ResourceForm, ...], _listed("of resources")]
"""A list of resources."""


class SidesForm(_KnownKeys):
    """What a subtask reads, writes and destroys."""

    refuses_all_unknown = True

    inputs: Resources = ()
    """Resources read."""
    outputs: Resources = ()
    """Resources written."""
    consumed: Resources = ()
    """Resources read and destroyed."""


class NodeForm(SidesForm):
    """A node of a plain graph: an id, or an object with an `id`."""

    refuses_all_unknown = False

    id: Identifier
    """Its id."""
    application: OptionalText = ""
    """Application it is done in."""
    application_category: OptionalText = ""
    """Category of that application; the catalogue's where blank."""
    instruction: OptionalText = ""
    """What is done; the id where blank."""
    subtask: OptionalText = ""
    """Id of the subtask; the node's where blank."""


class EdgeForm(JsonForm):
    """An edge in a list: a pair, or an object with two ends."""

    producer: Identifier
    """Id of the subtask that writes; also `source` or `from`."""
    consumer: Identifier
    """Id of the subtask that reads; also `target` or `to`."""
    resource: ResourceForm | None = None
    """What flows."""

    @model_validator(mode="before")
    @classmethod
    def _two_ends(cls, given: object) -> object:
        resource = None
        if isinstance(given, Mapping):
            ends = [given[name] for names in _ENDS for name in names if name in given]
            resource = given.get("resource")
        else:
            ends = list(given) if isinstance(given, list | tuple) else []
        if len(ends) != 2:
            raise form_error(f"has not two ends: {str(given)[:80]}; write [producer, consumer]")
        return {"producer": ends[0], "consumer": ends[1], "resource": resource}


def _edge_list(given: object) -> object:
    if isinstance(given, Mapping):
        return ()
    if not isinstance(given, list | tuple):
        raise form_error(f"is {json_kind(given)}; it must be a list of pairs or an adjacency object")
    return given


def _adjacency(given: object) -> object:
    return given if isinstance(given, Mapping) else {}


def _consumers(given: object) -> object:
    if not isinstance(given, list | tuple):
        raise form_error(f"is {str(given)[:80]!r}, no list of consumers; write {{producer: [consumer, …]}}")
    return given


def _once(found: tuple[NodeForm, ...]) -> tuple[NodeForm, ...]:
    counts = Counter(item.id for item in found)
    twice = [name for name, count in sorted(counts.items()) if count > 1]
    if twice:
        raise form_error(f"holds ids that occur twice: {', '.join(twice[:10])}")
    return found


class PlainGraphForm(_KnownKeys):
    """A plain graph. Its edges are a list or an adjacency object, so one of their two fields is empty."""

    listed: Annotated[tuple[EdgeForm, ...], BeforeValidator(_edge_list)] = Field(
        default=(), validation_alias=_EDGES
    )
    """Edges of a list."""
    adjacent: Annotated[
        dict[Identifier, Annotated[tuple[Identifier, ...], BeforeValidator(_consumers)]],
        BeforeValidator(_adjacency),
    ] = Field(default={}, validation_alias=_EDGES)
    """Consumers of each producer."""
    nodes: Annotated[
        tuple[Annotated[NodeForm, BeforeValidator(_as_named)], ...],
        AfterValidator(_once),
        BeforeValidator(_of_countable_size),
        _listed("of ids or of objects with an `id`"),
    ]
    """Its subtasks."""
    applications: dict[str, OptionalText] = Field(default={})
    """Applications by subtask, where the nodes do not name them."""
    resources: dict[str, SidesForm] = Field(default={})
    """Resources by subtask, instead of those of the nodes."""

    @model_validator(mode="after")
    def _names_known_subtasks(self) -> Self:
        names = {node.id for node in self.nodes}
        for key, named in (("applications", self.applications), ("resources", self.resources)):
            unknown = sorted(set(named) - names)
            if unknown:
                raise ValueError(f"`{key}` names subtasks that are not in `nodes`: {', '.join(unknown)}")
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The edges as (producer, consumer)."""
        adjacent = ((name, consumer) for name, consumers in self.adjacent.items() for consumer in consumers)
        return [*((edge.producer, edge.consumer) for edge in self.listed), *adjacent]
