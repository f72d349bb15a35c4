"""The base of all records in taskloom, and the docstrings under its fields."""

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
        """The JSON schema with descriptions of the fields."""
        return described_schema(cls, core_schema, handler)


def described_schema(
    model: type[BaseModel], core_schema: "CoreSchema", handler: "GetJsonSchemaHandler"
) -> "dict[str, JsonValue]":
    """The JSON schema of a model; fields without a description get their docstrings."""
    schema: dict[str, JsonValue] = handler(core_schema)
    properties = handler.resolve_ref_schema(schema).get("properties", {})
    for name, text in field_docstrings(model).items():
        if name in properties:
            properties[name].setdefault("description", text)
    return schema


def field_docstrings(record: type[BaseModel]) -> dict[str, str]:
    """The docstrings under the fields of `record` and its bases, by field.

    They are read from the source on demand: reading them at class creation took half of the start-up time of
    every command.

    >>> field_docstrings(Record)
    {}
    """
    docstrings: dict[str, str] = {}
    for base in reversed(record.__mro__):
        if issubclass(base, BaseModel):
            module, name = base.__module__, base.__qualname__
            docstrings |= _read_docstrings(module).get(name, {})
    return {name: text for name, text in docstrings.items() if name in record.model_fields}


@cache
def _read_docstrings(module: str) -> dict[str, dict[str, str]]:
    """The docstrings under the fields of every class of a module, by the class's name; none without source
    code."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    docstrings: dict[str, dict[str, str]] = {}
    _collect(tree, "", docstrings)
    return docstrings


def _collect(node: ast.AST, prefix: str, docstrings: dict[str, dict[str, str]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            docstrings[prefix + child.name] = {
                field.target.id: inspect.cleandoc(text.value.value)
                for field, text in pairwise(child.body)
                if isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            }
            _collect(child, f"{prefix}{child.name}.", docstrings)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            _collect(child, f"{prefix}{child.name}.<locals>.", docstrings)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            _collect(child, prefix, docstrings)
