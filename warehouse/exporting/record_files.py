"""Files of an export: names, pictures and hashes, and records written as they come."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO
from urllib.parse import quote, unquote

from taskloom.taskgraph.records.interaction import Screenshot


class RecordFiles:
    """One file per set: JSON lines, or one JSON list.

    Lines go into further files, `<set>-00001.jsonl`, where one would grow beyond a limit.
    """

    def __init__(
        self, folder: Path, *, lines: bool, most_bytes: int | None = None, most_records: int | None = None
    ) -> None:
        """Write into `folder`; the limits hold for each file of lines."""
        self.counts: Counter[str] = Counter()
        self.files: dict[str, list[str]] = {}
        self._folder = folder
        self._lines = lines
        self._most = (most_bytes, most_records)
        self._open: dict[str, TextIO] = {}
        self._written: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._open.values():
            file.write("" if self._lines else "\n]\n")
            file.close()

    def add(self, name: str, record: Mapping[str, object]) -> None:
        """Append a record to the file of the set `name`."""
        text = json.dumps(record, ensure_ascii=False)
        size = len(text.encode())
        if self._lines:
            self._part(name, size).write(f"{text}\n")
        else:
            first = name not in self._open
            file = self._part(name, size)
            file.write("[\n" if first else ",\n")
            file.write(text)
        self.counts[name] += 1

    def _part(self, name: str, size: int) -> TextIO:
        held, records = self._written.get(name, (0, 0))
        most_bytes, most_records = self._most
        full = (most_bytes is not None and held + size + 1 > most_bytes) or (
            most_records is not None and records >= most_records
        )
        if name not in self._open or (full and records):
            if name in self._open:
                self._open.pop(name).close()
            parts = self.files.setdefault(name, [])
            ending = "jsonl" if self._lines else "json"
            parts.append(f"{name}.{ending}" if not parts else f"{name}-{len(parts):05}.{ending}")
            self._open[name] = (self._folder / parts[-1]).open("w", encoding="utf-8")
            held, records = 0, 0
        self._written[name] = (held + size + 1, records + 1)
        return self._open[name]


def write_json(path: Path, value: object) -> None:
    """Write one JSON file, the same bytes for the same value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def write_lines(path: Path, values: Iterator[Mapping[str, object]]) -> int:
    """Write one JSON object per line; the number of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for value in values:
            out.write(json.dumps(value, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_picture(folder: Path, screenshot: Screenshot) -> str:
    """Write a picture once; its path relative to the export."""
    name = f"images/{screenshot.sha256}.png"
    target = folder / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(screenshot.png)
    return name


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by its path there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = digest
    return found


def safe_name(item_id: str) -> str:
    """A file name for an id: letters, digits, `._-` and parentheses stay, everything else is percent-encoded.

    >>> safe_name("notes.create:ab/../c"), safe_name("12(0)"), safe_name("..")
    ('notes.create%3Aab%2F..%2Fc', '12(0)', '%2E%2E')
    """
    name = quote(item_id, safe="()")
    return name.replace(".", "%2E") if set(name) == {"."} else name


def id_of_name(name: str) -> str:
    """The id that a file name stands for."""
    return unquote(name)
