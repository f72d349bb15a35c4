"""Conversion between a record's values and columns, derived from the record's annotations.

A mapping is stored as a list of `{name, value}` structs, because common dataset libraries cannot load `MAP`
columns; a screenshot is the hash of its picture; `Shared` values are stored once.
"""

import hashlib
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from taskloom.resources.record import field_docstrings
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.exploration import SeenScreen
from taskloom.taskgraph.records.interaction import Control, Screenshot
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_LINK = pa.struct([(name, pa.string()) for name in ("written_in", "resource_category", "read_in")])
COUNTED_LINK = pa.struct([*_LINK, ("times", pa.int64())])
LINKS_SQL = """[
    [
        struct_insert(one, times := len([link FOR link IN found IF link = one])) FOR one IN list_sort(list_distinct(found))
    ]
    FOR found IN [[
        {
            'written_in': nodes[list_position(names, edge.producer)].application,
            'resource_category': edge.resource.category,
            'read_in': nodes[list_position(names, edge.consumer)].application
        } FOR edge IN edges
    ] FOR names IN [[node.instance_id FOR node IN nodes]]]
][1]"""  # noqa: E501
WORDS_SQL = (
    "array_to_string(list_sort(list_distinct(string_split(lower(concat_ws(' ', instruction, intent)), ' '))),"
    " ' ')"
)
_SCALARS: dict[type, pa.DataType] = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
}


@dataclass(slots=True)
class Shared:
    """Values stored once under the hash of their content: filled while encoding, looked up while decoding."""

    texts: dict[str, str] = field(default_factory=dict)
    controls: dict[str, list[object]] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Pictures by hash, filled while encoding."""
    read_picture: Callable[[str], bytes] | None = None
    """Reads the picture of a hash while decoding; None leaves pictures empty."""
    decoded: dict[object, object] = field(default_factory=dict)
    """Cache of decoded lists of controls and states of files, most of which steps share."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Column type of an annotation, and the two conversions."""

    arrow: pa.DataType
    encode: Callable[[Any, Shared], Any]
    """From the record's value to plain lists, dicts and scalars."""
    decode: Callable[[Any, Shared], Any]
    """From those to values that the record's validation accepts."""


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """One field of a record as one column or struct member."""

    record: type[BaseModel]
    field: str
    column: str
    codec: Codec
    optional: bool
    """Whether None is a value of the field; otherwise a stored NULL means the field's default."""

    @property
    def comment(self) -> str:
        """The field's docstring."""
        return " ".join(field_docstrings(self.record).get(self.field, "").split())


def field_codecs(record: type[BaseModel]) -> tuple[FieldCodec, ...]:
    """The codecs of all stored fields of `record`, in order."""
    return tuple(
        _field_codec(record, name, info)
        for name, info in record.model_fields.items()
        if not (info.exclude and record is not Screenshot)
    )


def _field_codec(record: type[BaseModel], name: str, info: FieldInfo) -> FieldCodec:
    annotation, optional = _unwrap_optional(info.annotation)
    shared_codec = _STORED_ONCE.get((record, name))
    if shared_codec is not None:
        return FieldCodec(record, name, f"{name}_id", shared_codec, optional)
    codec = _WIDE_INTEGER if (record, name) in _WIDE_INTEGERS else codec_of(annotation)
    return FieldCodec(record, name, name, codec, optional)


def codec_of(annotation: Any) -> Codec:
    """The codec of a type annotation; a `TypeError` if it has no column type."""
    if _is_json(annotation):
        return _JSON
    annotation, _ = _unwrap_optional(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return codec_of(arguments[0])
    if origin is Literal:
        return Codec(_SCALARS[type(arguments[0])], _identity, _identity)
    if origin in (Union, types.UnionType):
        return _union_codec(arguments)
    if origin is tuple:
        return _list_codec(codec_of(arguments[0]))
    if origin in (dict, Mapping):
        return _JSON if _is_json(arguments[1]) else _mapping_codec(codec_of(arguments[1]))
    if isinstance(annotation, type):
        if annotation is Screenshot:
            return Codec(pa.string(), _encode_screenshot, _decode_screenshot)
        if issubclass(annotation, BaseModel):
            codec = _record_codec(field_codecs(annotation))
            return _cached_codec(annotation, codec) if annotation is FileState else codec
        if annotation in _SCALARS:
            return Codec(_SCALARS[annotation], _identity, _identity)
        if issubclass(annotation, str):
            return Codec(pa.string(), lambda value, _: str(value), _identity)
    raise TypeError(f"No column type for {annotation!r}.")


def decode_fields(codecs: tuple[FieldCodec, ...], row: Mapping[str, Any], shared: Shared) -> dict[str, Any]:
    """The fields of a record; a NULL in a field that cannot be None becomes its default."""
    values: dict[str, Any] = {}
    for item in codecs:
        stored = row.get(item.column)
        if stored is not None:
            values[item.field] = item.codec.decode(stored, shared)
        elif item.optional:
            values[item.field] = None
    return values


def encode_fields(codecs: tuple[FieldCodec, ...], record: BaseModel, shared: Shared) -> dict[str, Any]:
    """The row or struct of `record`."""
    values: dict[str, Any] = {}
    for item in codecs:
        value = getattr(record, item.field)
        values[item.column] = None if value is None else item.codec.encode(value, shared)
    return values


def content_hash(value: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def _identity(value: Any, _: Shared) -> Any:
    return value


def _is_json(annotation: Any) -> bool:
    return annotation in (object, Any, JsonValue)


def _unwrap_optional(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        arguments = [item for item in get_args(annotation) if item is not type(None)]
        if len(arguments) < len(get_args(annotation)):
            return (arguments[0] if len(arguments) == 1 else Union[tuple(arguments)]), True  # noqa: UP007
    return annotation, False


def _list_codec(item: Codec) -> Codec:
    if item.encode is _identity:
        return Codec(pa.list_(item.arrow), lambda value, _: list(value), _identity)
    return Codec(
        pa.list_(item.arrow),
        lambda value, shared: [item.encode(part, shared) for part in value],
        lambda value, shared: [item.decode(part, shared) for part in value],
    )


def _mapping_codec(item: Codec) -> Codec:
    return Codec(
        pa.list_(pa.struct([("name", pa.string()), ("value", item.arrow)])),
        lambda value, shared: [
            {"name": key, "value": item.encode(part, shared)} for key, part in value.items()
        ],
        lambda value, shared: {part["name"]: item.decode(part["value"], shared) for part in value},
    )


def _record_codec(codecs: tuple[FieldCodec, ...]) -> Codec:
    return Codec(
        pa.struct([(item.column, item.codec.arrow) for item in codecs]),
        lambda value, shared: encode_fields(codecs, value, shared),
        lambda value, shared: decode_fields(codecs, value, shared),
    )


def _cached_codec(record: type[BaseModel], codec: Codec) -> Codec:
    def decode(value: Mapping[str, Any], shared: Shared) -> object:
        key = (record, *value.values())
        if key not in shared.decoded:
            shared.decoded[key] = record.model_validate(codec.decode(value, shared))
        return shared.decoded[key]

    return Codec(codec.arrow, codec.encode, decode)


def _union_codec(members: tuple[Any, ...]) -> Codec:
    variants: dict[str, tuple[FieldCodec, ...]] = {}
    merged: dict[str, FieldCodec] = {}
    discriminator = ""
    for member in members:
        codecs = field_codecs(member)
        discriminator = _discriminator(member)
        variants[member.model_fields[discriminator].default] = codecs
        for item in codecs:
            known = merged.setdefault(item.column, item)
            if known.codec.arrow != item.codec.arrow:
                raise TypeError(f"{item.column} has two types among {members}.")
    return Codec(
        pa.struct([(item.column, item.codec.arrow) for item in merged.values()]),
        lambda value, shared: encode_fields(variants[getattr(value, discriminator)], value, shared),
        lambda value, shared: decode_fields(variants[value[discriminator]], value, shared),
    )


def _discriminator(member: type[BaseModel]) -> str:
    for name, info in member.model_fields.items():
        if get_origin(info.annotation) is Literal and len(get_args(info.annotation)) == 1:
            return name
    raise TypeError(f"{member.__name__} has no discriminator.")


_JSON = Codec(
    pa.string(),
    lambda value, _: json.dumps(value, ensure_ascii=False),
    lambda value, _: json.loads(value),
)


def _encode_screenshot(value: Screenshot, shared: Shared) -> str:
    if value.png:
        shared.pictures[value.sha256] = value.png
    return value.sha256


def _decode_screenshot(value: str, shared: Shared) -> dict[str, object]:
    png = shared.read_picture(value) if shared.read_picture else b""
    return {"sha256": value, "png": png}


def _encode_controls(value: tuple[Control, ...], shared: Shared) -> str:
    encoded = _CONTROLS.encode(value, shared)
    key = content_hash(json.dumps(encoded, ensure_ascii=False))
    shared.controls[key] = encoded
    return key


def _decode_controls(key: str, shared: Shared) -> object:
    if key not in shared.decoded:
        decoded = _CONTROLS.decode(shared.controls[key], shared)
        shared.decoded[key] = tuple(map(Control.model_validate, decoded))
    return shared.decoded[key]


def _encode_text(value: str, shared: Shared) -> str:
    key = content_hash(value)
    shared.texts[key] = value
    return key


_SHARED_CONTROLS = Codec(pa.string(), _encode_controls, _decode_controls)
_STORED_ONCE: dict[tuple[type[BaseModel], str], Codec] = {
    (Evidence, "controls"): _SHARED_CONTROLS,
    (SeenScreen, "controls"): _SHARED_CONTROLS,
    (TrajectoryStep, "observation_controls"): _SHARED_CONTROLS,
    (FileState, "text"): Codec(pa.string(), _encode_text, lambda key, shared: shared.texts[key]),
}
"""Fields stored as a hash into the table `control_lists` or `file_texts`."""
_WIDE_INTEGERS = {(Task, "order_count"), (Task, "successful_order_count")}
"""Fields that can exceed 64 bits: a task of 30 subtasks can have more than 10^24 orders."""
_WIDE_INTEGER = Codec(pa.decimal128(38, 0), _identity, lambda value, _: int(value))
_CONTROLS = _list_codec(codec_of(Control))
CONTROL_LIST = _CONTROLS.arrow


def sql_type(arrow: pa.DataType) -> str:
    """The DuckDB type of an Arrow type, as used in `CREATE TABLE`."""
    if pa.types.is_list(arrow):
        return f"{sql_type(arrow.value_type)}[]"
    if pa.types.is_struct(arrow):
        members = ", ".join(f'"{item.name}" {sql_type(item.type)}' for item in arrow)
        return f"STRUCT({members})"
    if pa.types.is_decimal(arrow):
        return f"DECIMAL({arrow.precision},{arrow.scale})"
    return {"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}[str(arrow)]
