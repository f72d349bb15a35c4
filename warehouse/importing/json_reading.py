"""Reads other people's JSON, TOML and YAML; refuses what is unreadable, ambiguous or too deep."""

import gzip
import json
import re
import tomllib
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import JsonValue
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from taskloom.resources.errors import JsonInvalidError
from taskloom.resources.reading.json_text import parse_json as strict_json
from taskloom.warehouse.errors import ImportRefusedError

_DEEPEST: Final = 100
"""How deep a value may be nested; what is read goes through other programs, whose bounds are not known."""
_MOST_UNPACKED: Final = 1_000_000_000
"""Bytes of a packed file."""
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half a character."""


def parse_json(text: str, shown: str, place: str = "") -> JsonValue:
    """The JSON value of a text; refused with a key twice in an object, NaN, half a character, or too deep."""
    try:
        value = strict_json(text)
    except JsonInvalidError as error:
        at = place or (f"line {error.line}" if error.line else "")
        raise ImportRefusedError(shown, at, str(error)) from None
    # It is nested no deeper than it has opening brackets.
    if text.count("[") + text.count("{") > _DEEPEST and _nested(value) > _DEEPEST:
        raise ImportRefusedError(shown, place, f"is nested more than {_DEEPEST} deep")
    if _HALF.search(text) and (half := _half_character(value)):
        raise ImportRefusedError(shown, place, f"holds half a character ({half}), which no text may")
    return value


def inner_json(text: str) -> JsonValue:
    """The JSON value of a text inside an item; a `ValueError` where `parse_json` refuses it."""
    try:
        return parse_json(text, "")
    except ImportRefusedError as error:
        raise ValueError(error.reason) from None


def _nested(value: JsonValue) -> int:
    deep, level = 0, [value]
    while level:
        deep += 1
        level = [
            part
            for held in level
            if isinstance(held, (dict, list))
            for part in (held.values() if isinstance(held, dict) else held)
        ]
    return deep - 1


def _half_character(value: JsonValue) -> str:
    """Half a pair of surrogates without its other half, as JSON writes it; empty where there is none."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(error.object[error.start]):04x}"
    return ""


def as_text(value: JsonValue) -> str:
    """A value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def collection_files(
    path: Path, *, lines_first: bool = False, root: Path | None = None
) -> list[tuple[Path, str]]:
    """The JSON files of a folder and its subfolders, sorted, or the one file, each with its name in `root`.

    Where there are none, its JSON Lines; with `lines_first` the other way round; refused where nothing is
    there. The manifest of an export of ours is left out.
    """
    if path.is_file():
        return _with_names(root or path, [path])
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is no regular file" if path.exists() else "does not exist")
    there = sorted(item for item in path.rglob("*") if item.is_file())
    whole = [item for item in there if _plain_name(item).endswith(".json")]
    lines = [item for item in there if holds_lines(item)]
    found = (lines or whole) if lines_first else (whole or lines)
    if not found:
        endings = sorted({item.suffix for item in there if item.suffix})
        held = f"its files end with {', '.join(endings[:8])}" if endings else "it is empty"
        raise ImportRefusedError(
            str(path), "", f"holds no JSON file (.json, or .jsonl; .gz behind it); {held}"
        )
    return _with_names(root or path, (file for file in found if file.name != "manifest.json"))


def matching_files(path: Path, *patterns: str) -> list[tuple[Path, str]]:
    """The one file, or those below a folder that match a pattern, with their names; refused without any."""
    inside = {file for pattern in patterns for file in path.rglob(pattern)} if path.is_dir() else {path}
    found = sorted(file for file in inside if file.is_file())
    if not found:
        raise ImportRefusedError(str(path), "", f"holds no {' or '.join(patterns)}")
    return _with_names(path, found)


def _with_names(path: Path, files: Iterable[Path]) -> list[tuple[Path, str]]:
    root = path if path.is_dir() else path.parent
    return [(file, file.relative_to(root).as_posix()) for file in files]


def file_inside(root: Path, name: str) -> Path | None:
    """The file `name` of a folder; None where it is absent or outside, or no file can have the name."""
    try:
        target = (root / name).resolve()
        return target if target.is_relative_to(root.resolve()) and target.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def holds_lines(path: Path) -> bool:
    """Whether a file is named as JSON Lines."""
    return _plain_name(path).endswith((".jsonl", ".ndjson"))


def _plain_name(path: Path) -> str:
    return path.name.casefold().removesuffix(".gz")


def read_text(path: Path, shown: str) -> str:
    """The text of a file; refused where it is unreadable, or no UTF-8."""
    try:
        if path.suffix.casefold() != ".gz":
            return path.read_text(encoding="utf-8-sig")
        with gzip.open(path) as packed:
            data = packed.read(_MOST_UNPACKED + 1)
        if len(data) > _MOST_UNPACKED:
            raise ImportRefusedError(
                shown, "", f"unpacks to more than {_MOST_UNPACKED} bytes; unpack it first"
            )
        return data.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ImportRefusedError(shown, "", f"is not a whole gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise ImportRefusedError(shown, "", f"is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ImportRefusedError(shown, "", f"cannot be read: {error.strerror}") from None


_LONGEST: Final = 1 << 20
"""Characters of a file that describes one task."""


def read_settings(path: Path, shown: str) -> JsonValue:
    """The value of a TOML or YAML file, dates as text; refused where it is neither, too long, too deep, or
    refers to other parts of itself."""
    text = read_text(path, shown)
    if len(text) > _LONGEST:
        raise ImportRefusedError(shown, "", f"has more than {_LONGEST} characters for one task")
    kind = "TOML" if path.suffix.casefold() == ".toml" else "YAML"
    try:
        value = json.dumps(tomllib.loads(text) if kind == "TOML" else _yaml(text), default=str)
    except (tomllib.TOMLDecodeError, YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ImportRefusedError(shown, "", f"is not {kind}: {str(error).splitlines()[0]}") from None
    return parse_json(value, shown)


def _yaml(text: str) -> object:
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        if isinstance(event, AliasEvent):
            raise ValueError("parts that stand elsewhere (*name) are not read")
        depth += isinstance(event, (MappingStartEvent, SequenceStartEvent))
        depth -= isinstance(event, (MappingEndEvent, SequenceEndEvent))
        if depth > _DEEPEST:
            raise ValueError(f"is nested more than {_DEEPEST} deep")
    return YAML(typ="safe", pure=True).load(text)
