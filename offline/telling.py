"""Tells a task graph in the catalogue's phrases: plain sentences, in the order that is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.offline.phrasebook import WHOLE, Teller, Thing, name, named, parts_of
from taskloom.prompts.inputs import ResourceLink
from taskloom.resources.path_parts import with_path_parts

_LONGEST_SENTENCE = 36
"""Most words of a sentence with two requests."""
_RECENT = 3
"""How many things may have been spoken of since for one to be called by the words for its kind."""
_QUOTES = ("“", "`", "'")


@dataclass(frozen=True, slots=True)
class Clause:
    """One request, or several that differ in one thing only: what stands before it, the things, what
    follows."""

    number: int
    before: str
    """What stands before the thing that it is about."""
    things: tuple[str, ...]
    after: str
    frame: tuple[str, ...] = ()
    """What it has in common with requests that can be told in one with it; empty where it names nothing that
    is read first."""

    @property
    def text(self) -> str:
        """Its words.

        >>> Clause(1, "attach ", ("a", "b", "c"), " to the page").text
        'attach a, b and c to the page'
        """
        *most, last = self.things
        listed = f"{', '.join(most)} and {last}" if most else last
        return " ".join(f"{self.before}{listed}{self.after}".replace(",,", ",").split())


@dataclass(slots=True)
class Telling:
    """Tells the subtasks of one graph one after the other; knows what was spoken of."""

    tellers: Mapping[int, Teller]
    """The subtasks by number."""
    links: Sequence[ResourceLink]
    """What flows between them."""
    explicit: bool = False
    """Whether everything is called by its name every time, and every subtask has a request of its own."""
    _mentioned: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The words for the kind of everything spoken of, the newest last."""
    _application: str = ""
    """Application named last."""

    def instruction(self, order: Sequence[int]) -> str:
        """The instruction: what needs the request before stands in one sentence with it, as far as that stays
        short."""
        pairs = {(link.producer, link.consumer) for link in self.links}
        clauses: list[Clause] = []
        for number in self._not_embedded(order):
            clause = self.clause(number)
            last = clauses[-1] if clauses else None
            if last is not None and clause.frame and clause.frame == last.frame and not self.explicit:
                things = (*last.things, *clause.things)
                clauses[-1] = Clause(number, last.before, things, last.after, last.frame)
            else:
                clauses.append(clause)
        sentences: list[list[str]] = []
        told = 0
        for clause in clauses:
            text = clause.text
            joins = (
                (told, clause.number) in pairs
                and len(sentences[-1]) == 1
                and len(" ".join([*sentences[-1], text]).split()) <= _LONGEST_SENTENCE
            )
            if joins:
                sentences[-1].append(text)
            else:
                sentences.append([text])
            told = clause.number
        return " ".join(_sentence(", then ".join(texts)) for texts in sentences)

    def goal(self) -> str:
        """What is asked for in the end, in one sentence without a full stop."""
        producers = {link.producer for link in self.links}
        texts = [self.clause(number).text for number in self.tellers if number not in producers]
        words = "; ".join(texts) if len(texts) > 2 else ", and ".join(texts)
        return (words[:1].upper() + words[1:]).removesuffix(".")

    def clause(self, number: int) -> Clause:
        """The request for a subtask; what it makes then counts as spoken of."""
        teller = self.tellers[number]
        phrase = teller.phrases.request
        before, brace, rest = phrase.partition("{")
        hole, _, after = rest.partition("}")
        if brace and teller.reads(hole) is not None:
            words = (self._filled(before, teller), self._filled(f"{{{hole}}}", teller))
            others = [value for key, value in sorted(teller.parameters.items()) if key != hole]
            frame = (teller.application, before, after, *others) if after.partition("[")[0].strip() else ()
            clause = Clause(number, words[0], words[1:], self._filled(after, teller), frame)
        else:
            clause = Clause(number, "", (self._filled(phrase, teller),), "")
        for item in teller.outputs:
            self._mention(item, number)
        self._application = teller.application
        return clause

    def _not_embedded(self, order: Sequence[int]) -> list[int]:
        """The subtasks that get a request of their own: what the words for a product ask for gets none."""
        used = {link.producer for link in self.links}
        return [number for number in order if not (number in used and self._is_embedded(number))]

    def _is_embedded(self, number: int) -> bool:
        readers = [self.tellers[link.consumer] for link in self.links if link.producer == number]
        says_what = all(WHOLE not in reader.parameters for reader in readers)
        return bool(self.tellers[number].phrases.product) and says_what and not self.explicit

    def _filled(self, phrase: str, teller: Teller, *, by_name: bool = False) -> str:
        values = with_path_parts(teller.parameters)
        words, skips = "", False
        for part in parts_of(phrase):
            if part.kind == "opening":
                skips = teller.application == self._application
            elif part.kind == "closing":
                skips = False
                self._application = teller.application
            elif skips:
                continue
            elif part.kind == "words":
                words += part.text
            elif (thing := teller.reads(part.text)) is not None:
                words += self._words_for(thing, teller, by_name=by_name)
            else:
                value = values[part.text]
                words += value if words.endswith(_QUOTES) or part.text == WHOLE else name(value)
        return words

    def _words_for(self, thing: Thing, reader: Teller, *, by_name: bool) -> str:
        """The words for something that is read: its name at first, and those for its kind while that is
        clear."""
        maker = self._maker(thing, reader)
        if maker is not None and self._is_embedded(maker):
            return self._filled(self.tellers[maker].phrases.product, self.tellers[maker], by_name=True)
        key = _key(thing, maker)
        recent = list(self._mentioned)[-_RECENT:]
        again = thing.category.again
        alone = [known for known, words in self._mentioned.items() if words == again] == [key]
        self._mention(thing, maker)
        clear = again and alone and key in recent and not (by_name or self.explicit)
        return again if clear else named(thing)

    def _maker(self, thing: Thing, reader: Teller) -> int | None:
        for link in self.links:
            same = link.category == thing.category.name and (
                thing.category.is_slot or link.value == thing.value
            )
            if link.consumer == reader.number and same:
                return link.producer
        return None

    def _mention(self, thing: Thing, maker: int | None) -> None:
        key = _key(thing, maker)
        self._mentioned.pop(key, None)
        if thing.category.again:
            self._mentioned[key] = thing.category.again


def _key(thing: Thing, maker: int | None) -> tuple[str, str, str]:
    """What a thing is known by; what fills a slot, by its maker."""
    return thing.category.name, thing.place, f"made by {maker}" if thing.category.is_slot else thing.value


def _sentence(text: str) -> str:
    ends = (".”", "!”", "?”", ".", "?", "!")
    return f"{text[:1].upper()}{text[1:].rstrip(' ,')}{'' if text.endswith(ends) else '.'}"
