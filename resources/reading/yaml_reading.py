"""Reads YAML files of the catalogue fast, and reports mistakes by file, line and field."""

import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from taskloom.resources.errors import CatalogEntryInvalidError, suggest
from taskloom.resources.record import Record

Field = tuple[str | int, ...]
"""Path to a value in a YAML file: keys and positions from the root."""

RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a YAML file."""

    field: Field
    message: str
    """What is wrong and what is allowed."""

    def __str__(self) -> str:
        return f"{show_field(self.field)}: {self.message}"


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A parsed YAML file, with the lines of its entries."""

    name: str
    """Name in messages."""
    text: str
    content: object
    """Parsed plain value."""

    def line(self, field: Field) -> int:
        """The line (from 1) of `field`, or of the innermost part of it that exists."""
        node = YAML(typ="rt").load(self.text)
        line = 1
        for part in field:
            try:
                position = node.lc.data[part]
                node = node[part]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
            line = position[0] + 1
        return line

    def reject(self, problems: Sequence[Problem]) -> CatalogEntryInvalidError:
        """The error that reports all `problems` with their lines, one per text line."""
        lines = (f"{self.name}:{self.line(problem.field)}: {problem}" for problem in problems)
        return CatalogEntryInvalidError("\n".join(lines))


def read_yaml(text: str, name: str) -> YamlFile:
    """Parse `text`; `name` is the file's name in messages.

    Raises:
        CatalogEntryInvalidError: it is not YAML, or a key occurs twice; the message gives the line.
    """
    try:
        content: object = YAML(typ="safe").load(text)
    except YAMLError as error:
        line = 1
        message = str(error)
        if isinstance(error, MarkedYAMLError):
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark is not None else 1
            message = " ".join(filter(None, (error.context, error.problem)))
        raise CatalogEntryInvalidError(f"{name}:{line}: not valid YAML: {message}") from error
    return YamlFile(name=name, text=text, content=content)


def read_file(item: Traversable, name: str) -> YamlFile:
    """Parse a UTF-8 file; `name` is its name in messages; errors as in `read_yaml`."""
    try:
        return read_yaml(item.read_text(encoding="utf-8"), name)
    except UnicodeDecodeError as error:
        raise CatalogEntryInvalidError(f"{name}:1: not UTF-8 text: {error.reason}") from error


def parse_entry(source: YamlFile, content: object, record: type[RecordType]) -> RecordType:
    """Validate `content`, the content of `source`, as a `record`.

    Raises:
        CatalogEntryInvalidError: it is invalid; every mistake is listed with line, field and allowed values.
    """
    try:
        return record.model_validate(content)
    except ValidationError as error:
        raise source.reject([_explain(record, details) for details in error.errors()]) from error


def parse_list(source: YamlFile, record: type[RecordType]) -> tuple[RecordType, ...]:
    """Validate a file that is a list of `record`s.

    Raises:
        CatalogEntryInvalidError: it is not a list, or an entry is invalid.
    """
    if not isinstance(source.content, list):
        raise source.reject([Problem((), f"must be a list of entries, not {_describe_type(source.content)}")])
    try:
        return tuple(TypeAdapter(list[record]).validate_python(source.content))  # type: ignore[valid-type]
    except ValidationError as error:
        raise source.reject([_explain(record, details, outside=1) for details in error.errors()]) from error


def show_field(field: Field) -> str:
    """A field in the notation of messages.

    >>> show_field(("example_subtasks", 0, "inputs"))
    'example_subtasks[0].inputs'
    """
    text = ""
    for part in field:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "file"


def _explain(record: type[Record], details: ErrorDetails, outside: int = 0) -> Problem:
    """The mistake in words; the first `outside` parts of its location are outside the `record`."""
    inner = details["loc"][outside:]
    message = details["msg"]
    value = details["input"]
    if details["type"] == "extra_forbidden":
        owner = _record_at(record, inner[:-1])
        known = owner.model_fields if owner else ()
        message = f"unknown field; {suggest(str(inner[-1]), known)}"
    elif details["type"] == "missing":
        message = "this field is required"
    elif isinstance(value, str | int | float | bool):
        message = f"{value!r} is not allowed: {message}"
        expected = details.get("ctx", {}).get("expected")
        if isinstance(value, str) and isinstance(expected, str):
            near = get_close_matches(value, expected.replace("'", "").replace(" or ", ", ").split(", "), n=1)
            message += f"; did you mean {near[0]!r}?" if near else ""
    else:
        message = f"{_describe_type(value)} is not allowed: {message}"
    return Problem(details["loc"], message)


def _record_at(record: type[BaseModel], location: Field) -> type[BaseModel] | None:
    """The record class of the value at `location` inside `record`, or None."""
    annotation: object = record
    for part in location:
        if isinstance(part, int):
            continue
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return None
        field = annotation.model_fields.get(part)
        if field is None:
            return None
        annotation = _element_type(field.annotation)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _element_type(annotation: object) -> object:
    """The element type of a tuple or list, or the type that may be None."""
    if typing.get_origin(annotation) in (tuple, list, typing.Union, types.UnionType):
        choices = [item for item in typing.get_args(annotation) if item not in (type(None), Ellipsis)]
        return _element_type(choices[0]) if choices else annotation
    return annotation


def _describe_type(value: object) -> str:
    """A YAML value's type in everyday words."""
    names = {dict: "a mapping", list: "a list", str: "text", type(None): "nothing", bool: "true or false"}
    return names.get(type(value), "a number")
