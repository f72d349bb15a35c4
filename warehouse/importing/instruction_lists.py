"""Instructions that others have published, to compare tasks with: of collections, tables and text files."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.importing import survey_import
from taskloom.warehouse.importing.items import BrokenItem, items_of, table_rows
from taskloom.warehouse.importing.json_reading import read_text
from taskloom.warehouse.lookup import IMPORTS

FIELDS: Final = ("instruction", "intent", "confirmed_task", "description", "goal", "task_description", "task")
"""Names under which collections keep an instruction; the first one that is there is taken."""
_JSON: Final = (".json", ".jsonl", ".ndjson")
_TEXTS: Final = ("string", "large_string")
_ROWS: Final = 1000
_TABLES: Final = (".parquet", *_JSON, ".csv", ".tsv")


def instructions_in(source: str) -> list[str]:
    """The instructions of a source; refused where it cannot be read, or has none.

    A source is `FORMAT:PATH` for a collection in an import format; a table (Parquet, JSON, JSON Lines,
    CSV), with `:COLUMN` behind it where its instructions have a name of their own; or a text file, one a
    line.
    """
    name, _, place = source.partition(":")
    if place and name in IMPORTS:
        return _of_collection(name, Path(place))
    path, column = Path(source), ""
    if not path.is_file() and Path(source.rpartition(":")[0]).is_file():
        path, column = Path(source.rpartition(":")[0]), source.rpartition(":")[2]
    if path.suffix not in _TABLES:
        if column:
            raise ImportRefusedError(
                str(path),
                "",
                f"is read line by line and has no column {column!r}; tables end with {', '.join(_TABLES)}",
            )
        return read_text(path, str(path)).splitlines()
    return _of_table(path, column)


def _of_collection(format_name: str, path: Path) -> list[str]:
    """Those of broken items, too: what is wrong with an item does not make its instruction less known."""
    reading = survey_import(format_name, path)
    found = [item.instruction for item in reading.records if isinstance(item, Task)]
    return found + [text for item in reading.broken if (text := _text(item.content, ""))]


def _of_table(path: Path, column: str) -> list[str]:
    found: list[str] = []
    seen: dict[str, None] = {}
    for row in _rows(path):
        if isinstance(row, dict):
            seen.update(dict.fromkeys(row))
        if text := _text(row, column):
            found.append(text)
    if not found:
        wanted = repr(column) if column else f"any of {', '.join(FIELDS)}"
        raise ImportRefusedError(
            str(path),
            "",
            f"has no text under {wanted}; it has: {', '.join(seen) or 'nothing'}. Name the column of"
            f" instructions behind the file, as in {path.name}:question",
        )
    return found


def _text(row: JsonValue | Mapping[str, object], column: str) -> str:
    if isinstance(row, str):
        return "" if column else row
    if not isinstance(row, Mapping):
        return ""
    texts = (row.get(name) for name in ((column,) if column else FIELDS))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _rows(path: Path) -> Iterator[JsonValue]:
    if path.suffix in _JSON:
        for item in items_of([(path, str(path))]):
            if isinstance(item, BrokenItem):
                raise ImportRefusedError.listing(item.faults)
            yield item.value
    elif path.suffix == ".parquet":
        # The other columns may be large.
        yield from table_rows(path, str(path), _ROWS, lambda column: str(column.type) in _TEXTS)
    else:
        lines = read_text(path, str(path)).splitlines(keepends=True)
        yield from csv.DictReader(lines, restkey="", delimiter="\t" if path.suffix == ".tsv" else ",")
