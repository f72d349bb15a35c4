"""Where what is new was at the start: whole texts, and all the records of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from taskloom.evaluators_api.state.comparison import Change
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import fields_in, fields_of, row_of
from taskloom.taskgraph.records.evidence import Evidence, FileState

_SHORTEST = 3
_WORD = re.compile(r"\w+")
_Group = tuple[str, ...]


def source_of_text(start: Evidence, container: str, value: str | None) -> str:
    """Where `value` was as a whole: `clipboard`, or the path of another file than `container`; else empty."""
    wanted = (value or "").strip().replace("\r\n", "\n")
    found = (
        _texts(start.files, start.clipboard.text or "").get(wanted, "") if len(wanted) >= _SHORTEST else ""
    )
    return "" if found == container else found


def sources_of_records(start: Evidence, container: str, changes: Sequence[Change]) -> dict[_Group, str]:
    """The groups to which records were added that are copies of all the records of one file, each with the
    path of that file."""
    added: dict[_Group, list[Node]] = {}
    for item in changes:
        new = item.after if item.kind == "added" and item.parents is not None else None
        if new is not None and new.children and new.naming in ("record", "position"):
            added.setdefault(item.address[:-1], []).append(new)
    sources = {group: _copied_from(start, container, records) for group, records in added.items()}
    return {group: path for group, path in sources.items() if path}


def _copied_from(start: Evidence, container: str, records: Sequence[Node]) -> str:
    found = [fields_of(item) for item in records]
    telling = max(_WORD.findall(" ".join(found[0].values())), key=len, default="")
    for file in start.files if len(telling) >= _SHORTEST else ():
        if file.path == container or telling not in (file.text or "") or file.truncated:
            continue
        held = fields_in(read(file.path, file.text or "")[1])
        names = {name for fields in held for name in fields}
        if len(held) != len(found) or not all(names <= fields.keys() for fields in (*held, *found)):
            continue
        if Counter(row_of(item, names) for item in held) == Counter(row_of(item, names) for item in found):
            return file.path
    return ""


@lru_cache(maxsize=16)
def _texts(files: tuple[FileState, ...], clipboard: str) -> dict[str, str]:
    held = {file.text.strip().replace("\r\n", "\n"): file.path for file in reversed(files) if file.text}
    if clipboard.strip():
        held[clipboard.strip().replace("\r\n", "\n")] = "clipboard"
    return held
