"""Tells a task graph in the catalogue's phrases: plain sentences, in the order that is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.offline.phrasebook import WHOLE, Teller, Thing, name, named, parts_of
from taskloom.prompts.inputs import ResourceLink
from taskloom.resources.path_parts import with_path_parts

_LONGEST_SENTENCE = 36
"""Most words of a sentence with two requests."""
_RECENT = 3
"""How many things may have been spoken of since for one to be called by the words for its kind."""
_BY_VALUE = ("file", "record")
_QUOTES = ("“", "`", "'")


@dataclass(slots=True)
class Telling:
    """Tells the subtasks of one graph one after the other; knows what was spoken of."""

    tellers: Mapping[int, Teller]
    links: Sequence[ResourceLink]
    explicit: bool = False
    """Whether everything is called by its name every time."""
    _mentioned: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The words for the kind of everything spoken of, the newest last."""
    _application: str = ""

    def instruction(self, order: Sequence[int]) -> str:
        """The instruction: what needs the request before stands in one sentence with it, as far as that stays
        short."""
        pairs = {(link.producer, link.consumer) for link in self.links}
        sentences: list[list[str]] = []
        for before, number in zip((0, *order), order, strict=False):
            text = self.request(number)
            joined = [*sentences[-1], text] if (before, number) in pairs else []
            if len(joined) == 2 and len(" ".join(joined).split()) <= _LONGEST_SENTENCE:
                sentences[-1] = joined
            else:
                sentences.append([text])
        return " ".join(_sentence(", then ".join(texts)) for texts in sentences)

    def goal(self) -> str:
        """What is asked for in the end, in one sentence without a full stop; what it takes out of the
        clipboard or another slot is asked for with it."""
        producers = {link.producer for link in self.links}
        told = self.tellers.keys() - producers
        told |= {link.producer for link in self.links if link.consumer in told and link.kind not in _BY_VALUE}
        texts = [self.request(number) for number in self.tellers if number in told]
        words = "; ".join(texts) if len(texts) > 2 else ", and ".join(texts)
        return (words[:1].upper() + words[1:]).removesuffix(".")

    def request(self, number: int) -> str:
        """The request for a subtask; what it makes then counts as spoken of."""
        teller = self.tellers[number]
        words = self._filled(teller)
        for item in teller.outputs:
            self._mention(item, number)
        self._application = teller.application
        return " ".join(words.split())

    def _filled(self, teller: Teller) -> str:
        values = with_path_parts(teller.parameters)
        words, skips = "", False
        for part in parts_of(teller.phrase):
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
                words += self._words_for(thing, teller)
            else:
                value = values[part.text]
                words += value if words.endswith(_QUOTES) or part.text == WHOLE else name(value)
        return words

    def _words_for(self, thing: Thing, reader: Teller) -> str:
        """The words for something that is read: its name at first, and those for its kind while that is
        clear."""
        maker = self._maker(thing, reader)
        key = _key(thing, maker)
        recent = list(self._mentioned)[-_RECENT:]
        again = thing.category.again
        alone = [known for known, words in self._mentioned.items() if words == again] == [key]
        self._mention(thing, maker)
        return again if again and alone and key in recent and not self.explicit else named(thing)

    def _maker(self, thing: Thing, reader: Teller) -> int | None:
        own = (link for link in self.links if link.consumer == reader.number)
        same = (link for link in own if link.category == thing.category.name)
        makers = (item.producer for item in same if thing.category.is_slot or item.value == thing.value)
        return next(makers, None)

    def _mention(self, thing: Thing, maker: int | None) -> None:
        key = _key(thing, maker)
        self._mentioned.pop(key, None)
        if thing.category.again:
            self._mentioned[key] = thing.category.again


def _key(thing: Thing, maker: int | None) -> tuple[str, str, str]:
    return thing.category.name, thing.place, f"made by {maker}" if thing.category.is_slot else thing.value


def _sentence(text: str) -> str:
    ends = (".”", "!”", "?”", ".", "?", "!")
    return f"{text[:1].upper()}{text[1:].rstrip(' ,')}{'' if text.endswith(ends) else '.'}"
