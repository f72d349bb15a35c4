"""Where a text asks for which subtask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.offline.reading.forms import Form, forms_of, hidden, literal, product_form, shown
from taskloom.offline.telling.phrasebook import Phrasebook, Teller

_SENTENCE_END = re.compile("[.?!](?=\\s|$)|[\x01\x05\x06]”(?=\\s+[A-Z]|$)")
_PATH = re.compile(r"[\w-]+(?:/[\w.-]+)*/[\w-]+\.\w+")
_ELEMENT = re.compile(r"(?:^|,\s+(?:and\s+)?|\sand\s+)((?:(?!,\s|\sand\s).)+)")
_NOUN = r"the(?: (?!(?:and|then)\b)[\w'’-]+){1,8}?"
_PURPOSE = re.compile(
    rf"(?:\b(?:for|with|to prepare for|ahead of) {_NOUN}|(?:^|(?<=[.?!] ))We need {_NOUN} for {_NOUN}|, so"
    rf" that {_NOUN} can read it)"
    r"(?=[,.:;?!]|$)",
    re.IGNORECASE,
)
_PRONOUNS = ("it", "this", "that", "them")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that asks for a subtask."""

    number: int
    """The subtask."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    holes: Mapping[str, str]
    """The words that stand for what it reads, by hole."""
    is_wish: bool = False
    """Whether it says what is wanted, not what is to be done next."""
    around: tuple[tuple[int, int], ...] = ()
    """For one of several things of which the same is said: where that stands."""
    inside: bool = False
    """Whether the words for what it makes ask for it, in the words for what another one reads."""


class Mentions:
    """The mentions of subtasks in one text."""

    def __init__(self, instruction: str, tellers: Sequence[Teller], book: Phrasebook) -> None:
        """Find all of them; a subtask that is not asked for with all of its values has none."""
        self.text = hidden(instruction)
        self.book = book
        self.tellers = {teller.number: teller for teller in tellers}
        self.found: dict[int, Mention] = {}
        self._introduced = {
            value: list(_introductions(self.text, value))
            for value in {item.value for teller in tellers for item in (*teller.inputs, *teller.outputs)}
            if value
        }
        self.spans: list[tuple[int, int]] = []
        self._sentences = list(_sentences(self.text))
        for mention in sorted(
            (mention for teller in tellers for mention in self._candidates(teller)),
            key=lambda item: (item.start - item.end, item.start, item.number),
        ):
            apart = all(mention.end <= start or end <= mention.start for start, end in self.spans)
            if apart and mention.number not in self.found:
                self.found[mention.number] = mention
                self.spans.append((mention.start, mention.end))
        self.spans += [span for mention in self.found.values() for span in mention.around]
        self.spans += _purposes(self.text, tellers)
        for _ in tellers:
            for teller in tellers:
                if book.says_all(teller) and teller.number not in self.found:
                    self._find_inside(teller)

    def _candidates(self, teller: Teller) -> Iterator[Mention]:
        """All places that could ask for a subtask."""
        if not teller.is_curated:
            yield from self._verbatim(teller)
            return
        for form in forms_of(teller):
            for start, sentence in self._sentences:
                for match in form.pattern.finditer(sentence):
                    parts = [match]
                    if form.head is not None:
                        heads = [
                            item for item in form.head.finditer(sentence) if item.start() < match.start()
                        ]
                        if not heads:
                            continue
                        parts.append(heads[-1])
                    holes = {
                        hole: part.group(group)
                        for part in parts
                        for group, hole in form.holes.items()
                        if group in part.re.groupindex
                    }
                    if form.listed:
                        yield from self._in_a_list(teller, form, match, holes, start)
                    elif self._fits(teller, holes):
                        yield Mention(
                            teller.number, start + match.start(), start + match.end(), holes, form.is_wish
                        )

    def _in_a_list(
        self, teller: Teller, form: Form, match: re.Match[str], holes: Mapping[str, str], start: int
    ) -> Iterator[Mention]:
        """The element of a list that can stand for what the subtask reads first."""
        group = next(name for name, hole in form.holes.items() if hole == form.listed)
        begin, end = start + match.start(group), start + match.end(group)
        for item in _ELEMENT.finditer(match.group(group)):
            is_thing = re.match(r"the |that |[“`]|\S+[./]", item.group(1), re.IGNORECASE)
            if is_thing and self._fits(teller, {**holes, form.listed: item.group(1)}):
                around = ((start + match.start(), begin), (end, start + match.end()))
                element = {**holes, form.listed: item.group(1)}
                yield Mention(
                    teller.number, begin + item.start(1), begin + item.end(1), element, form.is_wish, around
                )

    def _verbatim(self, teller: Teller) -> Iterator[Mention]:
        """The places that ask in the words of the subtask's own instruction."""
        for match in re.finditer(literal(teller.parameters["instruction"]), self.text, re.IGNORECASE):
            yield Mention(teller.number, match.start(), match.end(), {})

    def _fits(self, teller: Teller, holes: Mapping[str, str]) -> bool:
        """Whether the words in the holes can stand for what the subtask reads."""
        for hole, words in holes.items():
            thing = teller.reads(hole)
            category = self.book.categories.get(thing.category) if thing is not None else None
            if thing is None or category is None:
                continue
            plain = shown(words).strip(" ,").casefold()
            others = [path for path in _PATH.findall(plain) if path != thing.value.casefold()]
            if thing.value and names(plain, thing.value.casefold()) and not others:
                continue
            if self.is_called(plain, thing.value):
                continue
            called = [category.again, f"that {category.again.removeprefix('the ')}", *_PRONOUNS]
            called += ["that file"] if self.book.is_file(thing.category) else []
            if not thing.value:
                called += [category.named, category.again]
                called += [
                    maker.phrases.after
                    for maker in self.tellers.values()
                    if any(item.category == thing.category for item in maker.outputs)
                ]
            if plain.endswith(tuple(item.casefold() for item in called if item)) or self._product_in(
                teller, hole, words
            ):
                continue
            return False
        return True

    def is_called(self, words: str, value: str) -> bool:
        """Whether `words` end with what the text says that `value` is called."""
        plain = shown(words).strip(" ,").casefold()
        return any(plain.endswith(item) for item in self._introduced.get(value, ()))

    def _find_inside(self, teller: Teller) -> None:
        """A subtask that is asked for by the words for what it makes, in the words for what another one
        reads."""
        for mention in list(self.found.values()):
            for hole, words in mention.holes.items():
                thing = self.tellers[mention.number].reads(hole)
                if thing is None or thing.category not in {item.category for item in teller.outputs}:
                    continue
                holes = self.product_holes(teller, words)
                if holes is not None:
                    start = self.text.find(words, mention.start)
                    self.found[teller.number] = Mention(
                        teller.number, start, start + len(words), holes, mention.is_wish, inside=True
                    )
                    return

    def product_holes(self, teller: Teller, words: str) -> Mapping[str, str] | None:
        """The holes of the words for a subtask's product, if `words` end with these."""
        form = product_form(teller)
        match = form.pattern.search(words) if form is not None else None
        if form is None or match is None:
            return None
        holes = {hole: match.group(group) for group, hole in form.holes.items()}
        return holes if self._fits(teller, holes) else None

    def _product_in(self, teller: Teller, hole: str, words: str) -> bool:
        """Whether `words` are those for the product of some subtask that makes what the hole stands for."""
        thing = teller.reads(hole)
        return thing is not None and any(
            self.product_holes(other, words) is not None
            for other in self.tellers.values()
            if other is not teller
            and any(
                item.category == thing.category and (not thing.value or item.value in ("", thing.value))
                for item in other.outputs
            )
        )


def _introductions(text: str, value: str) -> Iterator[str]:
    """What stands before a value in brackets, from every "the": what the text calls it."""
    for match in re.finditer(rf"([^().,;]+) \({literal(value)}\)", text):
        words = match.group(1).casefold()
        for start in re.finditer(r"\bthe ", words):
            yield words[start.start() :]


def names(words: str, value: str) -> bool:
    """Whether `words` name `value`, as a whole.

    >>> names("the wiki page TeamFiles", "TeamFiles"), names("Documents/sales_all.csv", "Documents/sales")
    (True, False)
    """
    return bool(re.search(rf"(?<![\w/]){re.escape(value)}(?![\w/])", words))


def _purposes(text: str, tellers: Sequence[Teller]) -> Iterator[tuple[int, int]]:
    """The places that say what it is for: in words of the catalogue, or as a statement that asks for
    nothing."""
    for match in _PURPOSE.finditer(text):
        yield match.span()
    for teller in tellers:
        for purpose in teller.phrases.purposes:
            for match in re.finditer(re.escape(purpose), text, re.IGNORECASE):
                yield match.span()


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield start, text[start : match.end()]
        start = match.end()
    if start < len(text):
        yield start, text[start:]
