"""Summarizer by rule: tells a task graph in the catalogue's phrases and a given order, and what it is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from taskloom.offline.phrasebook import WHOLE, Phrasebook, Teller, Thing, name, named, parts_of
from taskloom.prompts.inputs import ResourceLink, SummarizerInput
from taskloom.prompts.replies import SummarizerReply
from taskloom.taskgraph.records.subtask import with_path_parts

_OPENINGS = ("", "Please ")
_LONGEST_SENTENCE = 36
"""Most words of a sentence with two requests."""
_RECENT = 3
"""How many things may have been spoken of since for one to be called by the words for its kind."""
_JUST_BEFORE = 3
"""So many words before one count as standing just before it."""
_BY_VALUE = ("file", "record")
_QUOTES = ("“", "`", "'")


def summarize(view: SummarizerInput, attempt: int, book: Phrasebook) -> SummarizerReply:
    """The goal, if none is given, and the instruction; from the second attempt with every name in full."""
    tellers = book.tellers(view.subtasks)
    goal = view.goal or Telling(tellers, view.links).goal()
    key = "\n".join(subtask.instruction for subtask in view.subtasks)
    telling = Telling(tellers, view.links, explicit=attempt > 0)
    text = telling.instruction([subtask.number for subtask in view.subtasks])
    opening = Random(f"{key}\0{attempt}").choice(_OPENINGS)
    uses = dict.fromkeys(view.uses.values())
    opening = f"For {next(iter(uses))}, {opening.lower()}" if len(uses) == 1 else opening
    text = opening + text[:1].lower() + text[1:] if opening else text
    return SummarizerReply(goal=goal, instruction=text)


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
        short. The same asked of several things, one after the other, is one request. A sentence over several
        applications names them all."""
        pairs = {(link.producer, link.consumer) for link in self.links}
        sentences: list[list[str]] = []
        before = 0
        for group, following in pairwise([*self._together(order), []]):
            goes_on = (before, group[0]) in pairs and len(sentences[-1]) == 1
            applications = {self.tellers[number].application for number in (group[-1], *following[:1])}
            if not goes_on and len(applications) > 1 and (group[-1], following[0]) in pairs:
                self._application = ""
            text = self.request(*group)
            joined = [*sentences[-1], text] if goes_on else []
            before = group[-1]
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

    def request(self, *numbers: int) -> str:
        """The request for a subtask, or for several that differ in one thing that they read; what they make
        then counts as spoken of."""
        tellers = [self.tellers[number] for number in numbers]
        words = self._filled(*tellers)
        for teller in tellers:
            for item in teller.outputs:
                self._mention(item, teller.number)
        self._application = tellers[0].application
        return " ".join(words.split())

    def _together(self, order: Sequence[int]) -> list[list[int]]:
        """The subtasks in their order, those together that are asked for in one request."""
        groups: list[list[int]] = []
        holes: set[int] = set()
        for number in order:
            group = groups[-1] if groups and not self.explicit else []
            found = {_differs(self.tellers[other], self.tellers[number]) for other in group}
            if len(found | holes) == 1 and -1 not in found:
                group.append(number)
                holes = found
            else:
                groups.append([number])
                holes = set()
        return groups

    def _filled(self, teller: Teller, *others: Teller) -> str:
        values = with_path_parts(teller.parameters)
        words, skips = "", False
        differing = {_differs(teller, other) for other in others}
        for place, part in enumerate(parts_of(teller.phrase)):
            if part.kind == "opening":
                skips = teller.application == self._application
            elif part.kind == "closing":
                skips = False
                self._application = teller.application
            elif skips:
                continue
            elif part.kind == "words":
                words += part.text
            elif place in differing:
                words += self._list_of(place, (teller, *others))
            elif (thing := teller.reads(part.text)) is not None:
                words += self._words_for(thing, teller, behind=words)
            else:
                value = values[part.text]
                words += value if words.endswith(_QUOTES) or part.text == WHOLE else name(value)
        return words

    def _list_of(self, place: int, readers: Sequence[Teller]) -> str:
        """What subtasks read there, each by its name: "the text file" before a name would be taken for it."""
        names = []
        for reader in readers:
            if (thing := _thing_at(reader, place)) is not None:
                self._mention(thing, self._maker(thing, reader))
                names.append(named(thing))
        return f"{', '.join(names[:-1])} and {names[-1]}"

    def _words_for(self, thing: Thing, reader: Teller, behind: str = "") -> str:
        """The words for something that is read: its name at first, and those for its kind while that is clear
        and they do not repeat a word that stands just before: not "the texts of the text file"."""
        maker = self._maker(thing, reader)
        key = _key(thing, maker)
        recent = list(self._mentioned)[-_RECENT:]
        again = thing.category.again
        alone = [known for known, words in self._mentioned.items() if words == again] == [key]
        self._mention(thing, maker)
        before = (word.removesuffix("s") for word in behind.split()[-_JUST_BEFORE:])
        repeats = not set(again.split()[1:]).isdisjoint(before)
        clear = again and alone and key in recent and not self.explicit
        return named(thing) if repeats or not clear else again

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


def _differs(one: Teller, other: Teller) -> int:
    """At which part of their phrases two subtasks, alike otherwise, read different things; -1 if at none."""
    if one.application != other.application or one.frame != other.frame:
        return -1
    first, second = with_path_parts(one.parameters), with_path_parts(other.parameters)
    places = [
        place
        for place, (here, there) in enumerate(zip(parts_of(one.phrase), parts_of(other.phrase), strict=True))
        if here.kind == "hole" and first.get(here.text) != second.get(there.text)
    ]
    things = [_thing_at(teller, place) for teller in (one, other) for place in places]
    return places[0] if len(things) == 2 and all(thing and thing.value for thing in things) else -1


def _thing_at(teller: Teller, place: int) -> Thing | None:
    return teller.reads(list(parts_of(teller.phrase))[place].text)


def _key(thing: Thing, maker: int | None) -> tuple[str, str, str]:
    return thing.category.name, thing.place, f"made by {maker}" if thing.category.is_slot else thing.value


def _sentence(text: str) -> str:
    ends = (".”", "!”", "?”", ".", "?", "!")
    return f"{text[:1].upper()}{text[1:].rstrip(' ,')}{'' if text.endswith(ends) else '.'}"
