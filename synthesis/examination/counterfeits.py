"""Wrong outcomes made from the effects of right work (method section 4).

Each is the state at the end of the recording with one thing about it wrong: an essential change missing, with
another value or somewhere else, or something beside it lost. Every essential change is treated by itself, so
that none can be overlooked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from taskloom.evaluators_api.state.editing import Edited, moved, replaced, undone, with_text
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.further_editing import (
    put_before,
    put_first,
)
from taskloom.evaluators_api.state.mixing import exchanged, halved
from taskloom.evaluators_api.state.records import same_value
from taskloom.evaluators_api.state.removing import only_emptied, removed_elsewhere
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.synthesis.examination.altering import altered
from taskloom.synthesis.examination.cases import Case
from taskloom.synthesis.examination.given_content import other_content_given
from taskloom.synthesis.examination.harm_beside import harm_beside
from taskloom.synthesis.examination.subject import Subject, is_leaf, is_outermost
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evaluation_function import CaseFamily
from taskloom.taskgraph.records.evidence import Evidence

MOST_PER_FAMILY = 120
"""Counterfeits of one family; of more changes than that, evenly many are left out."""
_SHORTEST_CUT = 4
_SHOWN = 60
_LEAD = 12
"""Characters shown before the place where two values differ."""
_DRAWING = "drawing"
_LEDGER = "ledger"
_ONE_PARAMETER = re.compile(r"\{\w+\}")
_SHOWN_FORMAT = "markup"
"""Formats in which what is shown counts, and not how many spaces stand in the text."""
_SHAPES = re.compile(
    r"\b(?:(rectangle|ellipse|circle|diamond|triangle|hexagon|cylinder)|(note|card|callout|cube|cloud)"
    r" shape)\b",
    re.IGNORECASE,
)
_LAYOUTS = re.compile(r"\b(?:compact|formatted|indented|on (?:a single|one) line)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(:\s*)(-?\d+(?:\.\d+)?)(?=\s*[,}\]])")
_AT_END = re.compile(r"\b(end|bottom|below|append|appended|last)\b", re.IGNORECASE)


def counterfeits(subject: Subject, values: Mapping[tuple[str, ...], Sequence[str]]) -> Iterator[Case]:
    """Every counterfeit of `subject`; `values` are those that other performances have at the same
    addresses."""
    yield from _spread(tuple(_undone(subject)))
    yield from _spread(tuple(_wrong_values(subject, values)))
    yield from _spread(tuple(_shown_otherwise(subject)))
    yield from _spread(tuple(_wrong_places(subject)))
    yield from _spread(tuple(_wrong_removals(subject)))
    yield from _spread(tuple(_mixed(subject)))
    yield from _other_shape(subject)
    yield from _other_layout(subject)
    yield from _other_type(subject)
    yield from other_content_given(subject)
    yield from harm_beside(subject)
    yield from _untouched(subject)


def _undone(subject: Subject) -> Iterator[Case]:
    for effect in subject.guarded:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None and not subject.reached(evidence):
            yield _case(subject, "undone_change", effect, f"this is missing: {effect.describe()}", evidence)
    if subject.shown:
        evidence = subject.end.model_copy(
            update={
                "controls": subject.start.controls,
                "window_title": subject.start.window_title,
                "url": subject.start.url,
                "text_under_cursor": subject.start.text_under_cursor,
            }
        )
        if not subject.reached(evidence):
            yield Case(
                "undone_change",
                "the screen still shows what it showed at the start",
                subject.positive.parameters,
                evidence,
                subject.start,
                change="what the screen shows",
            )


def _wrong_values(subject: Subject, values: Mapping[tuple[str, ...], Sequence[str]]) -> Iterator[Case]:
    for effect in subject.guarded:
        if effect.area == "file" and effect.kind == "removed" and not effect.address and effect.before:
            other = with_text(subject.end, effect.container, altered(effect.before))
            text = f"{effect.container} was changed, and is still there"
            yield _case(subject, "wrong_value", effect, text, other)
        whole = effect.area == "file" and effect.kind == "added" and not effect.address
        if effect.after is None or not (whole or is_leaf(effect, subject.essential)):
            continue
        for value, words in _others(effect, values.get(effect.key, ())):
            evidence = replaced(subject.start, subject.end, effect, value)
            if (
                evidence is None
                or (effect.address and same_value(value, effect.after))
                or subject.reached(evidence)
                or (whole and _says_the_same(subject, effect, evidence))
            ):
                continue
            text = f"{_where(effect)} {words} instead of {_shown(effect.after, beside=value)}"
            yield _case(subject, "wrong_value", effect, text, evidence)


def _shown_otherwise(subject: Subject) -> Iterator[Case]:
    """What a parameter says and only the screen shows, in the other case: it was typed so."""
    for effect in subject.shown:
        text = effect.address[-1] if effect.address else ""
        other = text.swapcase()
        elsewhere = f"{subject.end.window_title or ''} {subject.end.url or ''}".casefold()
        if (
            effect.area != "screen"
            or effect.kind != "added"
            or _ONE_PARAMETER.fullmatch(effect.address_template[-1]) is None
            or text == other
            or text.casefold() in elsewhere
            or not any(control.text.strip() == text for control in subject.end.controls)
        ):
            continue
        controls = tuple(
            control.model_copy(
                update={
                    "text": control.text.replace(text, other),
                    "value": control.value.replace(text, other),
                }
            )
            for control in subject.end.controls
        )
        evidence = subject.end.model_copy(update={"controls": controls})
        said = f"the screen shows {_shown(other, beside=text)} instead of {_shown(text, beside=other)}"
        yield Case(
            "wrong_value",
            said,
            subject.positive.parameters,
            evidence,
            subject.start,
            change=effect.describe(),
        )


def _says_the_same(subject: Subject, effect: Effect, evidence: Evidence) -> bool:
    """Whether a file differs only in what its format does not count, such as the time at which a drawing was
    saved."""
    name, changes = file_changes(subject.end.file(effect.container), evidence.file(effect.container))
    return name == "drawing" and not changes


def _others(effect: Effect, elsewhere: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Wrong values, each with a description in plain words."""
    right = effect.after or ""
    plausible = next((value for value in elsewhere if value not in (right, "")), "") or altered(right)
    yield plausible, f"is {_shown(plausible, beside=right)}"
    if right.strip():
        yield "", "is empty"
    if _was_typed(effect):
        yield right.swapcase(), "is written with capital letters for small ones"
        if effect.format != _DRAWING:
            yield f" {right}", "has a space before it"
    if len(right) >= _SHORTEST_CUT:
        yield right[: len(right) // 2], f"ends after {_ending(right[: len(right) // 2])}"
    words = right.split()
    if effect.area == "clipboard" and len(words) > 1:
        longest = max(words, key=len)
        yield longest, f"is only the word {longest!r}"
    if effect.before and effect.before != right:
        yield f"{right} {effect.before}", "holds the old value as well"


def _was_typed(effect: Effect) -> bool:
    """Whether it is a value of a record that a parameter gives, with letters in it."""
    return (
        effect.area == "file"
        and bool(effect.address)
        and effect.format != _SHOWN_FORMAT
        and _ONE_PARAMETER.fullmatch(effect.after_template or "") is not None
        and (effect.after or "").swapcase() != effect.after
    )


def _wrong_places(subject: Subject) -> Iterator[Case]:
    at_end = _AT_END.search(subject.positive.instruction) is not None
    for effect in subject.guarded:
        entry = at_end and effect.format == _LEDGER and is_outermost(effect, subject.essential)
        if effect.address and not entry and not is_leaf(effect, subject.essential):
            continue
        if not effect.address and "*" in steady_path(effect.container):
            continue  # a name that the application makes up is no place
        for edited in list(moved(subject.start, subject.end, effect))[:2]:
            if not subject.reached(edited.evidence):
                yield _case(subject, "wrong_place", effect, edited.description, edited.evidence)
        if effect.kind == "added" and at_end:
            for edited in (
                *put_first(subject.start, subject.end, effect),
                *put_before(subject.start, subject.end, effect),
            ):
                yield _case(subject, "wrong_place", effect, edited.description, edited.evidence)


def _other_shape(subject: Subject) -> Iterator[Case]:
    """Another shape than the one asked for was drawn on a canvas of which only the texts can be seen."""
    asked = subject.positive.instruction
    for value in subject.positive.parameters.values():
        asked = asked.replace(value, "")
    drawn = any(effect.format == _DRAWING for effect in subject.essential)
    words = () if drawn else (one or two for one, two in _SHAPES.findall(asked))
    for word in words:
        if not any(word.casefold() in " ".join(effect.address).casefold() for effect in subject.shown):
            text = f"something else than the {word} was drawn, and what the screen says is the same"
            evidence = subject.end.model_copy(update={"inputs": ()})
            yield Case("wrong_value", text, subject.positive.parameters, evidence, subject.start)


def _other_layout(subject: Subject) -> Iterator[Case]:
    """The right data in the wrong layout, where the instruction asks for a certain one."""
    for effect in subject.guarded if _LAYOUTS.search(subject.positive.instruction) else ():
        file = subject.end.file(effect.container) if effect.area == "file" else None
        text = subject.end.clipboard.text if effect.area == "clipboard" else file and file.text
        other = _laid_out(text or "") if effect.address in ((), ("text",)) else None
        evidence = None if other is None else replaced(subject.start, subject.end, effect, other)
        if evidence is not None:
            told = f"{_where(effect)} holds the right data, but with other line breaks and indentation"
            yield _case(subject, "wrong_value", effect, told, evidence)


def _laid_out(text: str) -> str | None:
    """JSON with line breaks where it has none, and without where it has some."""
    try:
        data: object = json.loads(text)
    except ValueError:
        return None
    return json.dumps(data, ensure_ascii=False, indent=None if "\n" in text.strip() else 4)


def _other_type(subject: Subject) -> Iterator[Case]:
    """A number in quotation marks, in JSON that the parameters give as a whole."""
    for effect in subject.guarded:
        if (
            effect.format == "json_tree"
            and not effect.address
            and _ONE_PARAMETER.fullmatch((effect.after_template or "").strip()) is not None
        ):
            other = _NUMBER.sub(r'\1"\2"', effect.after or "", count=1)
            evidence = replaced(subject.start, subject.end, effect, other)
            if other != effect.after and evidence is not None:
                told = f"{_where(effect)} has a number in quotation marks"
                yield _case(subject, "wrong_value", effect, told, evidence)


def _mixed(subject: Subject) -> Iterator[Case]:
    """All values are there, but not together: two are exchanged, or a record is there in two halves."""
    mixed: tuple[tuple[CaseFamily, Iterator[Edited]], ...] = (
        ("swapped_values", exchanged(subject.start, subject.end, subject.guarded)),
        ("half_records", halved(subject.start, subject.end, subject.guarded, altered)),
    )
    for family, found in mixed:
        for edited in found:
            if not subject.reached(edited.evidence):
                parameters = subject.positive.parameters
                yield Case(family, edited.description, parameters, edited.evidence, subject.start)


def _wrong_removals(subject: Subject) -> Iterator[Case]:
    """Something else of the same kind is gone, and what should be is still there; or it is only empty."""
    removed = [effect for effect in subject.essential if effect.area == "file" and effect.kind == "removed"]
    for effect in removed:
        if not is_outermost(effect, removed):
            continue
        for edited in removed_elsewhere(subject.start, subject.end, effect):
            if not subject.reached(edited.evidence):
                yield _case(subject, "wrong_place", effect, edited.description, edited.evidence)
        for edited in only_emptied(subject.start, subject.end, effect):
            yield _case(subject, "undone_change", effect, edited.description, edited.evidence)


def _untouched(subject: Subject) -> Iterator[Case]:
    """The result was there before the first step: nobody did anything."""
    if not any(effect.area in ("file", "directory") for effect in subject.essential):
        return
    start = subject.end.model_copy(update={"inputs": (), "step": 0})
    yield Case(
        "untouched_product",
        "nothing was done: what the end shows had been there at the start",
        subject.positive.parameters,
        start,
        start,
    )


def _case(subject: Subject, family: CaseFamily, effect: Effect, description: str, evidence: Evidence) -> Case:
    return Case(
        family, description, subject.positive.parameters, evidence, subject.start, change=effect.describe()
    )


def _spread(cases: Sequence[Case]) -> Iterator[Case]:
    """At most `MOST_PER_FAMILY` of `cases`, evenly spread."""
    step = max(1, -(-len(cases) // MOST_PER_FAMILY))
    yield from cases[::step]


def _where(effect: Effect) -> str:
    return ": ".join(part for part in (effect.container or effect.area, " / ".join(effect.address)) if part)


def _shown(value: str, *, beside: str = "") -> str:
    """A value as far as a line has room; of two long ones that begin alike, from where they differ.

    >>> _shown("a" * 80 + "right", beside="a" * 80 + "wrong")
    "'…aaaaaaaaaaaaright'"
    """
    pairs = enumerate(zip(value, beside, strict=False))
    alike = next((place for place, (one, other) in pairs if one != other), min(len(value), len(beside)))
    if beside and max(len(value), len(beside)) > _SHOWN and alike > _LEAD and value != beside:
        value = f"…{value[alike - _LEAD :]}"
    return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…")


def _ending(value: str) -> str:
    """The end of a value that was cut."""
    return repr(value if len(value) <= _SHOWN else f"…{value[-_SHOWN:]}")
