"""Right outcomes other than the recorded one, which a function must accept (method section 4)."""

import re
from collections.abc import Collection, Iterator, Sequence
from urllib.parse import unquote_plus, urlsplit

from taskloom.evaluators_api.state.comparison import compare
from taskloom.evaluators_api.state.editing import undone, with_text
from taskloom.evaluators_api.state.effects import shown_controls
from taskloom.evaluators_api.state.reading import meaning, read
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.synthesis.examination.other_content import given_otherwise
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import fold_text

_MOST_INCIDENTAL = 6
_WORDS_OF_A_MESSAGE = 3
_LAID_OUT = frozenset({"ledger"})
"""Formats in which a person aligns values with as many spaces as look well."""
_WIDE = re.compile(r"(?<=\S) {2,}(?=\S)")
_MESSAGES = frozenset({"Text", "Heading", "Custom", "Image", "ProgressBar"})
"""Types of controls that only say something; a message can be gone by the time somebody looks."""


def genuine_variants(subject: Subject) -> Iterator[Case]:
    """Every genuine variant of `subject`."""
    for other in subject.others:
        if other.trajectory_id != subject.positive.trajectory_id:
            values = ", ".join(f"{name}={value!r}" for name, value in other.parameters.items())
            told = f"the subtask was done once more in {len(other.steps)} steps ({values or 'no parameters'})"
            start, end = other.initial_evidence, other.final_evidence
            yield subject.case("second_positive", told, end, start, parameters=other.parameters)
    without_inputs = subject.end.model_copy(update={"inputs": ()})
    told = "the same was reached by another way: nothing is known of clicks and typing"
    yield subject.case("without_route", told, without_inputs)
    first_screen = subject.with_first_screen(without_inputs)
    if subject.shown:
        yield from _without_messages(subject)
        yield from _seen_again(subject)
    elif subject.reached(first_screen):
        told = "it is done and stored, and the application is back at its first page"
        yield subject.case("without_messages", told, first_screen)
    yield from given_otherwise(subject)
    yield from _laid_out_otherwise(subject)
    yield from _incidental(subject)


def _without_messages(subject: Subject) -> Iterator[Case]:
    opened = _opened(subject)
    passing = {place for place in _said(subject.incidental) if place[-1] not in opened}
    if passing:
        told = ", ".join(map(repr, sorted(place[-1] for place in passing)[:3]))
        left = {"controls": _without(subject, passing, in_rows=True), "text_under_cursor": ""}
        evidence = subject.end.model_copy(update=left)
        yield subject.case("without_messages", f"messages that come and go are gone: {told}", evidence)


def _said(found: Sequence[Effect]) -> set[tuple[str, ...]]:
    return {
        effect.address
        for effect in found
        if effect.area == "screen" and effect.kind == "added" and effect.address[0] in _MESSAGES
    }


def _without(
    subject: Subject, said: Collection[tuple[str, ...]], *, in_rows: bool = False
) -> tuple[Control, ...]:
    """The controls at the end without those that say this; those in rows stay unless they are meant too."""
    places = iter(shown_controls(subject.end.controls))
    return tuple(
        control
        for control in subject.end.controls
        if control.application == "environment" or next(places) not in said or (control.row and not in_rows)
    )


def _opened(subject: Subject) -> set[str]:
    """Texts of drawings that were opened: each performance shows others, and they are no messages."""
    named = tuple(subject.positive.parameters.values())
    found: set[str] = set()
    for origin in origins(subject.start, subject.end, (), named):
        source = subject.start.file(origin.source) if origin.kind == "opened" else None
        if source is not None:
            held = {fold_text(node.value or "") for _, node in read(source.path, source.text or "")[1].walk()}
            found |= {item.text for item in subject.end.controls if fold_text(item.text) in held}
    return found


def _seen_again(subject: Subject) -> Iterator[Case]:
    """The page after it was loaded anew: what rows, switches or fields tell is still there, what it said once
    is not said again.

    Where there is no more than a message, nothing tells the work from none, and no function can accept this
    and reject that.
    """
    start, said, address = subject.start, _said(subject.shown), urlsplit(subject.end.url)
    # a text that stands in the address as well is a message, which is gone with the next address
    query = fold_text(unquote_plus(address.query))
    texts = (place[-1] for place in said if len(place[-1].split()) >= _WORDS_OF_A_MESSAGE)
    tells = any(fold_text(text) in query for text in texts) or _state_on_screen(subject)
    if urlsplit(start.url).path != address.path or not tells:
        return
    kept = _without(subject, said)
    if start.url != subject.end.url or kept != subject.end.controls:
        again = {"inputs": (), "controls": kept, "window_title": start.window_title, "url": start.url}
        evidence = subject.end.model_copy(update={**again, "text_under_cursor": ""})
        told = "the page was loaded again: what was done is shown, the message about it is not"
        yield subject.case("without_messages", told, evidence)


def _state_on_screen(subject: Subject) -> bool:
    """Whether a row that was there, a switch or a field of the screen is in another state."""
    if any(effect.area == "screen" and effect.kind == "changed" for effect in subject.shown):
        return True
    before, after = (
        {item.row: item.text for item in evidence.controls if item.row and item.text != item.row}
        for evidence in (subject.start, subject.end)
    )
    return any(before.get(row, text) != text for row, text in after.items())


def _laid_out_otherwise(subject: Subject) -> Iterator[Case]:
    for effect in subject.asked:
        file = subject.end.file(effect.container) if effect.area == "file" and not effect.address else None
        if effect.kind != "added" or effect.format not in _LAID_OUT or file is None or not file.text:
            continue
        text = _WIDE.sub(lambda match: match.group() + "    ", file.text)
        same = not compare(meaning(*read(file.path, text)), meaning(*read(file.path, file.text)))
        if text != file.text and same and not effect.source:
            told = f"{effect.container} holds the same data with more space between them"
            yield subject.case("second_positive", told, with_text(subject.end, effect.container, text))


def _incidental(subject: Subject) -> Iterator[Case]:
    lasting = [effect for effect in subject.incidental if effect.area in ("file", "directory")]
    for effect in lasting[:_MOST_INCIDENTAL]:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None and subject.reached(evidence):
            told = f"this did not happen, and need not: {effect.describe()}"
            yield subject.case("incidental_change", told, evidence)
