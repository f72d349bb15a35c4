"""Outcomes made from those of right work (method section 4): wrong ones, each with one thing wrong, and right
ones that a function must accept. What is wrong only because of damage beside the work, the account of side
effects notices."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from urllib.parse import unquote_plus, urlsplit

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.comparison import compare
from taskloom.evaluators_api.state.editing import Edited, replaced, undone, with_text
from taskloom.evaluators_api.state.effects import file_changes, shown_controls
from taskloom.evaluators_api.state.operators import (
    altered,
    exchanged,
    halved,
    moved,
    put_first,
    removed_otherwise,
)
from taskloom.evaluators_api.state.reading import meaning, read
from taskloom.evaluators_api.state.records import same_value
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.synthesis.examination.other_content import given_otherwise, other_content_given
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evaluation_function import CaseFamily
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import fold_text

MOST_PER_FAMILY = 120
"""Counterfeits of one family; of more changes than that, evenly many are left out."""
_SHORTEST_CUT = 4
_SHOWN = 60
_LEAD = 12
"""Characters shown before the place where two values differ."""
_DRAWING = "drawing"
_ONE_PARAMETER = re.compile(r"\{\w+\}")
_SHOWN_FORMAT = "markup"
"""Formats in which what is shown counts, and not how many spaces stand in the text."""
_MOST_INCIDENTAL = 6
_WORDS_OF_A_MESSAGE = 3
_LAID_OUT = frozenset({"ledger"})
"""Formats in which a person aligns values with as many spaces as look well."""
_WIDE = re.compile(r"(?<=\S) {2,}(?=\S)")
_MESSAGES = frozenset({"Text", "Heading", "Custom", "Image", "ProgressBar"})
"""Types of controls that only say something; a message can be gone by the time somebody looks."""


def counterfeits(subject: Subject) -> Iterator[Case]:
    """Every counterfeit of `subject`; of a family with very many, evenly many."""
    made: tuple[tuple[CaseFamily, Iterator[Edited]], ...] = (
        ("undone_change", _undone(subject)),
        ("wrong_value", _wrong_values(subject)),
        ("wrong_place", _wrong_places(subject)),
        ("swapped_values", exchanged(subject.start, subject.end, subject.asked)),
        ("half_records", halved(subject.start, subject.end, subject.asked)),
    )
    for family, edits in made:
        wrong = [item for item in edits if not subject.reached(item.evidence, item.start)]
        for item in wrong[:: max(1, -(-len(wrong) // MOST_PER_FAMILY))]:
            yield subject.case(family, item.description, item.evidence, item.start)
    yield from other_content_given(subject)
    if any(effect.area in ("file", "directory") for effect in subject.essential):
        start = subject.end.model_copy(update={"inputs": (), "step": 0})
        told = "nothing was done: what the end shows had been there at the start"
        yield subject.case("untouched_product", told, start, start)


def _undone(subject: Subject) -> Iterator[Edited]:
    for effect in subject.asked:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None:
            yield Edited(f"this is missing: {effect.describe()}", evidence)
    if subject.shown:
        told = "the screen still shows what it showed at the start"
        yield Edited(told, subject.with_first_screen(subject.end))


def _wrong_values(subject: Subject) -> Iterator[Edited]:
    for effect in subject.asked:
        if effect.area == "file" and effect.kind == "removed" and not effect.address and effect.before:
            other = with_text(subject.end, effect.container, altered(effect.before))
            yield Edited(f"{effect.container} was changed, and is still there", other)
        whole = effect.area == "file" and effect.kind == "added" and not effect.address
        if effect.after is None or (whole and not effect.after) or not (whole or subject.is_leaf(effect)):
            continue  # of files, an empty one says nothing
        file = subject.end.file(effect.container)
        spaced = effect.format != _DRAWING and (file is None or file.content != "pdf")  # they tell no spaces
        for value, words in _others(effect, subject.elsewhere.get(effect.key, ()), spaced=spaced):
            evidence = replaced(subject.start, subject.end, effect, value)
            if evidence is None or (effect.address and same_value(value, effect.after)):
                continue
            name, changes = file_changes(subject.end, evidence, effect.container) if whole else ("", ())
            if name == _DRAWING and not changes:
                continue  # only what its format does not count differs, such as when a drawing was saved
            told = f"{effect.where} {words} instead of {_shown(effect.after, beside=value)}"
            yield Edited(told, evidence)


def _others(effect: Effect, elsewhere: Sequence[str], *, spaced: bool) -> Iterator[tuple[str, str]]:
    right = effect.after or ""
    plausible = next((value for value in elsewhere if value not in (right, "")), "") or altered(right)
    yield plausible, f"is {_shown(plausible, beside=right)}"
    if right.strip():
        yield "", "is empty"
    given = (
        _ONE_PARAMETER.fullmatch(effect.after_template or "") is not None and effect.format != _SHOWN_FORMAT
    )
    if effect.area == "file" and effect.address and given and right.swapcase() != right:
        yield right.swapcase(), "is written with capital letters for small ones"
        if spaced:
            yield f" {right}", "has a space before it"
    if len(right) >= _SHORTEST_CUT:
        half = right[: len(right) // 2]
        yield half, f"ends after {half if len(half) <= _SHOWN else f'…{half[-_SHOWN:]}'!r}"
    words = right.split()
    if effect.area == "clipboard" and len(words) > 1:
        longest = max(words, key=len)
        yield longest, f"is only the word {longest!r}"
    if effect.before and effect.before != right:
        yield f"{right} {effect.before}", "holds the old value as well"


def _wrong_places(subject: Subject) -> Iterator[Edited]:
    for effect in (item for item in subject.asked if item.area == "file"):
        if effect.kind == "removed" and subject.is_outermost(effect):
            yield from removed_otherwise(subject.start, subject.end, effect)
        elif not effect.address and "*" in steady_path(effect.container):
            continue  # a name that the application makes up is no place
        elif not effect.address and effect.container.startswith(f"{APPLICATIONS_FOLDER}/"):
            continue  # the account of side effects notices a file that no right work makes
        elif not effect.address or subject.is_leaf(effect):
            yield from islice(moved(subject.start, subject.end, effect), 2)
        if effect.kind == "added" and subject.is_outermost(effect):
            yield from put_first(subject.start, subject.end, effect)


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
