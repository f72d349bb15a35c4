"""The effects of a performance: the differences between two pieces of evidence, in terms of the parameters.
The only place where states are compared; only files whose content differs are read."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.comparison import Change, compare
from taskloom.evaluators_api.state.formats import database
from taskloom.evaluators_api.state.nodes import NOTHING, Naming, Node
from taskloom.evaluators_api.state.noise import NO_NOISE, Noise, noise_between
from taskloom.evaluators_api.state.reading import FALLBACK, all_formats, is_redundant, read, tree_at
from taskloom.evaluators_api.state.references import (
    HeldValues,
    References,
    TouchedRecords,
    source_of_text,
    sources_of_records,
)
from taskloom.evaluators_api.state.templates import (
    filled,
    is_generated,
    steady_path,
    templated,
    templated_path,
)
from taskloom.resources.noise import Area, EffectKind
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import cut_text

LONGEST_VALUE = 2_000
"""Maximum length of a value that an effect keeps, in characters."""
_SHORTEST_SOURCE = 3
_SHORT_NUMBERS = re.compile(r"\d{1,2}(?:,\d+)*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FIELD: Naming = "field"
LASTING = frozenset({"file", "directory", "clipboard"})
"""Parts of the state that outlast an application, unlike the window and the screen."""
DATABASE = "database"
"""Name of the format of databases."""


def effects(
    start: Evidence,
    end: Evidence,
    parameters: Mapping[str, str],
    *,
    files: Collection[str] | None = None,
    screen: bool = True,
    held: Collection[str] | None = None,
) -> tuple[Effect, ...]:
    """The differences from `start` to `end`, container by container, outermost first.

    A file that was made or removed is an effect with an empty address; the content of a new file follows. A
    changed file has one effect per change that its format shows, or one with an empty address if it shows
    none (pictures, texts that were cut). Noise is left out. `files` and `screen` limit what is compared. With
    `held`, effects name which of these texts, instead of values of parameters, the records around them hold
    at the start or at the end.
    """
    builder = _Builder(start, end, parameters, held)
    found: list[Effect] = []
    old, new = start.files_by_path(), end.files_by_path()
    for path in changed_paths(start, end):
        if files is None or path in files:
            found += builder.file(path, old.get(path), new.get(path))
    return (*found, *builder.directories(), *builder.slots(screen=screen))


def changed_paths(start: Evidence, end: Evidence) -> tuple[str, ...]:
    """Sorted paths of files that were made, removed or changed, without noise."""
    old, new = start.files_by_path(), end.files_by_path()
    noise = noise_between(start, end)
    differing = (path for path in {*old, *new} if not _same_file(old.get(path), new.get(path)))
    whole = (path for path in differing if not (new.get(path) or old[path]).part_of)

    def is_noise(path: str) -> bool:
        if not noise.concerns(path):
            return False
        only_noise = bool(file_changes(start, end, path)[1]) and not file_changes(start, end, path, noise)[1]
        return only_noise or noise.covers("file", path, (), _change_kind(old.get(path), new.get(path)))

    return tuple(sorted(path for path in whole if not is_noise(path)))


def is_implied(end: Evidence, effect: Effect) -> bool:
    """Whether an addition follows from the rest of its file, such as an amount that balances."""
    file = end.file(effect.container) if effect.kind == "added" and effect.address else None
    return file is not None and bool(file.text) and is_redundant(file.path, file.text or "", effect.address)


def _change_kind(old: object, new: object) -> EffectKind:
    return "added" if old is None else "removed" if new is None else "changed"


def file_changes(
    start: Evidence, end: Evidence, path: str, noise: Noise = NO_NOISE
) -> tuple[str, tuple[Change, ...]]:
    """Format and changes of a file from start to end, without noise; no changes if it holds no text."""
    before, after = (None if file is None else file.text for file in (start.file(path), end.file(path)))
    name, changes = _changes(path, before, after)
    if noise.concerns(path):
        changes = tuple(item for item in changes if not noise.covers("file", path, item.address, item.kind))
    return name, changes


@lru_cache(maxsize=256)
def _changes(path: str, before: str | None, after: str | None) -> tuple[str, tuple[Change, ...]]:
    if before is None and after is None:
        return "", ()
    name, tree = read(path, after if after is not None else before or "")
    if after is None:
        return name, ()
    if before is None:
        return name, compare(NOTHING, tree)
    old_name, old = read(path, before)
    if old_name == name == DATABASE:
        return name, database.without_shifts(old, tree, compare(old, tree))
    if old_name != name:
        name = FALLBACK
        old, tree = (all_formats()[name].parse(text) for text in (before, after))
    return name, compare(old, tree)


def _touched(start: Evidence, end: Evidence, parameters: Mapping[str, str], noise: Noise) -> TouchedRecords:
    new = end.files_by_path()
    changes = (
        (read(file.path, file.text)[1], change)
        for file in start.files
        if file.text is not None and file.path in new and not _same_file(file, new[file.path])
        for change in file_changes(start, end, file.path, noise)[1]
    )
    return TouchedRecords(changes, parameters)


def can_be_followed(
    start: Evidence, end: Evidence, parameters: Mapping[str, str], path: str, within: tuple[str, ...]
) -> bool:
    """Whether, at the start, the group `within` of a file had a record that refers to one that a parameter
    names and the work changed or removed."""
    tree = tree_at(start, path)
    group = None if tree is None else tree.at(within)
    if group is None:
        return False
    return _touched(start, end, parameters, noise_between(start, end)).has_followers(group)


def record_folders(found: Iterable[Effect]) -> list[Effect]:
    """Effects on folders of applications with generated names: such a folder is one record, which is added or
    removed together with its content."""
    folders = (item for item in found if item.area == "directory")
    of_applications = (item for item in folders if item.container.startswith(f"{APPLICATIONS_FOLDER}/"))
    return [item for item in of_applications if steady_path(item.container).endswith(f"/{ANY}")]


def lies_in(effect: Effect, folders: Iterable[Effect]) -> bool:
    """Whether an effect is part of the addition or removal of one of these folders."""
    containers = (folder.container for folder in folders if folder.kind == effect.kind)
    return any(effect.container.startswith(f"{container}/") for container in containers)


def is_holder(effect: Effect, among: Iterable[Effect]) -> bool:
    """Whether an effect is the addition or removal of a folder together with its content."""
    return effect.area == "directory" and any(lies_in(other, [effect]) for other in among)


def holder_of(effect: Effect) -> tuple[str, ...]:
    """The file or folder of an effect; in a database also the table."""
    return (effect.container, *(effect.address[:1] if effect.format == DATABASE else ()))


def _general_address(change: Change, parameters: Mapping[str, str], *, known: bool) -> tuple[str, ...]:
    """The address in terms of the parameters. Positions, ids of added and removed records, and numeric keys
    become `*`: another row of the table is the same work with other parameters. So do ids of changed records
    that a parameter identifies (`known`), and numbers of one or two digits: a weight of 2 may equal the row
    number 2 by chance. The parts of a composite key are treated one by one.
    """
    free = change.kind != "changed" or known
    segments = []
    for segment, naming in zip(change.address, change.namings, strict=True):
        template = templated(segment, parameters)
        if naming == "record":
            template = _general_key(template, parameters, free=free)
        segments.append(ANY if naming == "position" else template)
    return tuple(segments)


def _general_key(template: str, parameters: Mapping[str, str], *, free: bool) -> str:
    """The name of a record in terms of the parameters; `*` for the parts that vary on their own.

    >>> _general_key("{team}, 3", {"team": "North"}, free=False), _general_key("3", {}, free=False)
    ('{team}, *', '*')
    >>> _general_key("note, 3", {}, free=False), _general_key("note, 3", {}, free=True)
    ('note, *', '*')
    """
    parts, any_named = [], False
    for part in template.split(", "):
        value = filled(part, parameters)
        is_named = part != templated(value, {}) and _SHORT_NUMBERS.fullmatch(value) is None
        varies = _NUMBER.fullmatch(value) is not None or (free and is_generated(value))
        parts.append(ANY if varies and not is_named else part)
        any_named = any_named or is_named
    return ANY if (free and not any_named) or set(parts) == {ANY} else ", ".join(parts)


class _Builder:
    def __init__(
        self, start: Evidence, end: Evidence, parameters: Mapping[str, str], held: Collection[str] | None
    ) -> None:
        self._start, self._end = start, end
        self._held_values = HeldValues(start, end, parameters, held)
        self._parameters = parameters
        self._long_values = {value for value in parameters.values() if len(value) >= _SHORTEST_SOURCE}
        self._references = (References(start, parameters), References(end, parameters))
        self._noise = noise_between(start, end)
        self._touched = _touched(start, end, parameters, self._noise)

    def file(self, path: str, old: FileState | None, new: FileState | None) -> Iterator[Effect]:
        name, changes = file_changes(self._start, self._end, path, self._noise)
        text_differs = name == DATABASE and old is not None and new is not None and old.text != new.text
        if old is None or new is None or not (changes or text_differs) or _content_type_differs(old, new):
            whole = Change((), (), _change_kind(old, new), _content_node(old), _content_node(new))
            yield self.effect("file", path, whole, name, content=None if new is None else new.content)
        sources = sources_of_records(self._start, path, changes)
        tree = tree_at(self._start, path) if changes else None
        for change in changes:
            follows = tree is not None and self._touched.is_followed(tree, change)
            # or a parameter names the record around it, such as the tab with that label
            siblings = change.parents[0].children if change.parents is not None else ()
            known = follows or any(child.value in self._long_values for child in siblings)
            source = sources.get(change.address[:-1], "") if change.kind == "added" else ""
            yield self.effect("file", path, change, name, known=known, follows=follows, records_of=source)

    def directories(self) -> Iterator[Effect]:
        for path in sorted({*self._start.directories} ^ {*self._end.directories}):
            kind: EffectKind = "added" if path in self._end.directories else "removed"
            if not self._noise.covers("directory", path, (), kind):
                yield self.effect("directory", path, Change((), (), kind, None, None))

    def slots(self, *, screen: bool) -> Iterator[Effect]:
        old, new = (_slots(state, screen=screen) for state in (self._start, self._end))
        for area, where in dict.fromkeys((*old, *new)):
            before, after = old.get((area, where)), new.get((area, where))
            kind = _change_kind(before, after)
            if before != after and not self._noise.covers(area, "", where, kind):
                change = Change(where, (_FIELD,) * len(where), kind, _text_node(before), _text_node(after))
                yield self.effect(area, "", change)

    def effect(
        self,
        area: Area,
        container: str,
        change: Change,
        name: str = "",
        *,
        known: bool = False,
        follows: bool = False,
        records_of: str = "",
        content: str | None = None,
    ) -> Effect:
        parameters, address, kind = self._parameters, change.address, change.kind
        before, after = (None if node is None else node.content() for node in (change.before, change.after))
        shown = [None if text is None else cut_text(text, LONGEST_VALUE) for text in (before, after)]
        templates = [None if text is None else templated(text, parameters) for text in shown]
        value = before if kind == "removed" else after
        source = source_of_text(self._start, container, after)
        own_names = {*address[-2:-1], *container.split("/"), PurePosixPath(container).stem}
        may_refer = area == "file" and bool(address) and value not in own_names
        return Effect(
            area=area,
            container=container,
            format=name,
            content=content,
            address=address,
            kind=kind,
            before=shown[0],
            after=shown[1],
            container_template=templated_path(steady_path(container), parameters),
            address_template=_general_address(change, parameters, known=known),
            before_template=templates[0],
            after_template=templates[1],
            source=source,
            source_template=templated(source, parameters),
            refers_template=self._references[kind != "removed"].templates_of(value) if may_refer else "",
            follows=follows,
            records_of=templated(records_of, parameters),
            holds=self._held_values.names_in(container, change.around),
        )


def _text_node(text: str | None) -> Node | None:
    return None if text is None else Node("", "field", (0, 0), text)


def _content_node(file: FileState | None) -> Node | None:
    if file is None:
        return None
    return _text_node(file.text if file.text is not None else f"sha256:{file.sha256}")


def _slots(evidence: Evidence, *, screen: bool) -> dict[tuple[Area, tuple[str, ...]], str | None]:
    clipboard = evidence.clipboard
    slots: dict[tuple[Area, tuple[str, ...]], str | None] = {
        ("clipboard", ("text",)): clipboard.text,
        ("clipboard", ("image",)): clipboard.image_sha256,
        ("clipboard", ("file",)): clipboard.file_name,
        ("window", ("application",)): evidence.active_application or None,
        ("window", ("title",)): evidence.window_title or None,
        ("window", ("address",)): evidence.url or None,
    }
    shown = shown_controls(evidence.controls) if screen else {}
    return slots | {("screen", address): state for address, state in shown.items()}


def shown_controls(controls: tuple[Control, ...]) -> dict[tuple[str, ...], str]:
    """The content or state of each control of an application, by its type and text."""
    shown: dict[tuple[str, ...], str] = {}
    for control in controls:
        if control.application == "environment":
            continue
        state = "" if control.checked is None else "on" if control.checked else "off"
        key = (control.control_type, control.text)
        number = 2
        while key in shown:
            key = (control.control_type, f"{control.text} ({number})")
            number += 1
        shown[key] = control.value or state
    return shown


def _same_file(old: FileState | None, new: FileState | None) -> bool:
    if old is None or new is None or _content_type_differs(old, new):
        return False
    is_complete = old.text is not None and not old.truncated and not new.truncated
    return old.text == new.text and (is_complete or old.sha256 == new.sha256)


def _content_type_differs(old: FileState, new: FileState) -> bool:
    return old.content != new.content and None not in (old.content, new.content)
