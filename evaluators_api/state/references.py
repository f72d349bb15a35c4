"""References: which record stands behind an id that an application made up at random.

Such an id is another one in every performance. What can be compared is what the record of that id holds: the
group that is called as a parameter says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import records_of
from taskloom.evaluators_api.state.templates import is_identity
from taskloom.taskgraph.records.evidence import Evidence

MOST_LOOKED_UP = 300
"""Different ids of one state that are looked up; further ones stand for nothing."""
_SHORTEST = 3
_OWN_ID = frozenset(["id", "_id", "key", "uuid", "guid", "uid"])


class References:
    """Looks up the records of one state by their ids."""

    def __init__(self, evidence: Evidence, parameters: Mapping[str, str]) -> None:
        self._evidence = evidence
        self._names = {value: name for name, value in parameters.items() if len(value) >= _SHORTEST}
        self._found: dict[str, str] = {}

    def named(self, value: str | None) -> str:
        """Templates of the parameters that the record with the id `value` holds, sorted; empty for none, and
        for what is no id."""
        if value is None or not self._names or not is_identity(value):
            return ""
        if value not in self._found and len(self._found) < MOST_LOOKED_UP:
            held = {
                self._names[text]
                for record in self._records(value)
                for text in _texts(record)
                if text in self._names
            }
            self._found[value] = " ".join(f"{{{name}}}" for name in sorted(held))
        return self._found.get(value, "")

    def _records(self, identity: str) -> Iterator[Node]:
        for file in self._evidence.files:
            if file.text is None:
                continue
            parts = PurePosixPath(file.path)
            if identity in (*parts.parts, parts.stem):
                yield read(file.path, file.text)[1]
            elif identity in file.text:
                tree = read(file.path, file.text)[1]
                yield from (record for record in records_of(tree) if _is_of(record, identity))


def is_own_id(field: str) -> bool:
    """Whether a field of this name holds the id of the record it stands in, not one that refers to another
    record."""
    return field.casefold() in _OWN_ID


def _is_of(record: Node, identity: str) -> bool:
    return record.name == identity or any(
        child.value == identity and is_own_id(child.name) for child in record.children
    )


def _texts(record: Node) -> Iterator[str]:
    """The values that a record holds itself, not those of records inside of it."""
    for child in record.children:
        if child.value is not None:
            yield child.value
