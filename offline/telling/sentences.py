"""Clauses put together into sentences, and sentences into an instruction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Voice = Literal["terse", "polite", "context"]

_INSIDE = re.compile(r"“[^”]*”|`[^`]*`")
_ENDS = (".”", "!”", "?”")
_NEXT_ACT = re.compile(r" and (?=(?:copy|export|save) )")
_FOLLOWING = ("Then ", "After that, ")
_APART = ("Also ", "In addition, ")
_WISHES = ("I need", "I'd like to have", "We need", "I want")
_PLEAS = (("Please ", "."), ("Could you ", "?"), ("Can you ", "?"), ("Would you please ", "?"))
_THANKS = ("", " Thanks!", "", " Thank you.")
_LONG = 36
_LONG_QUESTION = 28


@dataclass(slots=True)
class Sentence:
    """Clauses that go into one sentence."""

    clauses: list[str]
    """The clauses."""
    wish: bool = False
    """Whether they say what is wanted, not what to do."""
    follows: bool = False
    """Whether the first needs what the sentence before gives."""
    numbers: set[int] = field(default_factory=set)
    """The subtasks that it tells."""
    joins: bool = False
    """Whether something in it needs what came before, though not the first clause."""
    beside: bool = False
    """Whether other work of the sentence before needs as little of it as it needs of that, so that "then"
    would mislead."""
    partly: bool = False
    """Whether a part of what it tells in one clause needs nothing that came before, so that "then" would say
    too much."""
    afterwards: bool = False
    """Whether it is to be said that this comes afterwards."""
    at_last: bool = False
    """Whether it is to be said that this comes after everything that was said before."""
    purpose: str = ""
    """What it is wanted for."""
    makes_place: bool = False
    """Whether it makes a place for several things, so that what comes next needs no word to say that it
    belongs here."""
    parallel: bool = False
    """Whether its clauses are told side by side, none needing the other."""

    def takes(self, clause: str) -> bool:
        """Whether another clause still fits."""
        if self.parallel:
            return False
        if _acts(clause) is not None and any(map(_is_winding, self.clauses)):
            return False
        together = [*self.clauses, clause]
        winding = any(_is_winding(item) for item in together)
        return len(together) <= (2 if winding else 3) and _words(together) <= _LONG

    def takes_beside(self, clause: str) -> bool:
        """Whether another clause that needs nothing of this sentence still fits."""
        both = [*self.clauses, clause]
        return (
            len(both) == 2 and not self.wish and sum(map(_has_parts, both)) < 2 and _words(both) <= _LONG + 8
        )


def enumerated(items: Sequence[str]) -> str:
    """Items in a row.

    >>> enumerated(["a", "b", "c"])
    'a, b and c'
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def together(items: Sequence[str]) -> str:
    """Results that are wanted together.

    >>> together(["A exported", "B opened and copied"])
    'A exported, and also B opened and copied'
    """
    if len(items) > 1 and any(" and " in _INSIDE.sub("", item) for item in items):
        return f"{', '.join(items[:-1])}, and also {items[-1]}"
    return enumerated(items)


def joined(clauses: Sequence[str]) -> str:
    """Clauses of one sentence; where one of them has an "and" of its own, "then" tells where it ends, unless
    that joins two acts.

    >>> joined(["write a note", "export it"]), joined(["open it and copy its text", "paste it"])
    ('write a note and export it', 'open it, copy its text and paste it')
    >>> joined(["attach this and that", "open it"])
    'attach this and that, then open it'
    """
    if len(clauses) == 2 and not _is_winding(clauses[1]):
        two = _acts(clauses[0])
        if two is not None:
            return enumerated([*two, clauses[1]])
    if len(clauses) > 1 and any(map(_is_winding, clauses[:-1])):
        return f"{', '.join(clauses[:-1])}, then {clauses[-1]}"
    return enumerated(clauses)


def _acts(clause: str) -> tuple[str, str] | None:
    """The two acts of a clause that asks for one after the other; None for every other clause.

    None as well for the words of a subtask that nobody wrote phrases for, whose values stand in single
    quotation marks.
    """
    bare = _INSIDE.sub(lambda match: "_" * len(match.group()), clause)
    found = list(_NEXT_ACT.finditer(bare))
    if len(found) != 1 or bare.count(" and ") != 1 or ", " in bare or " to write " in bare or " '" in bare:
        return None
    return clause[: found[0].start()], clause[found[0].start() + len(" and ") :]


def instruction_of(sentences: Sequence[Sentence], voice: Voice, random: Random) -> str:
    """The instruction: every connective at most once."""
    following, apart = _shuffled(_FOLLOWING, random), _shuffled(_APART, random)
    texts: list[str] = []
    plea = random.choice(_PLEAS) if voice == "polite" else ("", ".")
    asked = sum(_words(sentence.clauses) for sentence in sentences)
    if (len(sentences) > 1 or asked > _LONG_QUESTION) and plea[1] == "?":
        plea = _PLEAS[0]
    for position, sentence in enumerate(sentences):
        words = together(sentence.clauses) if sentence.wish else joined(sentence.clauses)
        if sentence.parallel:
            words = ", and ".join(sorted(sentence.clauses, key=_is_winding))
        if sentence.purpose:
            words += f"{',' if sentence.purpose.startswith('so that') else ''} {sentence.purpose}"
        after_wish = position > 0 and sentences[position - 1].wish
        if sentence.wish:
            texts.append(_ended(f"{random.choice(_WISHES)} {words}", "."))
        elif not (sentence.at_last or sentence.afterwards) and (
            after_wish or (position > 0 and (sentence.makes_place or sentences[position - 1].makes_place))
        ):
            texts.append(_ended(words, "."))
        elif position == 0:
            texts.append(_ended(plea[0] + words, plea[1]))
        elif sentence.at_last:
            last = position == len(sentences) - 1
            texts.append(_ended(f"{'Finally' if last else 'Once that is done'}, {words}", "."))
        elif sentence.afterwards:
            texts.append(_ended(f"After that, {words}", "."))
        elif sentence.partly:
            texts.append(_ended(words, "."))
        else:
            if sentence.joins and not sentence.follows:
                texts.append(_ended(f"Also {words}", "."))
                continue
            opening = following if sentence.follows and not sentence.beside else apart
            again = texts and ", then " in texts[-1]
            fitting = [item for item in opening if not (again and item == "Then ")]
            chosen = fitting[-1] if fitting else ""
            if fitting:
                opening.remove(chosen)
            texts.append(_ended(chosen + words, "."))
    return " ".join(texts) + (random.choice(_THANKS) if voice == "polite" else "")


def _is_winding(clause: str) -> bool:
    """Whether a clause has a conjunction, a comma or an infinitive of its own, to which what follows could
    belong."""
    return _has_parts(clause) or " to write " in _INSIDE.sub("", clause)


def _has_parts(clause: str) -> bool:
    """Whether a clause has a conjunction or a comma of its own."""
    outside = _INSIDE.sub("", clause)
    return " and " in outside or ", " in outside


def _words(clauses: Sequence[str]) -> int:
    """How many words clauses have, those in quotation marks too."""
    return len(" ".join(clauses).split())


def _ended(words: str, end: str) -> str:
    text = words[0].upper() + words[1:]
    text = text.rstrip(" ,")
    return text if end == "." and text.endswith(_ENDS) else text + end


def _shuffled(items: Sequence[str], random: Random) -> list[str]:
    return random.sample(items, len(items))
