"""Wrong outcomes made from the effects of right work, each with one thing wrong (method section 4).

What is wrong only because of damage beside the work, the account of side effects notices.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.editing import Edited, replaced, undone, with_text
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.operators import (
    altered,
    exchanged,
    halved,
    moved,
    put_first,
    removed_otherwise,
)
from taskloom.evaluators_api.state.records import same_value
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.synthesis.examination.other_content import other_content_given
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evaluation_function import CaseFamily

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
            name, changes = file_changes(file, evidence.file(effect.container)) if whole else ("", ())
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
