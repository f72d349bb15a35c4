"""Items of foreign collections, checked one by one, to report all their faults at once."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeVar

import pyarrow as pa
import pyarrow.parquet
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    create_model,
)

from taskloom.resources.record import Record
from taskloom.taskgraph.reading.faults import place_of, reason_of
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.errors import BROKEN, Fault, ImportRefusedError
from taskloom.warehouse.importing.json_reading import holds_lines, parse_json, read_settings, read_text
from taskloom.warehouse.records import ImportedItem

IMPORTED = Provenance(stage="import")


class ForeignModel(BaseModel):
    """The fields of a foreign record that are read here; all others are ignored, and kept in the original."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", protected_namespaces=())


def _check_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def number_as_text(value: object) -> object:
    """A whole number as text; anything else as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, AfterValidator(_check_not_blank)]
Identifier = Annotated[Text, BeforeValidator(number_as_text)]
"""An id: a text, or a whole number, which is read as text."""
M = TypeVar("M", bound=BaseModel)
Kind = Literal["task", "subtask", "trajectory", "evaluation_function"]
"""What an item would have become."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a collection, unchanged."""

    file: str
    value: JsonValue
    place: str = ""
    """Place in the file; empty where the item is the whole file."""

    @property
    def where(self) -> str:
        """File and position as one text."""
        return f"{self.file}:{self.place}" if self.place else self.file

    def refusal(self, field: str, reason: str, code: str = BROKEN) -> ImportRefusedError:
        """The error that refuses a field."""
        return ImportRefusedError(self.file, self._path_of(field), reason, code=code)

    def _path_of(self, field: str) -> str:
        return ".".join(part for part in (self.place, field) if part)

    def parse(self, model: type[M]) -> M:
        """The item as a model; `ImportRefusedError` with every fault."""
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            faults = [
                Fault(self.file, self._path_of(place_of(item["loc"])), reason_of(item))
                for item in error.errors(include_url=False)
            ]
            raise ImportRefusedError.listing(faults) from None

    def read_id(self, *fields: str) -> str:
        """Its id: the first of `fields` that it has; `ImportRefusedError` if it has none."""
        return str(vars(self.parse(_id_model(fields)))["item_id"])

    def original(
        self,
        item_id: str,
        kind: Literal["task", "subtask", "file"] = "task",
        *,
        place: str = "",
        content: JsonValue = None,
        infeasible: bool = False,
    ) -> ImportedItem:
        """The item's original, under the id of the record made from it, which begins with the format."""
        return ImportedItem(
            item_id=item_id,
            format=item_id.partition(":")[0],
            item_kind=kind,
            place=place or self.where,
            infeasible=infeasible,
            content=self.value if content is None else content,
        )


@dataclass(frozen=True, slots=True)
class BrokenItem:
    """An item that violates its format, or that cannot be understood."""

    item_id: str
    """Id it would have had, or its place."""
    kind: Kind
    place: str
    faults: tuple[Fault, ...]
    code: str
    content: JsonValue
    """The item itself; its text where it is not JSON."""

    def records(self, format_name: str) -> tuple[Rejection, ImportedItem]:
        """The rejection, and the original under a separate id: the corrected item can be imported later."""
        digest = hashlib.sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()[:12]
        original = ImportedItem(
            item_id=f"rejected:{self.item_id}:{digest}",
            format=format_name,
            item_kind="rejected",
            place=self.place,
            content=self.content,
        )
        rejection = Rejection(
            item_kind=self.kind,
            item_id=self.item_id,
            stage="import",
            reason=self.code,
            message="; ".join(map(str, self.faults)),
            details={"original": original.item_id, "place": self.place, "format": format_name},
            provenance=IMPORTED,
        )
        return rejection, original


Items = Iterator[Item | BrokenItem]
Records = Iterator[Record | BrokenItem]
"""The records of the valid items, and the broken items."""


@cache
def _id_model(fields: tuple[str, ...]) -> type[BaseModel]:
    field = Field(validation_alias=AliasChoices(*fields))
    return create_model("Named", __base__=ForeignModel, item_id=(Identifier, field))


def items_of(files: Iterable[tuple[Path, str]], *, one_each: bool = False) -> Items:
    """The items of JSON files: one, a list of them, or one per line; with `one_each` a file is one item."""
    for path, label in files:
        text: str | None = None
        try:
            text = read_text(path, label)
            if not one_each and holds_lines(path) and not text.lstrip().startswith("["):
                yield from _line_items(text, label)
                continue
            value = parse_json(text, label)
        except ImportRefusedError as error:
            if not one_each and text is not None and _looks_like_lines(text):
                yield from _line_items(text, label)
            else:
                yield unreadable_item(error, label, text)
            continue
        if isinstance(value, list) and not one_each:
            yield from (Item(label, entry, f"[{number}]") for number, entry in enumerate(value))
        else:
            yield Item(label, value)


def settings_items(files: Iterable[tuple[Path, str]], instruction_file: str = "") -> Items:
    """One item per TOML or YAML file; `instruction_file` beside a TOML file is its `instruction`."""
    for path, label in files:
        try:
            value = read_settings(path, label)
            if isinstance(value, dict) and instruction_file and path.suffix == ".toml":
                name = (PurePosixPath(label).parent / instruction_file).as_posix()
                value["instruction"] = read_text(path.with_name(instruction_file), name)
            yield Item(label, value)
        except ImportRefusedError as error:
            yield unreadable_item(error, label)


def _looks_like_lines(text: str) -> bool:
    try:
        return isinstance(parse_json(text.lstrip().partition("\n")[0], ""), dict)
    except ImportRefusedError:
        return False


def _line_items(text: str, label: str) -> Items:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"line {number}"
            try:
                yield Item(label, parse_json(line, label, place), place)
            except ImportRefusedError as error:
                yield unreadable_item(error, f"{label}:{place}", line)


def check_items(
    items: Iterable[Item | BrokenItem],
    name: Callable[[Item], str],
    build: Callable[[Item, str], Iterable[Record]],
    kind: Kind = "task",
) -> Records:
    """The records of the valid items, and the broken items.

    Another item with the same id but different content is kept under the id followed by the start of its
    content's hash; one with the same content is broken. `name` and `build` raise `ImportRefusedError` if
    an item is broken.
    """
    seen: dict[str, tuple[str, str]] = {}
    for item in items:
        if isinstance(item, BrokenItem):
            yield item
            continue
        item_id = item.where
        try:
            item_id = name(item)
            records = list(build(item, item_id))
            digest = hashlib.sha256(json.dumps(item.value, sort_keys=True).encode()).hexdigest()[:8]
            if item_id in seen and seen[item_id][1] != digest:
                unique_id = f"{item_id}~{digest}"
                records, item_id = [_with_new_id(record, item_id, unique_id) for record in records], unique_id
            if item_id in seen:
                raise item.refusal("id", f"also occurs in {seen[item_id][0]}")
        except ImportRefusedError as error:
            yield BrokenItem(item_id, kind, item.where, error.faults, error.code, item.value)
            continue
        seen[item_id] = (item.where, digest)
        yield from records


def _with_new_id(record: Record, old: str, new: str) -> Record:
    """The record with `old` replaced by `new` in every id that is `old` or begins with `old:`."""

    def rename(value: object) -> object:
        if isinstance(value, str):
            return new + value[len(old) :] if value == old or value.startswith(f"{old}:") else value
        if isinstance(value, dict):
            return {key: rename(part) for key, part in value.items()}
        return type(value)(map(rename, value)) if isinstance(value, (list, tuple)) else value

    return type(record).model_validate(rename(record.model_dump()))


def unreadable_item(
    error: ImportRefusedError, place: str, text: str | None = None, kind: Kind = "task"
) -> BrokenItem:
    """The item for a file or line that cannot be read; the other files of its collection are still read."""
    return BrokenItem(place, kind, place, error.faults, error.code, text)


def table_rows(
    file: Path, label: str, batch_size: int, wanted: Callable[[pa.Field], bool] = lambda _: True
) -> Iterator[dict[str, Any]]:
    """The rows of the `wanted` columns of a Parquet file, `batch_size` at a time; refused if it is not a
    Parquet file, or is truncated."""
    try:
        parquet = pyarrow.parquet.ParquetFile(file)
        columns = [field.name for field in parquet.schema_arrow if wanted(field)]
        for batch in parquet.iter_batches(batch_size=batch_size, columns=columns):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise ImportRefusedError(label, "", f"is not a Parquet file: {error}") from None
