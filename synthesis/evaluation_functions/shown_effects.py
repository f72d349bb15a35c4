"""The effects of performances, prepared for the writer of an evaluation function."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from taskloom.evaluators_api.checks.screen import shows_records
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.state.effects import DATABASE
from taskloom.evaluators_api.state.essential import Division
from taskloom.evaluators_api.state.nodes import Node, group
from taskloom.evaluators_api.state.reading import FALLBACK, read, tree_at
from taskloom.evaluators_api.state.records import (
    belonging,
    fields_around,
    is_lines,
    named_fields,
    reference,
    text_of,
)
from taskloom.evaluators_api.text_matching import is_passing, shown_in
from taskloom.prompts.shown_effects import ExtendedText, ShownEffects, TouchedRecord
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory

T = TypeVar("T")
_MOST_RECORDS = 12
_MOST_TEXTS = 60
_LONGEST_TEXT = 400
_SHORTEST_TEXT = 2
_LONGEST_CLIPBOARD = 4_000
_NESTED_DEPTH = 3
_EMPTY_NODE = group("", "field", (0, 0), ())


def shown_effects(trajectory: Trajectory, division: Division) -> ShownEffects:
    """What a performance changed."""
    start, end = trajectory.initial_evidence, trajectory.final_evidence
    essential = [item for item in division.essential if item.area != "screen"]
    containers = list(dict.fromkeys(item.container for item in essential if item.area == "file"))
    essential_places = {(item.container, "/".join(item.address)) for item in essential}
    parameter_values = tuple(trajectory.parameters.values())
    records: dict[object, TouchedRecord] = {}
    for effect in (item for item in essential if item.area == "file"):
        for record in _records(start, end, effect, parameter_values):
            key = (record.file_path, record.within, record.kind, tuple(record.fields.items()))
            known = records.get(key, record).changed_fields
            changed_fields = tuple(dict.fromkeys((*known, *record.changed_fields)))
            records[key] = record.model_copy(update={"changed_fields": changed_fields})
    return ShownEffects(
        essential=tuple(essential),
        appeared=(appeared := _shown_only_in(end, start)),
        labels=tuple(text for text in appeared if any(text == item.text.strip() for item in end.controls)),
        shown_times={text: times for text in appeared if (times := view(end).times_shown(text))},
        canvases=tuple(text for text in view(end).canvases if text not in view(start).canvases),
        vanished=_shown_only_in(start, end),
        contents=_changed_controls(start, end, _content),
        switches=_changed_controls(start, end, lambda control: control.checked),
        records=tuple(records.values())[:_MOST_RECORDS],
        origins=tuple(
            item
            for item in origins(start, end, containers, parameter_values)
            if not item.target_at or item.kind != "field" or (item.target, item.target_at) in essential_places
        ),
        extended=tuple(_extended_texts(start, end, containers)),
        rows=_changed_rows(start, end),
        shown_parts=tuple(_shown_tables(start, end)),
        clipboard_before=(start.clipboard.text or "")[:_LONGEST_CLIPBOARD],
    )


def _shown_only_in(evidence: Evidence, other: Evidence) -> tuple[str, ...]:
    other_texts = view(other).shown
    found = (text for text in _own_texts(evidence) if not any(shown_in(text, shown) for shown in other_texts))
    return tuple(dict.fromkeys(found))[:_MOST_TEXTS]


def _own_texts(evidence: Evidence) -> Iterator[str]:
    for control in evidence.controls:
        if control.application != "environment":
            for text in (control.text, control.value):
                if _SHORTEST_TEXT <= len(text.strip()) <= _LONGEST_TEXT and any(map(str.isalnum, text)):
                    yield text.strip()


def _changed_controls(start: Evidence, end: Evidence, getter: Callable[[Control], T | None]) -> dict[str, T]:
    before = {(control.text, getter(control)) for control in start.controls}
    current = ((control.text, getter(control)) for control in end.controls if control.text)
    return {name: value for name, value in current if value is not None and (name, value) not in before}


def _content(control: Control) -> str | None:
    if control.application == "environment" or not 0 < len(control.value) <= _LONGEST_TEXT:
        return None
    return control.value


def _changed_rows(start: Evidence, end: Evidence) -> dict[str, tuple[str, ...]]:
    """What existing rows show now and did not show before, without times and numbers."""
    before, after = (
        {
            name: [text for text in texts if len(text) <= _LONGEST_TEXT and not is_passing(text)]
            for name, texts in view(evidence).rows.items()
        }
        for evidence in (start, end)
    )
    found = {
        name: tuple(text for text in texts if text not in before[name])
        for name, texts in after.items()
        if before.get(name)
    }
    return {name: texts for name, texts in found.items() if texts}


def _shown_tables(start: Evidence, end: Evidence) -> Iterator[tuple[str, str]]:
    """Tables of applications' own data whose records are all on the screen now and were not at the start."""
    if not view(end).rows:
        return
    for path in (item for item in end.files_by_path() if item.startswith(".applications/")):
        tree = view(end).tree(path)
        for part in tree.children if tree is not None else ():
            if shows_records(view(end), path, part.name) and not shows_records(view(start), path, part.name):
                yield path, part.name


def _extended_texts(start: Evidence, end: Evidence, containers: Sequence[str]) -> Iterator[ExtendedText]:
    files_before, files_after = start.files_by_path(), end.files_by_path()
    for path in containers:
        before, after = files_before.get(path), files_after.get(path)
        if before is None and after is not None and after.text:
            for source in start.files:
                for item in _appended(path, "", source.text or "", after.text):
                    yield item.model_copy(update={"source": source.path})
        if before is None or after is None or not before.text or after.text is None:
            continue
        form, tree = read(path, after.text)
        if form == FALLBACK:
            yield from _appended(path, "", before.text, after.text)
        elif form != DATABASE:
            tree_before = read(path, before.text)[1]
            for address, node in tree.walk():
                old = tree_before.at(address) if address else None
                if old is not None and all(item.value is not None or is_lines(item) for item in (old, node)):
                    yield from _appended(path, "/".join(address), text_of(old), text_of(node))


def _appended(path: str, field: str, before: str, after: str) -> Iterator[ExtendedText]:
    old, new = ([line.strip() for line in text.splitlines() if line.strip()] for text in (before, after))
    if old and len(new) > len(old) and new[: len(old)] == old:
        yield ExtendedText(file_path=path, field=field, text="\n".join(new[len(old) :]))


def _records(start: Evidence, end: Evidence, effect: Effect, known: Sequence[str]) -> Iterator[TouchedRecord]:
    tree = tree_at(start if effect.kind == "removed" else end, effect.container)
    former = tree_at(start, effect.container) or _EMPTY_NODE
    if tree is None or effect.format == FALLBACK:
        return
    node, address = tree.at(effect.address), effect.address
    fields, changed = {} if node is None else named_fields(node), address[-1:]
    if effect.kind == "changed":
        place, fields = fields_around(tree, address)
        changed = address[len(place) :][:1]
    elif node is not None and node.value is not None and effect.kind == "added" and len(address) == 1:
        fields = named_fields(tree)
        changed = changed if start.file(effect.container) is not None else ()
    else:
        changed = ()
        fields = (_fields_around(tree, address) if effect.kind == "added" else {}) or fields
    if fields:
        yield TouchedRecord(
            file_path=effect.container,
            within=address[0] if effect.format == DATABASE and len(address) > 1 else "",
            kind="changed" if changed else effect.kind,
            fields=fields,
            changed_fields=changed,
            references={
                name: where
                for name, value in fields.items()
                if value.isdigit() and (where := reference(former, value, known)) is not None
            },
            grown=_versions(former, effect.container, fields, known) if effect.kind == "added" else {},
        )


def _versions(
    former: Node, path: str, fields: dict[str, str], known: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """Fields of a new record that extend those of an older one of the same name, as page versions do."""
    return {
        name: (known_by, value, item.text)
        for known_by, value in fields.items()
        if value in known
        for older in belonging(former, {known_by: value})[:1]
        for name, text in fields.items()
        if name != known_by and (old_field := older.at((name,))) is not None
        for item in _appended(path, name, text_of(old_field), text)
    }


def _fields_around(tree: Node, address: tuple[str, ...]) -> dict[str, str]:
    """Fields of the record whose list contains an added record, such as the transaction of a posting."""
    outer, inner = tree.at(address[:-2]), tree.at(address)
    if len(address) < _NESTED_DEPTH or not address[-1].isdigit() or outer is None or not named_fields(outer):
        return {}
    own = {} if inner is None else named_fields(inner)
    return named_fields(outer) | {f"{address[-2]}/*/{name}": value for name, value in own.items()}
