"""The form of a plain task graph in JSON, as opposed to taskloom's own record."""

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


def _read_id(value: object) -> str:
    text = str(value) if isinstance(value, str | int) else ""
    if isinstance(value, bool) or not text.strip():
        kind = "blank" if isinstance(value, str) else json_kind(value)
        raise form_error(f"is {kind}; an id is text or a whole number")
    surrogates = [letter for letter in text if category(letter) == "Cs"]
    if surrogates:
        raise form_error(f"contains {surrogates[0]!a}, which cannot be printed")
    return text


def _read_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise form_error(f"is {json_kind(value)}; it must be text")
    return str(value)


def _require_list(hint: str) -> BeforeValidator:
    def check(value: object) -> object:
        if not isinstance(value, list | tuple):
            raise form_error(f"is {json_kind(value)}; it must be a list {hint}")
        return value

    return BeforeValidator(check)


def _require_size(value: object) -> object:
    if isinstance(value, list | tuple):
        require_size(value)
    return value


def _read_node(value: object) -> object:
    return value if isinstance(value, Mapping) else {"id": _read_id(value)}


Identifier = Annotated[str, BeforeValidator(_read_id)]
"""An id: text, or a whole number, which becomes text."""
OptionalText = Annotated[str, BeforeValidator(_read_text)]
"""Text; a number becomes text, and null becomes empty."""


class JsonForm(BaseModel):
    """The base of forms; unknown fields are ignored unless a subclass refuses them."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _KnownKeys(JsonForm):
    """Refuses lists and objects under unknown keys: `edgs` would silently mean no edges.

    Text and numbers, such as a name or a colour, are ignored unless `refuses_all_unknown`.
    """

    refuses_all_unknown: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        names = (str(field.validation_alias or name) for name, field in cls.model_fields.items())
        known = list(dict.fromkeys(names))
        for key, item in value.items():
            has_content = isinstance(item, Mapping | list | tuple) and item
            if key not in known and (cls.refuses_all_unknown or has_content):
                near = get_close_matches(str(key), known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise form_error(f"has the unknown key {key!r}{hint} Known: {', '.join(known)}")
        return value


class ResourceForm(_KnownKeys):
    """A resource: `category`, `category:value`, or an object."""

    refuses_all_unknown = True

    category: OptionalText = ""
    """Its category."""
    value: OptionalText = ""
    """Its value; blank if unknown."""
    kind: ResourceKind | None = None
    """Its kind, for categories that are not in the catalogue."""

    @model_validator(mode="before")
    @classmethod
    def _split_text(cls, value: object) -> object:
        if isinstance(value, str):
            name, _, text = value.partition(":")
            return {"category": name, "value": text}
        if not isinstance(value, Mapping | ResourceForm):
            allowed = "'category', 'category:value' or an object with `category`"
            raise form_error(f"is {json_kind(value)}; write {allowed}")
        return value


Resources = Annotated[tuple[ResourceForm, ...], _require_list("of resources")]
"""A list of resources."""


class SidesForm(_KnownKeys):
    """The resources that a subtask reads, writes and destroys."""

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
    """Its application."""
    application_category: OptionalText = ""
    """Category of the application; by default that of the catalogue."""
    instruction: OptionalText = ""
    """Its instruction; by default the id."""
    subtask: OptionalText = ""
    """Id of the subtask; by default that of the node."""


class EdgeForm(JsonForm):
    """An edge in a list: a pair, or an object with two ends."""

    producer: Identifier
    """Id of the subtask that writes; also `source` or `from`."""
    consumer: Identifier
    """Id of the subtask that reads; also `target` or `to`."""
    resource: ResourceForm | None = None
    """The resource that flows."""

    @model_validator(mode="before")
    @classmethod
    def _read_ends(cls, value: object) -> object:
        resource = None
        if isinstance(value, Mapping):
            ends = [value[name] for names in _ENDS for name in names if name in value]
            resource = value.get("resource")
        else:
            ends = list(value) if isinstance(value, list | tuple) else []
        if len(ends) != 2:
            raise form_error(f"does not have two ends: {str(value)[:80]}; write [producer, consumer]")
        return {"producer": ends[0], "consumer": ends[1], "resource": resource}


def _read_edge_list(value: object) -> object:
    if isinstance(value, Mapping):
        return ()
    if not isinstance(value, list | tuple):
        raise form_error(f"is {json_kind(value)}; it must be a list of pairs or an adjacency object")
    return value


def _read_adjacency(value: object) -> object:
    return value if isinstance(value, Mapping) else {}


def _read_consumers(value: object) -> object:
    if not isinstance(value, list | tuple):
        raise form_error(
            f"is {str(value)[:80]!r}, not a list of consumers; write {{producer: [consumer, …]}}"
        )
    return value


def _require_distinct_ids(nodes: tuple[NodeForm, ...]) -> tuple[NodeForm, ...]:
    counts = Counter(node.id for node in nodes)
    duplicates = [name for name, count in sorted(counts.items()) if count > 1]
    if duplicates:
        raise form_error(f"contains ids that occur twice: {', '.join(duplicates[:10])}")
    return nodes


class PlainGraphForm(_KnownKeys):
    """A plain graph. Its edges are a list or an adjacency object, so one of their two fields is empty."""

    listed: Annotated[tuple[EdgeForm, ...], BeforeValidator(_read_edge_list)] = Field(
        default=(), validation_alias=_EDGES
    )
    """Edges given as a list."""
    adjacent: Annotated[
        dict[Identifier, Annotated[tuple[Identifier, ...], BeforeValidator(_read_consumers)]],
        BeforeValidator(_read_adjacency),
    ] = Field(default={}, validation_alias=_EDGES)
    """Edges given as the consumers of each producer."""
    nodes: Annotated[
        tuple[Annotated[NodeForm, BeforeValidator(_read_node)], ...],
        AfterValidator(_require_distinct_ids),
        BeforeValidator(_require_size),
        _require_list("of ids or of objects with an `id`"),
    ]
    """Its subtasks."""
    applications: dict[str, OptionalText] = Field(default={})
    """Applications by subtask, if the nodes do not name them."""
    resources: dict[str, SidesForm] = Field(default={})
    """Resources by subtask, instead of those of the nodes."""

    @model_validator(mode="after")
    def _require_known_subtasks(self) -> Self:
        names = {node.id for node in self.nodes}
        for key, mapping in (("applications", self.applications), ("resources", self.resources)):
            unknown = sorted(set(mapping) - names)
            if unknown:
                raise ValueError(f"`{key}` names subtasks that are not in `nodes`: {', '.join(unknown)}")
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The edges as (producer, consumer)."""
        adjacent = ((name, consumer) for name, consumers in self.adjacent.items() for consumer in consumers)
        return [*((edge.producer, edge.consumer) for edge in self.listed), *adjacent]
