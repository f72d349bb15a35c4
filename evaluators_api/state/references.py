"""References: which record stands behind an id that an application made up.

Such an id is another one in every performance. What can be compared is what the record of that id holds: the
group that is called as a parameter says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from taskloom.evaluators_api.state.nodes import identity
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import records_of
from taskloom.taskgraph.records.evidence import Evidence, FileState

MOST_LOOKED_UP = 300
"""Different values of one state that are looked up; further ones stand for nothing."""
_SHORTEST, _LONGEST = 3, 64


class References:
    """Looks up the records of one state by what they are called by."""

    def __init__(self, evidence: Evidence, parameters: Mapping[str, str]) -> None:
        self._evidence = evidence
        self._names = {value: name for name, value in parameters.items() if len(value) >= _SHORTEST}
        self._found: dict[str, str] = {}

    def named(self, value: str | None) -> str:
        """Templates of the parameters that the record called `value` holds, sorted; empty for none, and for
        values of parameters and numbers, of which every table has its own."""
        if value is None or not self._names or not _SHORTEST <= len(value) <= _LONGEST:
            return ""
        if value.isdigit() or value in self._names:
            return ""
        if value not in self._found and len(self._found) < MOST_LOOKED_UP:
            texts = [text for file in self._evidence.files for text in _told(file, value)]
            held = sorted({self._names[text] for text in texts if text in self._names})
            self._found[value] = " ".join(f"{{{name}}}" for name in held)
        return self._found.get(value, "")


def _told(file: FileState, value: str) -> frozenset[str]:
    """What the record called `value` holds, or a file in a place of that name."""
    if file.text is None:
        return frozenset()
    path = PurePosixPath(file.path)
    if value in (*path.parts, path.stem):
        return _texts(file.path, file.text).get("", frozenset())
    return _texts(file.path, file.text).get(value, frozenset()) if value in file.text else frozenset()


@lru_cache(maxsize=256)
def _texts(path: str, text: str) -> dict[str, frozenset[str]]:
    """Values that records hold themselves, by what these are called by; those of the file itself under the
    empty name."""
    tree = read(path, text)[1]
    found = {identity(record): record for record in records_of(tree)}
    return {
        name: frozenset(child.value for child in record.children if child.value is not None)
        for name, record in {**found, "": tree}.items()
    }
