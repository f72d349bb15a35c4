"""The root of every record in taskloom, and what the docstrings under its fields say."""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler, JsonValue
    from pydantic_core import CoreSchema


class Record(BaseModel):
    """An immutable, validated value that may cross a boundary (file, model reply, table row).

    Guarantees that no unknown field is accepted and that no field changes after construction, so a record
    can be shared between threads, hashed by its content and stored without copying.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        protected_namespaces=(),
        ser_json_bytes="base64",
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: "CoreSchema", handler: "GetJsonSchemaHandler", /
    ) -> "dict[str, JsonValue]":
        """The JSON schema, in which fields are described."""
        return described_schema(cls, core_schema, handler)


def described_schema(
    model: type[BaseModel], core_schema: "CoreSchema", handler: "GetJsonSchemaHandler"
) -> "dict[str, JsonValue]":
    """The JSON schema of a model; fields without a description have their docstrings."""
    schema: dict[str, JsonValue] = handler(core_schema)
    properties = handler.resolve_ref_schema(schema).get("properties", {})
    for name, text in field_docstrings(model).items():
        if name in properties:
            properties[name].setdefault("description", text)
    return schema


def field_docstrings(record: type[BaseModel]) -> dict[str, str]:
    """The docstrings under the fields of `record` and of what it derives from, by field.

    They are read from the source when they are asked for: to read them as classes are made took half of the
    start of every command.

    >>> field_docstrings(Record)
    {}
    """
    found: dict[str, str] = {}
    for base in reversed(record.__mro__):
        if issubclass(base, BaseModel):
            module, place = base.__module__, base.__qualname__
            found |= _docstrings_in(module).get(place, {})
    return {name: text for name, text in found.items() if name in record.model_fields}


@cache
def _docstrings_in(module: str) -> dict[str, dict[str, str]]:
    """The docstrings under the fields of every class of a module, by the class's name; none without a
    source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    found: dict[str, dict[str, str]] = {}
    _collect(tree, "", found)
    return found


def _collect(node: ast.AST, place: str, found: dict[str, dict[str, str]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            found[place + child.name] = {
                field.target.id: inspect.cleandoc(text.value.value)
                for field, text in pairwise(child.body)
                if isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            }
            _collect(child, f"{place}{child.name}.", found)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            _collect(child, f"{place}{child.name}.<locals>.", found)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            _collect(child, place, found)
