"""Patterns of the catalogue's phrases: what a request, a wish or a product looks like in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from taskloom.offline.telling.phrasebook import Teller, parts_of
from taskloom.resources.path_parts import with_path_parts

_INSIDE = re.compile(r"“[^”]*”|`[^`]*`")
_HIDDEN = str.maketrans(
    {".": "\x01", ",": "\x02", ";": "\x03", " ": "\x04", "!": "\x05", "?": "\x06", ":": "\x07"}
)
_SHOWN = str.maketrans({code: chr(letter) for letter, code in _HIDDEN.items()})
_ENDS = r"$|[.;!?](?:\s|$)|,|\band\b|\bthen\b|\bfor the\b"


_ONE = r"\S(?:(?!\b(?:then|and)\b).)*?"
"""The words for one thing."""
_SEVERAL = r"\S(?:(?!\bthen\b).)*?\band\b(?:(?!\b(?:then|and)\b).)*?"
"""The words for several things."""


def hidden(text: str) -> str:
    """The text with the punctuation and the spaces inside of quotation marks replaced, letter by letter.

    >>> shown(hidden("say “a, b.” and go")) == "say “a, b.” and go", " " in hidden("“a b”")
    (True, False)
    """
    return _INSIDE.sub(lambda match: match.group().translate(_HIDDEN), " ".join(text.split()))


def shown(text: str) -> str:
    """What `hidden` hid."""
    return text.translate(_SHOWN)


@dataclass(frozen=True, slots=True)
class Form:
    """One way of asking for a subtask."""

    pattern: re.Pattern[str]
    """What it looks like; a group `h0`, `h1` … for every thing that is read."""
    holes: Mapping[str, str]
    """The holes by group."""
    is_wish: bool = False
    """Whether it says what is wanted, so that how it comes about may be told later."""
    head: re.Pattern[str] | None = None
    """For what is told in one with another request: the beginning that both share."""
    listed: str = ""
    """For what is said of several things: the hole in which they are listed."""


def forms_of(teller: Teller) -> list[Form]:
    """The ways of asking for a subtask, whole ones first."""
    found = []
    for phrase, is_wish in ((teller.phrases.request, False), (teller.phrases.wish, True)):
        if phrase:
            found.append(_form(phrase, teller, is_wish=is_wish))
    for phrase, is_wish in ((teller.phrases.request, False), (teller.phrases.wish, True)):
        head, boundary, tail = phrase.partition("|")
        if boundary:
            first = tail.split()[0]
            form = _form(tail.strip(), teller, is_wish=is_wish, first=10)
            beginning = re.compile(
                _pattern(head, teller, {}, 0) + rf"(?= {re.escape(first)}\b)", re.IGNORECASE
            )
            holes = dict(form.holes)
            _pattern(head, teller, holes, 0)
            found.append(Form(form.pattern, holes, is_wish, beginning))
        found += _listed(phrase, teller, is_wish=is_wish)
    return found


def _listed(phrase: str, teller: Teller, *, is_wish: bool) -> list[Form]:
    """The form that says the same of several things: the first hole holds a list."""
    parts = parts_of(phrase.strip(" ,"))
    first = next((part for part in parts if part.kind == "hole"), None)
    after = phrase.partition(f"{{{first.text}}}")[2] if first is not None else ""
    if first is None or not after.partition("[")[0].strip(" |") or teller.reads(first.text) is None:
        return []
    form = _form(phrase, teller, is_wish=is_wish)
    lists = form.pattern.pattern.replace(_ONE, _SEVERAL, 1)
    return [Form(re.compile(lists, re.IGNORECASE), form.holes, is_wish, listed=first.text)]


def product_form(teller: Teller) -> Form | None:
    """What the words for a subtask's product look like, at the end of the words for a thing."""
    if not teller.phrases.product:
        return None
    holes: dict[str, str] = {}
    pattern = _pattern(teller.phrases.product, teller, holes, 0)
    return Form(re.compile(rf"(?<![\w/]){pattern}[ ,]*$", re.IGNORECASE), holes)


def _form(phrase: str, teller: Teller, *, is_wish: bool, first: int = 0) -> Form:
    holes: dict[str, str] = {}
    pattern = _pattern(phrase, teller, holes, first)
    ends = "|".join((_ENDS, *(rf"\b{re.escape(item)}" for item in teller.phrases.purposes)))
    return Form(re.compile(rf"(?<![\w/]){pattern}(?=\s*(?:{ends}))", re.IGNORECASE), holes, is_wish)


def _pattern(phrase: str, teller: Teller, holes: dict[str, str], first: int) -> str:
    """The pattern of a phrase; the names of its groups, counted from `first`, go into `holes`."""
    values = with_path_parts(teller.parameters)
    pattern = ""
    for part in parts_of(phrase.strip(" ,")):
        if part.kind == "words":
            words = re.sub(r"(?:\\ )+", r"\\s+", re.escape(re.sub("[“”`]", "", part.text)))
            pattern += words.replace(r"\s+and\s+", r"(?:\s+and|,)\s+")
        elif part.kind == "opening":
            pattern += "(?:"
        elif part.kind == "closing":
            pattern += ")?,?"
        elif part.kind == "hole" and teller.reads(part.text) is not None:
            group = f"h{first + len(holes)}"
            holes[group] = part.text
            pattern += f"(?P<{group}>{_ONE})"
        elif part.kind == "hole" and teller.makes(part.text) is not None and "/" in values[part.text]:
            value = literal(values[part.text])
            pattern += rf"(?:{value}|the\s+[^().,;]+?\s+\({value}\))"
        elif part.kind == "hole":
            pattern += literal(values[part.text])
    return pattern


def literal(value: str) -> str:
    """The pattern of a value, in quotation marks or without."""
    plain = r"\s+".join(re.escape(word) for word in hidden(value).split())
    quoted = re.escape(" ".join(value.split()).translate(_HIDDEN))
    return rf"(?:[“`'\"]?{plain}[”`'\"]?|[“`]{quoted}[”`])(?![\w/])"
