"""References: which record stands behind an id that an application made up, which is another one in every
performance, which records refer to it, and what the records around a change hold, by which the one is known
that is meant; and where what is new was at the start."""

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
"""Different values of one state that are looked up; further ones stand for nothing."""
_SHORTEST, _LONGEST = 3, 64
_MOST_HELD = 300
_WORD = re.compile(r"\w+")
_Group = tuple[str, ...]


class References:
    """Looks up the records of one state by what they are called by."""

    def __init__(self, evidence: Evidence, parameters: Mapping[str, str]) -> None:
        self._evidence = evidence
        names = {PurePosixPath(value).name: name for name, value in parameters.items() if "/" in value}
        names |= {value: name for name, value in parameters.items()}
        self._names = {value: name for value, name in names.items() if len(value) >= _SHORTEST}
        self._found: dict[str, str] = {}

    def named(self, value: str | None) -> str:
        """Templates of the parameters that the record called `value` holds, sorted; empty for none, and for
        values of parameters and numbers, of which every table has its own."""
        if value is None or not self._names or not _SHORTEST <= len(value) <= _LONGEST:
            return ""
        if value.isdigit() or value in self._names:
            return ""
        if value not in self._found and len(self._found) < MOST_LOOKED_UP:
            texts = {text for file in self._evidence.files for text in _told(file, value)}
            held = sorted({self._names[text] for text in texts & self._names.keys()})
            self._found[value] = " ".join(f"{{{name}}}" for name in held)
        return self._found.get(value, "")

    @cached_property
    def numbered(self) -> dict[str, frozenset[str]]:
        """Templates of the parameters that the records with a number hold, of whatever table; only other
        performances tell which of them it stands for."""
        found: dict[str, frozenset[str]] = {}
        for file in self._evidence.files if self._names else ():
            for called, texts in _texts(file.path, file.text).items() if file.text is not None else ():
                held = {f"{{{self._names[text]}}}" for text in texts & self._names.keys()}
                if held and called.isdigit():
                    found[called] = found.get(called, frozenset()) | held
        return found


class Touched:
    """Records that work changed or removed and a parameter names, and the records that refer to them, which
    an application may mark or remove with them."""

    def __init__(self, changes: Iterable[tuple[Node, Change]], parameters: Mapping[str, str]) -> None:
        """`changes` with the tree that each of them lies in, at the start."""
        values = {value for value in parameters.values() if len(value) >= _SHORTEST}
        self._known: dict[str, frozenset[str]] = {}
        for tree, change in changes if values else ():
            record, beside = _record_of(tree, change)
            if identity(record) and any(item.value in values for item in record.children):
                self._known[identity(record)] = frozenset(map(identity, beside))

    def is_followed(self, tree: Node, change: Change) -> bool:
        """Whether a change is one of a record that refers to such a record."""
        record, beside = _record_of(tree, change) if self._known else (NOTHING, ())
        return identity(record) not in self._known and self._refers(record, beside)

    def followers(self, tree: Node) -> bool:
        """Whether any record below refers to such a record."""
        return any(
            self._refers(record, node.children)
            for _, node in (tree.walk() if self._known else ())
            for record in node.children
            if record.naming == "record" and identity(record) not in self._known
        )

    def _refers(self, record: Node, beside: Iterable[Node]) -> bool:
        """Whether a field holds what a touched record is called by. A number may mean anything: it refers
        where all records beside hold there what records of the touched one's group are called by."""
        for child in record.children:
            among = self._known.get(child.value or "")
            if among is None:
                continue
            if not (child.value or "").isdigit():
                return True
            held = {part.value for item in beside for part in item.children if part.name == child.name}
            if held - {None, "", "NULL"} <= among:
                return True
        return False


def _record_of(tree: Node, change: Change) -> tuple[Node, tuple[Node, ...]]:
    """The record that was changed or removed, without children where there is none, and its group."""
    if change.kind == "removed" and change.before is not None and change.before.naming == "record":
        return change.before, tree.parts(change.address[:-1])
    if change.kind != "added" and change.parents is not None and change.parents[0].naming == "record":
        return change.parents[0], tree.parts(change.address[:-2])
    return NOTHING, ()


def _told(file: FileState, value: str) -> frozenset[str]:
    path = PurePosixPath(file.path)
    own = value in (*path.parts, path.stem)
    if file.text is None or not (own or value in file.text):
        return frozenset()
    return _texts(file.path, file.text).get("" if own else value, frozenset())


@lru_cache(maxsize=256)
def _texts(path: str, text: str) -> dict[str, frozenset[str]]:
    """Values that records hold themselves, by what these are called by, in whatever table; those of the file
    itself under the empty name."""
    tree = read(path, text)[1]
    found: dict[str, set[str]] = {"": _values(tree)}
    for record in records_of(tree):
        found.setdefault(identity(record), set()).update(_values(record) if identity(record) else ())
    return {name: frozenset(values) for name, values in found.items()}


def _values(node: Node) -> set[str]:
    return {child.value for child in node.children if child.value is not None}


class HeldValues:
    """Looks for values of parameters at the start; or for certain texts, at the start and at the end."""

    def __init__(
        self, start: Evidence, end: Evidence, parameters: Mapping[str, str], texts: Collection[str] | None
    ) -> None:
        """With `texts`, these are looked for instead of the values of `parameters`."""
        names = names_of(parameters.items()) if texts is None else {text: text for text in texts}
        self._names = {value: name for value, name in names.items() if len(value) >= _SHORTEST}
        self._ends = (start,) if texts is None else (start, end)
        self._told: dict[str, set[str | None]] = {}

    def told(self, container: str, around: Sequence[Sequence[Node]]) -> tuple[str, ...]:
        """What the records `around`, each as it was and as it is, and files and folders under made-up names
        on the way to them, hold of what is looked for."""
        if not self._names or not container:
            return ()
        found = {
            node.value
            for record in around
            for state in record[: len(self._ends)]
            for _, node in islice(state.walk(), _MOST_HELD)
        }
        parts = container.split("/")
        for depth, part in enumerate(steady_path(container).split("/"), start=1):
            if ANY in part:
                found |= self._in("/".join(parts[:depth]))
        return tuple(sorted(name for value, name in self._names.items() if value in found))

    def _in(self, place: str) -> set[str | None]:
        if place not in self._told:
            self._told[place] = {
                node.value
                for evidence in self._ends
                for file in evidence.files
                if place in (file.path, file.path.rpartition("/")[0]) and file.text is not None
                if any(value in file.text for value in self._names)
                for _, node in islice(read(file.path, file.text)[1].walk(), _MOST_HELD)
            }
        return self._told[place]


def source_of_text(start: Evidence, container: str, value: str | None) -> str:
    """Where `value` was as a whole: `clipboard`, or the path of another file than `container`; else empty."""
    wanted = (value or "").strip().replace("\r\n", "\n")
    if len(wanted) < _SHORTEST:
        return ""
    found = _whole_texts(start.files, start.clipboard.text or "").get(wanted, "")
    return "" if found == container else found


def sources_of_records(start: Evidence, container: str, changes: Sequence[Change]) -> dict[_Group, str]:
    """Groups to which copies of all the records of one file were added, each with the path of that file."""
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
def _whole_texts(files: tuple[FileState, ...], clipboard: str) -> dict[str, str]:
    held = {file.text.strip().replace("\r\n", "\n"): file.path for file in reversed(files) if file.text}
    if clipboard.strip():
        held[clipboard.strip().replace("\r\n", "\n")] = "clipboard"
    return held
