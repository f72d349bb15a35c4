"""Reads foreign JSON, TOML and YAML; refuses what is unreadable, ambiguous or nested too deeply."""

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

_MAX_DEPTH: Final = 100
"""How deep a value may be nested; values pass through other programs, whose limits are unknown."""
_MAX_UNPACKED: Final = 1_000_000_000
"""Maximum bytes of an unpacked file."""
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""JSON's escape of a surrogate, half a character."""


def parse_json(text: str, label: str, place: str = "") -> JsonValue:
    """The JSON value of a text; refused for a repeated key, NaN, a lone surrogate, or too deep nesting."""
    try:
        value = strict_json(text)
    except JsonInvalidError as error:
        position = place or (f"line {error.line}" if error.line else "")
        raise ImportRefusedError(label, position, str(error)) from None
    # A value has at least as many opening brackets as levels.
    if text.count("[") + text.count("{") > _MAX_DEPTH and _depth(value) > _MAX_DEPTH:
        raise ImportRefusedError(label, place, f"is nested more than {_MAX_DEPTH} deep")
    if _SURROGATE.search(text) and (surrogate := _lone_surrogate(value)):
        raise ImportRefusedError(label, place, f"holds half a character ({surrogate}), which no text can")
    return value


def inner_json(text: str) -> JsonValue:
    """The JSON value of a text inside an item; a `ValueError` if `parse_json` refuses it."""
    try:
        return parse_json(text, "")
    except ImportRefusedError as error:
        raise ValueError(error.reason) from None


def _depth(value: JsonValue) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            part
            for item in level
            if isinstance(item, (dict, list))
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    return depth - 1


def _lone_surrogate(value: JsonValue) -> str:
    """A lone surrogate, as JSON escapes it; empty if there is none."""
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

    If there are none, its JSON Lines files; with `lines_first`, the other way round; refused if there are
    neither. The manifest of our own exports is left out.
    """
    if path.is_file():
        return _with_names(root or path, [path])
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "is no regular file" if path.exists() else "does not exist")
    inside = sorted(item for item in path.rglob("*") if item.is_file())
    json_files = [item for item in inside if _plain_name(item).endswith(".json")]
    lines_files = [item for item in inside if holds_lines(item)]
    files = (lines_files or json_files) if lines_first else (json_files or lines_files)
    if not files:
        endings = sorted({item.suffix for item in inside if item.suffix})
        contents = f"its files end with {', '.join(endings[:8])}" if endings else "it is empty"
        raise ImportRefusedError(
            str(path), "", f"holds no JSON file (.json or .jsonl, or these as .gz); {contents}"
        )
    return _with_names(root or path, (file for file in files if file.name != "manifest.json"))


def matching_files(path: Path, *patterns: str) -> list[tuple[Path, str]]:
    """The one file, or those below a folder that match a pattern, with their names; refused if none do."""
    inside = {file for pattern in patterns for file in path.rglob(pattern)} if path.is_dir() else {path}
    files = sorted(file for file in inside if file.is_file())
    if not files:
        raise ImportRefusedError(str(path), "", f"holds no {' or '.join(patterns)}")
    return _with_names(path, files)


def _with_names(path: Path, files: Iterable[Path]) -> list[tuple[Path, str]]:
    root = path if path.is_dir() else path.parent
    return [(file, file.relative_to(root).as_posix()) for file in files]


def file_inside(root: Path, name: str) -> Path | None:
    """The file `name` of a folder; None if it is absent or outside, or no file can have the name."""
    try:
        target = (root / name).resolve()
        return target if target.is_relative_to(root.resolve()) and target.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def holds_lines(path: Path) -> bool:
    """Whether a file has a JSON Lines name."""
    return _plain_name(path).endswith((".jsonl", ".ndjson"))


def _plain_name(path: Path) -> str:
    return path.name.casefold().removesuffix(".gz")


def read_text(path: Path, label: str) -> str:
    """The text of a file; refused if it is unreadable, or not UTF-8."""
    try:
        if path.suffix.casefold() != ".gz":
            return path.read_text(encoding="utf-8-sig")
        with gzip.open(path) as compressed:
            data = compressed.read(_MAX_UNPACKED + 1)
        if len(data) > _MAX_UNPACKED:
            raise ImportRefusedError(
                label, "", f"unpacks to more than {_MAX_UNPACKED} bytes; unpack it first"
            )
        return data.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ImportRefusedError(label, "", f"is not a complete gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise ImportRefusedError(label, "", f"is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ImportRefusedError(label, "", f"cannot be read: {error.strerror}") from None


_MAX_CHARACTERS: Final = 1 << 20
"""Characters of a file that describes one task."""


def read_settings(path: Path, label: str) -> JsonValue:
    """The value of a TOML or YAML file, dates as text; refused if it is neither, too long, too deep, or
    refers to other parts of itself."""
    text = read_text(path, label)
    if len(text) > _MAX_CHARACTERS:
        raise ImportRefusedError(label, "", f"has more than {_MAX_CHARACTERS} characters for one task")
    kind = "TOML" if path.suffix.casefold() == ".toml" else "YAML"
    try:
        value = json.dumps(tomllib.loads(text) if kind == "TOML" else _yaml(text), default=str)
    except (tomllib.TOMLDecodeError, YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ImportRefusedError(label, "", f"is not {kind}: {str(error).splitlines()[0]}") from None
    return parse_json(value, label)


def _yaml(text: str) -> object:
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        if isinstance(event, AliasEvent):
            raise ValueError("references to other parts (*name) are not read")
        depth += isinstance(event, (MappingStartEvent, SequenceStartEvent))
        depth -= isinstance(event, (MappingEndEvent, SequenceEndEvent))
        if depth > _MAX_DEPTH:
            raise ValueError(f"is nested more than {_MAX_DEPTH} deep")
    return YAML(typ="safe", pure=True).load(text)
