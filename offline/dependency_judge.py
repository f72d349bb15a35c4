"""Dependency judge by rule: reads the instruction alone, as a careful reader would, and never sees a graph.

It finds the places of the text that ask for each subtask, and asks what the words there refer to.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskloom.offline.phrasebook import Phrasebook, Teller, Thing, named, parts_of
from taskloom.prompts.inputs import DependencyJudgeInput
from taskloom.prompts.replies import DependencyJudgeReply, DependencyPair
from taskloom.taskgraph.records.subtask import with_path_parts

_PURPOSE = re.compile(r"^For [^,.]+, ")
"""What it is all for, which asks for nothing."""
_MOST_BETWEEN = 3
"""Most words between two requests that ask for nothing themselves."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that asks for a subtask."""

    number: int
    start: int
    end: int
    holes: Mapping[str, str]
    """The words that stand for what it reads, by hole."""

    def is_listed_with(self, other: "Mention") -> bool:
        """Whether the same words ask the same of another thing, too."""
        same = (self.start, self.end) == (other.start, other.end)
        return same and list(self.holes.values()) != list(other.holes.values())


def infer(view: DependencyJudgeInput, book: Phrasebook) -> DependencyJudgeReply:
    """The direct dependencies that the words state, the subtasks they leave out, and what else they ask."""
    reader = _Reader(" ".join(view.instruction.split()), book.tellers(view.subtasks))
    pairs = {
        (producer, number)
        for number in reader.found
        for thing in reader.tellers[number].inputs
        for producer in reader.sources(number, thing)
    }
    return DependencyJudgeReply(
        dependencies=[DependencyPair(before=before, after=after) for before, after in sorted(pairs)],
        not_asked_for=sorted(reader.tellers.keys() - reader.found.keys()),
        not_listed=list(reader.besides()),
    )


class _Reader:
    def __init__(self, text: str, tellers: Mapping[int, Teller]) -> None:
        self.text, self.tellers = _PURPOSE.sub("", text), tellers
        self.found: dict[int, Mention] = {}
        things = [thing for teller in tellers.values() for thing in teller.inputs]
        self._item = "|".join(sorted({words for thing in things for words in _ways(thing)}, key=len)[::-1])
        candidates = [mention for teller in tellers.values() for mention in self._requests(teller)]
        for mention in sorted(candidates, key=lambda item: (item.start - item.end, item.start, item.number)):
            apart = all(
                mention.end <= other.start or other.end <= mention.start or mention.is_listed_with(other)
                for other in self.found.values()
            )
            if apart and mention.number not in self.found and self._is_understood(mention):
                self.found[mention.number] = mention

    def sources(self, number: int, thing: Thing) -> list[int]:
        """The subtasks told before that make what a subtask reads; for a slot, the last of them."""
        start = self.found[number].start
        told = sorted(
            (mention.start, mention.number)
            for mention in self.found.values()
            if mention.start < start and self.tellers[mention.number].makes(thing)
        )
        return [maker for _, maker in (told[-1:] if thing.category.is_slot else told)]

    def besides(self) -> Iterator[str]:
        """Passages that ask for something else: several words, or a name, that no mention accounts for."""
        titles = {word for teller in self.tellers.values() for word in teller.application.split()}
        passages: list[list[str]] = [[]]
        for match in re.finditer(r"[“`][^”`]*[”`]|\S+", self.text):
            word = match.group()
            covered = any(item.start <= match.start() < item.end for item in self.found.values())
            if not covered and word.strip(".,;:!?'’") not in titles:
                passages[-1].append(word)
            if covered or word.endswith((".", "!", "?")):
                passages.append([])
        for passage in passages:
            if len(passage) > _MOST_BETWEEN or any(word[0] in "“`" or "/" in word for word in passage):
                yield " ".join(passage)

    def _requests(self, teller: Teller) -> Iterator[Mention]:
        pattern = rf"(?<![\w/]){self._pattern(teller)}(?![\w/])"
        for match in re.finditer(pattern, self.text, re.IGNORECASE):
            yield Mention(teller.number, *match.span(), match.groupdict())

    def _pattern(self, teller: Teller) -> str:
        values = with_path_parts(teller.parameters)
        pattern = ""
        for part in parts_of(teller.phrase):
            thing = teller.reads(part.text) if part.kind == "hole" else None
            if part.kind == "opening":
                pattern += "(?:"
            elif part.kind == "closing":
                pattern += ")?,?"
            elif part.kind == "words":
                pattern += re.escape(re.sub("[“”`]", "", part.text))
            elif thing is None:
                pattern += _literal(values[part.text])
            else:
                own = f"(?P<{part.text}>{'|'.join(_ways(thing))})"
                before = f"(?:(?:{self._item})(?:, (?:{self._item}))*(?:,| and) )?"
                after = f"(?:(?:, (?:{self._item}))* and (?:{self._item}))?"
                pattern += f"{before}{own}{after}" if thing.value and not thing.category.is_slot else own
        return pattern

    def _is_understood(self, mention: Mention) -> bool:
        """Whether the words can only be taken for this subtask.

        No other application is named with them, nor is the last one named that would be asked alike; and
        those for a kind ("the page") mean what it reads, the last of that kind that the text has named.
        """
        own = self.tellers[mention.number].application
        others = "|".join(
            re.escape(teller.application) for teller in self.tellers.values() if teller.application != own
        )
        after = self.text[mention.end :]
        if others and re.match(rf" \w+ (?:{others})(?!\w)", after, re.IGNORECASE):
            return False
        if self._meant(mention) not in ("", own):
            return False
        for hole, words in mention.holes.items():
            thing = self.tellers[mention.number].reads(hole)
            if thing is None or thing.category.is_slot or words.casefold() != thing.category.again.casefold():
                continue
            before = self.text[: mention.start]
            things = (item for teller in self.tellers.values() for item in (*teller.inputs, *teller.outputs))
            places = {
                item.value: max(
                    (found.end() for found in re.finditer(_literal(item.value), before)), default=-1
                )
                for item in things
                if item.value and item.category.again == thing.category.again
            }
            if places[thing.value] < max(places.values()) or places[thing.value] < 0:
                return False
        return True

    def _meant(self, mention: Mention) -> str:
        """The application that words without its name are about, of those that would be asked in the same
        words: the last named before; empty where the words name one, or none was named."""
        asked = self.tellers[mention.number].frame
        able = {teller.application for teller in self.tellers.values() if teller.frame == asked}
        places = {name: self.text.rfind(name, 0, mention.end) for name in able}
        last = max(places, key=lambda name: places[name])
        return "" if len(able) == 1 or not -1 < places[last] < mention.start else last


def _ways(thing: Thing) -> list[str]:
    """Patterns of the words for a thing."""
    ways = [re.escape(words) for words in (named(thing), thing.category.again) if words]
    return [*ways, _literal(thing.value)] if thing.value else ways


def _literal(value: str) -> str:
    return rf"[“`'\"]?{re.escape(' '.join(value.split()))}[”`'\"]?(?![\w/])"
