"""Right work on other content: what was copied, exported or renamed held something else at the start, and so
does what was made of it.

A function that asks for the words that a file happened to hold refuses this; one that asks where they came
from accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from taskloom.evaluators_api.state.editing import change_of, spliced, undone, with_text
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import all_formats, finished, read
from taskloom.evaluators_api.state.records import outermost_records
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.prompts.shown_effects import Origin
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.synthesis.examination.altering import altered
from taskloom.synthesis.examination.cases import Case
from taskloom.synthesis.examination.given_content import CLIPBOARD, altered_file
from taskloom.synthesis.examination.subject import Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState

_States = tuple[Evidence, Evidence]
_MOST = 8
_FEWEST = 2
_SHORTEST_NAMED = 3
_SHORTEST_SHOWN = 4


def given_otherwise(subject: Subject) -> Iterator[Case]:
    """For each value and each file that right work took over: the same work where it was another one from the
    start."""
    containers = list(dict.fromkeys(effect.container for effect in subject.asked if effect.area == "file"))
    seen: set[tuple[str, str]] = set()
    for origin in origins(subject.start, subject.end, containers):
        place = (origin.source, origin.source_at)
        states = _otherwise(subject, origin) if place not in seen and len(seen) < _MOST else None
        if states is not None:
            seen.add(place)
            yield Case(
                "second_positive",
                f"the same was done when {': '.join(filter(None, place))} held something else",
                subject.positive.parameters,
                states[1],
                states[0],
            )


def _otherwise(subject: Subject, origin: Origin) -> _States | None:
    source = subject.start.file(origin.source)
    if source is None or not source.text or source.truncated:
        return None
    if origin.kind == "field":
        return _other_field(subject, origin, source)
    if origin.kind == "whole" and not _named_in(subject, source.text):
        text = altered_file(source)
        return None if text is None else _with_copy(subject, origin, source, text)
    return _one_less(subject, source) if origin.kind == "records" else None


def _other_field(subject: Subject, origin: Origin, source: FileState) -> _States | None:
    node = _leaf(read(source.path, source.text or "")[1], origin.source_at)
    value = "" if node is None else node.value or ""
    if not value.strip() or _named_in(subject, value) or has_phrase(value, subject.positive.instruction):
        return None
    other = altered(value)
    text = _rewritten(source, origin.source_at, other)
    if text is None:
        return None
    start, end = subject.start, subject.end
    if origin.target == CLIPBOARD:
        held = end.clipboard.model_copy(update={"text": other})
        made: Evidence | None = end.model_copy(update={"clipboard": held})
    else:
        target = end.file(origin.target)
        written = None if target is None else _rewritten(target, origin.target_at, other)
        made = None if written is None else with_text(end, origin.target, written)
    if made is None:
        return None
    start, made = _in_the_clipboard_too((start, made), value, other, unless=origin.target)
    start, made = _shown_too(start, value, other), _shown_too(made, value, other)
    return with_text(start, source.path, text), _kept_up(made, source, text)


def _one_less(subject: Subject, source: FileState) -> _States | None:
    """The source had one record less, and so have the files that it was taken over into: how many there are
    is no part of the work."""
    text = source.text or ""
    form, tree = read(source.path, text)
    records = [node for node in outermost_records(tree) if node.extent is not None]
    if len(records) < _FEWEST or _named_in(subject, records[-1].content()):
        return None
    gone, end = records[-1], subject.end
    for path in dict.fromkeys(item.container for item in subject.asked if item.area == "file"):
        copies = (
            item
            for item in subject.asked
            if item.container == path and item.kind == "added" and _is_copy(subject, item, gone)
        )
        copy = next(copies, None)
        end = (undone(subject.start, end, copy) if copy is not None else None) or end
    if end is subject.end or gone.extent is None:
        return None
    rest = finished(form, text, spliced(text, (gone.extent, "")))
    return with_text(subject.start, source.path, rest), _kept_up(end, source, rest)


def _is_copy(subject: Subject, effect: Effect, record: Node) -> bool:
    """Whether it added a record with all values of `record`."""
    change = change_of(subject.start, subject.end, effect) if effect.address else None
    made = change.after if change is not None else None
    values = {node.value for _, node in record.walk()}
    return made is not None and bool(made.children) and values <= {node.value for _, node in made.walk()}


def _with_copy(subject: Subject, origin: Origin, source: FileState, text: str) -> _States | None:
    end = subject.end
    if origin.target == CLIPBOARD:
        end = end.model_copy(update={"clipboard": end.clipboard.model_copy(update={"text": text})})
    else:
        target = end.file(origin.target)
        if target is None or target.text != source.text:
            return None
        end = with_text(end, origin.target, text)
    start, end = _in_the_clipboard_too((subject.start, end), source.text or "", text, unless=origin.target)
    return with_text(start, source.path, text), _kept_up(end, source, text)


def _in_the_clipboard_too(states: _States, old: str, new: str, *, unless: str) -> _States:
    """The states with `new` in the clipboard as well, where it held `old` at the start: what is pasted may
    come from there."""
    start, end = states
    held = start.clipboard
    if (held.text or "").strip() != old.strip():
        return states
    other = held.model_copy(update={"text": new})
    if end.clipboard == held and unless != CLIPBOARD:
        end = end.model_copy(update={"clipboard": other})
    return start.model_copy(update={"clipboard": other}), end


def _shown_too(state: Evidence, old: str, new: str) -> Evidence:
    """The state with `new` on the screen where it showed `old`: what was open showed what it held."""
    if len(old.strip()) < _SHORTEST_SHOWN:
        return state
    whole = re.compile(rf"(?<!\w){re.escape(old.strip())}(?!\w)")

    def said(text: str) -> str:
        return whole.sub(lambda _: new, text)

    controls = tuple(
        control.model_copy(update={"text": said(control.text), "value": said(control.value)})
        if whole.search(control.text) or whole.search(control.value)
        else control
        for control in state.controls
    )
    return state.model_copy(update={"controls": controls})


def _kept_up(end: Evidence, source: FileState, text: str) -> Evidence:
    """`end` with the other content of the source as well, where it is still there as it was."""
    now = end.file(source.path)
    return with_text(end, source.path, text) if now is not None and now.text == source.text else end


def _rewritten(file: FileState, place: str, value: str) -> str | None:
    name, tree = read(file.path, file.text or "")
    node = _leaf(tree, place)
    if node is None or file.text is None:
        return None
    written = all_formats()[name].encode(value, node, file.text)
    return None if written is None else file.text[: node.raw[0]] + written + file.text[node.raw[1] :]


def _leaf(tree: Node, place: str) -> Node | None:
    """The value at `place`; of a text of one line, the line."""
    node = tree.at(tuple(place.split("/")))
    if node is not None and node.value is None and len(node.children) == 1:
        node = node.children[0]
    return None if node is None or node.value is None else node


def _named_in(subject: Subject, text: str) -> bool:
    """Whether a parameter stands in `text`, so that it cannot be something else."""
    values = subject.positive.parameters.values()
    return any(len(value) >= _SHORTEST_NAMED and value in text for value in values)
