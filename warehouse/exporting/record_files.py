"""Files of an export: names, pictures and hashes, and records written as they come."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self, TextIO
from urllib.parse import quote

from taskloom.taskgraph.records.interaction import Screenshot


class RecordFiles:
    """One file per set: JSON lines, or one JSON list; beyond a limit lines go into `<set>-00001.jsonl` and
    on."""

    def __init__(
        self, folder: Path, *, lines: bool, most_bytes: float = math.inf, most_records: float = math.inf
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

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.write("" if self._lines else "\n]\n")
            file.close()

    def add(self, name: str, record: Mapping[str, object]) -> None:
        """Append a record to the file of the set `name`."""
        text = json.dumps(record, ensure_ascii=False)
        size = len(text.encode())
        first = name not in self._open
        file = self._part(name, size)
        file.write(f"{text}\n" if self._lines else ("[\n" if first else ",\n") + text)
        self.counts[name] += 1

    def _part(self, name: str, size: int) -> TextIO:
        held, records = self._written.get(name, (0, 0))
        most_bytes, most_records = self._most
        full = held + size + 1 > most_bytes or records >= most_records
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


def write_lines(path: Path, values: Iterator[Mapping[str, object]]) -> None:
    """Write one JSON object per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


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
    """A file name for an id: letters, digits, `._-` and parentheses stay, everything else is percent-encoded;
    `unquote` gives the id.

    >>> safe_name("notes.create:ab/../c"), safe_name("12(0)"), safe_name("..")
    ('notes.create%3Aab%2F..%2Fc', '12(0)', '%2E%2E')
    """
    name = quote(item_id, safe="()")
    return name.replace(".", "%2E") if set(name) == {"."} else name
