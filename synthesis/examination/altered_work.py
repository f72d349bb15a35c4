"""Alterations of right work (method section 4): wrong work with one fault each, and right variants that a
function must accept. What is wrong only through side effects is left to their account."""

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
from taskloom.synthesis.examination.other_content import sources_changed_alone, sources_changed_throughout
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evaluation_function import CaseFamily
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import fold_text

MOST_PER_FAMILY = 120
"""Maximum counterfeits of one family; if there are more, they are thinned evenly."""
_SHORTEST_CUT = 4
_LONGEST_SHOWN = 60
_LEAD = 12
"""Characters shown before the point where two values differ."""
_DRAWING = "drawing"
_ONE_PARAMETER = re.compile(r"\{\w+\}")
_MARKUP = "markup"
"""A format in which the rendered text counts, not the number of spaces in the source."""
_MOST_INCIDENTAL = 6
_FEWEST_MESSAGE_WORDS = 3
_ALIGNED_FORMATS = frozenset({"ledger"})
"""Formats in which people align values with any number of spaces."""
_WIDE_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
_MESSAGE_TYPES = frozenset({"Text", "Heading", "Custom", "Image", "ProgressBar"})
"""Types of controls that only display something; a message can be gone by the time somebody looks."""


def counterfeits(subject: Subject) -> Iterator[Case]:
    """Every counterfeit of `subject`, thinned out evenly in families with very many."""
    families: tuple[tuple[CaseFamily, Iterator[Edited]], ...] = (
        ("undone_change", _undone_changes(subject)),
        ("wrong_value", _wrong_values(subject)),
        ("wrong_place", _wrong_places(subject)),
        ("swapped_values", exchanged(subject.start, subject.end, subject.required)),
        ("half_records", halved(subject.start, subject.end, subject.required)),
    )
    for family, edits in families:
        wrong = [item for item in edits if not subject.is_reached(item.evidence, item.start)]
        for item in wrong[:: max(1, -(-len(wrong) // MOST_PER_FAMILY))]:
            yield subject.case(family, item.description, item.evidence, item.start)
    yield from sources_changed_alone(subject)
    if any(effect.area in ("file", "directory") for effect in subject.essential):
        start = subject.end.model_copy(update={"inputs": (), "step": 0})
        description = "nothing was done: what the end shows had been there at the start"
        yield subject.case("untouched_product", description, start, start)


def _undone_changes(subject: Subject) -> Iterator[Edited]:
    for effect in subject.required:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None:
            yield Edited(f"this is missing: {effect.describe()}", evidence)
    if subject.shown:
        description = "the screen still shows what it showed at the start"
        yield Edited(description, subject.with_first_screen(subject.end))


def _wrong_values(subject: Subject) -> Iterator[Edited]:
    for effect in subject.required:
        if effect.area == "file" and effect.kind == "removed" and not effect.address and effect.before:
            other = with_text(subject.end, effect.container, altered(effect.before))
            yield Edited(f"{effect.container} was changed, and is still there", other)
        whole = effect.area == "file" and effect.kind == "added" and not effect.address
        if effect.after is None or (whole and not effect.after) or not (whole or subject.is_leaf(effect)):
            continue  # an empty file says nothing
        file = subject.end.file(effect.container)
        spaced = effect.format != _DRAWING and (file is None or file.content != "pdf")  # these ignore spaces
        for value, phrase in _mistakes(effect, subject.other_values.get(effect.key, ()), spaced=spaced):
            evidence = replaced(subject.start, subject.end, effect, value)
            if evidence is None or (effect.address and same_value(value, effect.after)):
                continue
            name, changes = file_changes(subject.end, evidence, effect.container) if whole else ("", ())
            if name == _DRAWING and not changes:
                continue  # only what the format ignores differs, such as the time a drawing was saved
            description = f"{effect.where} {phrase} instead of {_shorten(effect.after, unlike=value)}"
            yield Edited(description, evidence)


def _mistakes(effect: Effect, other_values: Sequence[str], *, spaced: bool) -> Iterator[tuple[str, str]]:
    right = effect.after or ""
    plausible = next((value for value in other_values if value not in (right, "")), "") or altered(right)
    yield plausible, f"is {_shorten(plausible, unlike=right)}"
    if right.strip():
        yield "", "is empty"
    is_parameter = (
        _ONE_PARAMETER.fullmatch(effect.after_template or "") is not None and effect.format != _MARKUP
    )
    if effect.area == "file" and effect.address and is_parameter and right.swapcase() != right:
        yield right.swapcase(), "is written with capital letters for small ones"
        if spaced:
            yield f" {right}", "has a space before it"
    if len(right) >= _SHORTEST_CUT:
        half = right[: len(right) // 2]
        yield half, f"ends after {half if len(half) <= _LONGEST_SHOWN else f'…{half[-_LONGEST_SHOWN:]}'!r}"
    words = right.split()
    if effect.area == "clipboard" and len(words) > 1:
        longest = max(words, key=len)
        yield longest, f"is only the word {longest!r}"
    if effect.before and effect.before != right:
        yield f"{right} {effect.before}", "holds the old value as well"


def _wrong_places(subject: Subject) -> Iterator[Edited]:
    for effect in (item for item in subject.required if item.area == "file"):
        if effect.kind == "removed" and subject.is_outermost(effect):
            yield from removed_otherwise(subject.start, subject.end, effect)
        elif not effect.address and "*" in steady_path(effect.container):
            continue  # a name that the application generates is not a place
        elif not effect.address and effect.container.startswith(f"{APPLICATIONS_FOLDER}/"):
            continue  # the account of side effects notices a file that no right work makes
        elif not effect.address or subject.is_leaf(effect):
            yield from islice(moved(subject.start, subject.end, effect), 2)
        if effect.kind == "added" and subject.is_outermost(effect):
            yield from put_first(subject.start, subject.end, effect)


def _shorten(value: str, *, unlike: str = "") -> str:
    """A value cut to fit; if two long ones begin alike, from where they differ.

    >>> _shorten("a" * 80 + "right", unlike="a" * 80 + "wrong")
    "'…aaaaaaaaaaaaright'"
    """
    pairs = enumerate(zip(value, unlike, strict=False))
    common = next((place for place, (one, other) in pairs if one != other), min(len(value), len(unlike)))
    if unlike and max(len(value), len(unlike)) > _LONGEST_SHOWN and common > _LEAD and value != unlike:
        value = f"…{value[common - _LEAD :]}"
    return repr(value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…")


def genuine_variants(subject: Subject) -> Iterator[Case]:
    """Every genuine variant of `subject`."""
    for other in subject.others:
        if other.trajectory_id != subject.positive.trajectory_id:
            values = ", ".join(f"{name}={value!r}" for name, value in other.parameters.items())
            description = (
                f"the subtask was done once more in {len(other.steps)} steps ({values or 'no parameters'})"
            )
            start, end = other.initial_evidence, other.final_evidence
            yield subject.case("second_positive", description, end, start, parameters=other.parameters)
    without_inputs = subject.end.model_copy(update={"inputs": ()})
    description = "the same was reached by another way: nothing is known of clicks and typing"
    yield subject.case("without_route", description, without_inputs)
    first_screen = subject.with_first_screen(without_inputs)
    if subject.shown:
        yield from _without_messages(subject)
        yield from _reloaded(subject)
    elif subject.is_reached(first_screen):
        description = "it is done and stored, and the application is back at its first page"
        yield subject.case("without_messages", description, first_screen)
    yield from sources_changed_throughout(subject)
    yield from _spaced_differently(subject)
    yield from _without_incidental(subject)


def _without_messages(subject: Subject) -> Iterator[Case]:
    opened = _opened_drawing_texts(subject)
    messages = {place for place in _messages(subject.incidental) if place[-1] not in opened}
    if messages:
        description = ", ".join(map(repr, sorted(place[-1] for place in messages)[:3]))
        update = {"controls": _controls_without(subject, messages, in_rows=True), "text_under_cursor": ""}
        evidence = subject.end.model_copy(update=update)
        yield subject.case("without_messages", f"messages that come and go are gone: {description}", evidence)


def _messages(found: Sequence[Effect]) -> set[tuple[str, ...]]:
    return {
        effect.address
        for effect in found
        if effect.area == "screen" and effect.kind == "added" and effect.address[0] in _MESSAGE_TYPES
    }


def _controls_without(
    subject: Subject, gone: Collection[tuple[str, ...]], *, in_rows: bool = False
) -> tuple[Control, ...]:
    """The controls at the end without those showing messages `gone`; those in rows stay unless `in_rows`."""
    places = iter(shown_controls(subject.end.controls))
    return tuple(
        control
        for control in subject.end.controls
        if control.application == "environment" or next(places) not in gone or (control.row and not in_rows)
    )


def _opened_drawing_texts(subject: Subject) -> set[str]:
    """Texts of opened drawings, which differ between performances and are not messages."""
    named = tuple(subject.positive.parameters.values())
    found: set[str] = set()
    for origin in origins(subject.start, subject.end, (), named):
        source = subject.start.file(origin.source) if origin.kind == "opened" else None
        if source is not None:
            held = {fold_text(node.value or "") for _, node in read(source.path, source.text or "")[1].walk()}
            found |= {item.text for item in subject.end.controls if fold_text(item.text) in held}
    return found


def _reloaded(subject: Subject) -> Iterator[Case]:
    """The page after reloading: what rows, switches or fields show is still there, a message is not.

    If there is only a message, nothing distinguishes the work from none, and no function can accept one and
    reject the other.
    """
    start, messages, address = subject.start, _messages(subject.shown), urlsplit(subject.end.url)
    # A text that is also in the address is a message, which disappears with the next address.
    query = fold_text(unquote_plus(address.query))
    texts = (place[-1] for place in messages if len(place[-1].split()) >= _FEWEST_MESSAGE_WORDS)
    shows_result = any(fold_text(text) in query for text in texts) or _state_on_screen(subject)
    if urlsplit(start.url).path != address.path or not shows_result:
        return
    controls = _controls_without(subject, messages)
    if start.url != subject.end.url or controls != subject.end.controls:
        update = {"inputs": (), "controls": controls, "window_title": start.window_title, "url": start.url}
        evidence = subject.end.model_copy(update={**update, "text_under_cursor": ""})
        description = "the page was loaded again: what was done is shown, the message about it is not"
        yield subject.case("without_messages", description, evidence)


def _state_on_screen(subject: Subject) -> bool:
    """Whether an existing row, a switch or a field of the screen is in another state."""
    if any(effect.area == "screen" and effect.kind == "changed" for effect in subject.shown):
        return True
    before, after = (
        {item.row: item.text for item in evidence.controls if item.row and item.text != item.row}
        for evidence in (subject.start, subject.end)
    )
    return any(before.get(row, text) != text for row, text in after.items())


def _spaced_differently(subject: Subject) -> Iterator[Case]:
    for effect in subject.required:
        file = subject.end.file(effect.container) if effect.area == "file" and not effect.address else None
        if effect.kind != "added" or effect.format not in _ALIGNED_FORMATS or file is None or not file.text:
            continue
        text = _WIDE_GAP.sub(lambda match: match.group() + "    ", file.text)
        is_equal = not compare(meaning(*read(file.path, text)), meaning(*read(file.path, file.text)))
        if text != file.text and is_equal and not effect.source:
            description = f"{effect.container} holds the same data with more space between them"
            yield subject.case("second_positive", description, with_text(subject.end, effect.container, text))


def _without_incidental(subject: Subject) -> Iterator[Case]:
    lasting = [effect for effect in subject.incidental if effect.area in ("file", "directory")]
    for effect in lasting[:_MOST_INCIDENTAL]:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None and subject.is_reached(evidence):
            description = f"this did not happen, and need not: {effect.describe()}"
            yield subject.case("incidental_change", description, evidence)
