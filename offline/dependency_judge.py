"""Dependency judge by rule: reads the instruction alone, as a careful reader would, and never sees a graph.

It knows the catalogue's phrases and what subtasks read and make, finds what the text asks for, and asks of
every thing that a subtask reads what the words for it refer to. It shares no connectives and no plans with
the summarizer.
"""

from __future__ import annotations

from taskloom.offline.reading.forms import shown
from taskloom.offline.reading.leftovers import leftovers
from taskloom.offline.reading.mentions import Mention, Mentions, names
from taskloom.offline.telling.phrasebook import Phrasebook, Teller, Thing
from taskloom.prompts.inputs import DependencyJudgeInput
from taskloom.prompts.replies import DependencyJudgeReply, DependencyPair


def infer(view: DependencyJudgeInput, book: Phrasebook) -> DependencyJudgeReply:
    """The direct dependencies that the words state, the subtasks they leave out, and what they ask for
    besides."""
    tellers = [book.teller(subtask) for subtask in view.subtasks]
    mentions = Mentions(view.instruction, tellers, book)
    pairs: set[tuple[int, int]] = set()
    missing = {teller.number for teller in tellers} - set(mentions.found)
    for number, mention in mentions.found.items():
        teller = mentions.tellers[number]
        for thing in teller.inputs:
            producers, understood = _sources(mentions, mention, teller, thing)
            pairs |= {(producer, number) for producer in producers}
            if not understood:
                missing.add(number)
    known = [teller.application for teller in tellers]
    known += [
        category.named
        for teller in tellers
        for thing in teller.inputs
        if not teller.is_curated and (category := book.categories.get(thing.category)) is not None
    ]
    return DependencyJudgeReply(
        dependencies=[DependencyPair(before=before, after=after) for before, after in sorted(pairs)],
        not_asked_for=sorted(missing),
        not_listed=leftovers(mentions.text, mentions.spans, known),
    )


def _sources(mentions: Mentions, mention: Mention, teller: Teller, thing: Thing) -> tuple[set[int], bool]:
    """The subtasks that make what `teller` reads, as the text has it, and whether the words could be
    understood."""
    words = shown(mention.holes.get(thing.hole, "")) if thing.hole else ""
    makers = [
        other
        for other in mentions.tellers.values()
        if other is not teller and _makes(other, thing, teller, mentions.book)
    ]
    named = {
        maker.number
        for maker in makers
        if words
        and maker.number in mentions.found
        and mentions.product_holes(maker, mention.holes[thing.hole]) is not None
    }
    before = {number for number in named if _is_before(mentions, number, mention)}
    if named:
        return _alike(mentions, mention, before, words), bool(before)
    told = [
        maker.number
        for maker in makers
        if maker.number in mentions.found
        and (mentions.found[maker.number].start < mention.start or mention.is_wish)
    ]
    if not thing.value:
        earlier = [number for number in told if mentions.found[number].start < mention.start] or told
        latest = max(earlier, key=lambda number: mentions.found[number].start, default=None)
        return ({latest} if latest is not None else set()), True
    if not words or names(words, thing.value) or mentions.is_called(words, thing.value):
        return set(told), True
    return set(told), _last_named(mentions, mention, thing) in ("", thing.value)


def _is_before(mentions: Mentions, number: int, mention: Mention) -> bool:
    """Whether what a subtask makes can be spoken of in a mention: it was told before, or the words say what
    it is.

    "Paste the copied text" means nothing to somebody who reads only afterwards what to copy.
    """
    says_which = "{" in mentions.tellers[number].phrases.product
    found = mentions.found[number]
    return says_which or mention.is_wish or found.inside or found.start < mention.start


def _alike(mentions: Mentions, mention: Mention, named: set[int], words: str) -> set[int]:
    """Of subtasks whose products are called alike, those that are meant: by value, or by what was named
    last."""
    if len(named) == 1:
        return named
    read = {number: [item for item in mentions.tellers[number].inputs if item.value] for number in named}
    exact = {number for number in named if all(names(words, item.value) for item in read[number])}
    return exact or {
        number
        for number in named
        if all(_last_named(mentions, mention, item) == item.value for item in read[number])
    }


def _makes(maker: Teller, thing: Thing, reader: Teller, book: Phrasebook) -> bool:
    """Whether `maker` makes something that could be what `reader` reads."""
    return any(
        item.category == thing.category
        and (not thing.value or item.value == thing.value or (book.is_slot(item.category) and not item.value))
        and (book.is_shared(item.category) or maker.application == reader.application)
        for item in maker.outputs
    )


def _last_named(mentions: Mentions, mention: Mention, thing: Thing) -> str:
    """The value of the last thing of the same category that the text has spoken of before a mention."""
    found: list[tuple[int, bool, str]] = []
    for number, earlier in mentions.found.items():
        if number == mention.number or earlier.start >= mention.start or earlier.end >= mention.end:
            continue
        teller = mentions.tellers[number]
        for item in (*teller.inputs, *teller.outputs):
            if item.category == thing.category:
                found.append((earlier.start, item in teller.outputs, item.value))
    return max(found)[2] if found else ""
