"""References: the records behind generated ids, which differ between performances, and the records that refer
to them; the values in the records around a change, which identify it; and the sources of copied values."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath

from taskloom.evaluators_api.state.comparison import Change
from taskloom.evaluators_api.state.nodes import NOTHING, Node, identity
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import fields_in, fields_of, records_of, row_of
from taskloom.evaluators_api.state.templates import names_of, steady_path
from taskloom.taskgraph.records.effect import ANY
from taskloom.taskgraph.records.evidence import Evidence, FileState

MOST_LOOKED_UP = 300
"""Maximum number of distinct values looked up in one state; further ones refer to nothing."""
_SHORTEST, _LONGEST = 3, 64
_MOST_NODES = 300
_WORD = re.compile(r"\w+")
_Group = tuple[str, ...]


class References:
    """Looks up the records of one state by their ids."""

    def __init__(self, evidence: Evidence, parameters: Mapping[str, str]) -> None:
        self._evidence = evidence
        names = {PurePosixPath(value).name: name for name, value in parameters.items() if "/" in value}
        names |= {value: name for name, value in parameters.items()}
        self._names = {value: name for value, name in names.items() if len(value) >= _SHORTEST}
        self._templates: dict[str, str] = {}

    def templates_of(self, value: str | None) -> str:
        """Templates of the parameters in the record with the id `value`, sorted; empty if there are none, and
        for values of parameters and numbers, which are ids in every table."""
        if value is None or not self._names or not _SHORTEST <= len(value) <= _LONGEST:
            return ""
        if value.isdigit() or value in self._names:
            return ""
        if value not in self._templates and len(self._templates) < MOST_LOOKED_UP:
            texts = {text for file in self._evidence.files for text in _values_of_record(file, value)}
            names = sorted({self._names[text] for text in texts & self._names.keys()})
            self._templates[value] = " ".join(f"{{{name}}}" for name in names)
        return self._templates.get(value, "")

    @cached_property
    def templates_by_number(self) -> dict[str, frozenset[str]]:
        """Templates of the parameters in the records with a number as their id, over all tables; only other
        performances show which record a number refers to."""
        by_number: dict[str, frozenset[str]] = {}
        for file in self._evidence.files if self._names else ():
            by_id = {} if file.text is None else _values_by_id(file.path, file.text)
            for record_id, texts in by_id.items():
                templates = {f"{{{self._names[text]}}}" for text in texts & self._names.keys()}
                if templates and record_id.isdigit():
                    by_number[record_id] = by_number.get(record_id, frozenset()) | templates
        return by_number


class TouchedRecords:
    """Records that a parameter names and the work changed or removed, and the records that refer to them,
    which an application may mark or remove with them."""

    def __init__(self, changes: Iterable[tuple[Node, Change]], parameters: Mapping[str, str]) -> None:
        """`changes`, each with the tree at the start in which it lies."""
        values = {value for value in parameters.values() if len(value) >= _SHORTEST}
        self._group_ids: dict[str, frozenset[str]] = {}
        """By the id of each touched record, the ids in its group."""
        for tree, change in changes if values else ():
            record, siblings = _record_of(tree, change)
            if identity(record) and any(item.value in values for item in record.children):
                self._group_ids[identity(record)] = frozenset(map(identity, siblings))

    def is_followed(self, tree: Node, change: Change) -> bool:
        """Whether a change is in a record that refers to a touched one."""
        record, siblings = _record_of(tree, change) if self._group_ids else (NOTHING, ())
        return identity(record) not in self._group_ids and self._refers(record, siblings)

    def has_followers(self, tree: Node) -> bool:
        """Whether any record below refers to a touched one."""
        return any(
            self._refers(record, node.children)
            for _, node in (tree.walk() if self._group_ids else ())
            for record in node.children
            if record.naming == "record" and identity(record) not in self._group_ids
        )

    def _refers(self, record: Node, siblings: Iterable[Node]) -> bool:
        """Whether a field holds the id of a touched record. A number may mean anything: it is a reference
        only if the field holds ids of the touched record's group in all `siblings`."""
        for child in record.children:
            group_ids = self._group_ids.get(child.value or "")
            if group_ids is None:
                continue
            if not (child.value or "").isdigit():
                return True
            values = {part.value for item in siblings for part in item.children if part.name == child.name}
            if values - {None, "", "NULL"} <= group_ids:
                return True
        return False


def _record_of(tree: Node, change: Change) -> tuple[Node, tuple[Node, ...]]:
    """The record that was changed or removed, without children if there is none, and its group."""
    if change.kind == "removed" and change.before is not None and change.before.naming == "record":
        return change.before, tree.parts(change.address[:-1])
    if change.kind != "added" and change.parents is not None and change.parents[0].naming == "record":
        return change.parents[0], tree.parts(change.address[:-2])
    return NOTHING, ()


def _values_of_record(file: FileState, value: str) -> frozenset[str]:
    """Values of the records with the id `value`; those of the file itself if `value` is in its path."""
    path = PurePosixPath(file.path)
    is_own_name = value in (*path.parts, path.stem)
    if file.text is None or not (is_own_name or value in file.text):
        return frozenset()
    return _values_by_id(file.path, file.text).get("" if is_own_name else value, frozenset())


@lru_cache(maxsize=256)
def _values_by_id(path: str, text: str) -> dict[str, frozenset[str]]:
    """Values of the records' own fields by record id, across all tables; those of the file itself under the
    empty id."""
    tree = read(path, text)[1]
    found: dict[str, set[str]] = {"": _values(tree)}
    for record in records_of(tree):
        found.setdefault(identity(record), set()).update(_values(record) if identity(record) else ())
    return {name: frozenset(values) for name, values in found.items()}


def _values(node: Node) -> set[str]:
    return {child.value for child in node.children if child.value is not None}


class HeldValues:
    """Finds values of parameters in the start state, or given texts in the start and end states."""

    def __init__(
        self, start: Evidence, end: Evidence, parameters: Mapping[str, str], texts: Collection[str] | None
    ) -> None:
        """With `texts`, find these instead of the values of `parameters`."""
        names = names_of(parameters.items()) if texts is None else {text: text for text in texts}
        self._names = {value: name for value, name in names.items() if len(value) >= _SHORTEST}
        self._states = (start,) if texts is None else (start, end)
        self._values: dict[str, set[str | None]] = {}

    def names_in(self, container: str, around: Sequence[Sequence[Node]]) -> tuple[str, ...]:
        """The names of the values that occur in the records `around`, each as it was and as it is now, and in
        files and folders with generated names on the path to them."""
        if not self._names or not container:
            return ()
        found = {
            node.value
            for record in around
            for state in record[: len(self._states)]
            for _, node in islice(state.walk(), _MOST_NODES)
        }
        parts = container.split("/")
        for depth, part in enumerate(steady_path(container).split("/"), start=1):
            if ANY in part:
                found |= self._values_at("/".join(parts[:depth]))
        return tuple(sorted(name for value, name in self._names.items() if value in found))

    def _values_at(self, place: str) -> set[str | None]:
        if place not in self._values:
            self._values[place] = {
                node.value
                for evidence in self._states
                for file in evidence.files
                if place in (file.path, file.path.rpartition("/")[0]) and file.text is not None
                if any(value in file.text for value in self._names)
                for _, node in islice(read(file.path, file.text)[1].walk(), _MOST_NODES)
            }
        return self._values[place]


def source_of_text(start: Evidence, container: str, value: str | None) -> str:
    """The source of the whole `value`: `clipboard`, the path of another file than `container`, or empty."""
    wanted = (value or "").strip().replace("\r\n", "\n")
    if len(wanted) < _SHORTEST:
        return ""
    found = _whole_texts(start.files, start.clipboard.text or "").get(wanted, "")
    return "" if found == container else found


def sources_of_records(start: Evidence, container: str, changes: Sequence[Change]) -> dict[_Group, str]:
    """Groups to which copies of all records of one file were added, each with the path of that file."""
    added: dict[_Group, list[Node]] = {}
    for item in changes:
        new = item.after if item.kind == "added" and item.parents is not None else None
        if new is not None and new.children and new.naming in ("record", "position"):
            added.setdefault(item.address[:-1], []).append(new)
    sources = {group: _source_of_records(start, container, records) for group, records in added.items()}
    return {group: path for group, path in sources.items() if path}


def _source_of_records(start: Evidence, container: str, records: Sequence[Node]) -> str:
    found = [fields_of(item) for item in records]
    longest_word = max(_WORD.findall(" ".join(found[0].values())), key=len, default="")
    for file in start.files if len(longest_word) >= _SHORTEST else ():
        if file.path == container or longest_word not in (file.text or "") or file.truncated:
            continue
        source = fields_in(read(file.path, file.text or "")[1])
        names = {name for fields in source for name in fields}
        if len(source) != len(found) or not all(names <= fields.keys() for fields in (*source, *found)):
            continue
        if Counter(row_of(item, names) for item in source) == Counter(row_of(item, names) for item in found):
            return file.path
    return ""


@lru_cache(maxsize=16)
def _whole_texts(files: tuple[FileState, ...], clipboard: str) -> dict[str, str]:
    sources = {file.text.strip().replace("\r\n", "\n"): file.path for file in reversed(files) if file.text}
    if clipboard.strip():
        sources[clipboard.strip().replace("\r\n", "\n")] = "clipboard"
    return sources
