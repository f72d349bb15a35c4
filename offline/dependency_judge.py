"""Dependency judge by rule: reads the instruction alone, as a careful reader would, and never sees a graph.

It knows the catalogue's phrases and what subtasks read and make. It finds the places of the text that ask for
each subtask, and asks what the words there refer to. It shares no sentences and no order with the summarizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.offline.phrasebook import Phrasebook, Teller, Thing, named, parts_of
from taskloom.prompts.inputs import DependencyJudgeInput
from taskloom.prompts.replies import DependencyJudgeReply, DependencyPair
from taskloom.resources.path_parts import with_path_parts

_MOST_BETWEEN = 3
"""Most words between two requests that ask for nothing themselves."""
_DEEPEST = 3
"""How many products may stand in each other's words: the text of the page with the text of the note."""
_ELEMENT = r"(?:[^,.;]|\.\w)+?"
_LIST_BEFORE, _LIST_AFTER = rf"(?:{_ELEMENT}(?:, | and ))*?", rf"(?:(?:, | and ){_ELEMENT})*?"


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that asks for a subtask."""

    number: int
    start: int
    """Where what only this subtask says begins: all of it, or its element of a list."""
    end: int
    covered: tuple[tuple[int, int], ...]
    """The places that it accounts for."""
    holes: Mapping[str, str]
    """The words that stand for what it reads, by hole."""


def infer(view: DependencyJudgeInput, book: Phrasebook) -> DependencyJudgeReply:
    """The direct dependencies that the words state, the subtasks they leave out, and what they ask for
    besides."""
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
    """The mentions of subtasks in one text."""

    def __init__(self, text: str, tellers: Mapping[int, Teller]) -> None:
        self.text, self.tellers = text, tellers
        self.found: dict[int, Mention] = {}
        candidates = [mention for teller in tellers.values() for mention in self._requests(teller)]
        taken: list[tuple[int, int]] = []
        for mention in sorted(candidates, key=lambda item: (item.start - item.end, item.start, item.number)):
            apart = all(mention.end <= start or end <= mention.start for start, end in taken)
            if apart and mention.number not in self.found and self._is_understood(mention):
                self.found[mention.number] = mention
                taken.append((mention.start, mention.end))
        for teller in tellers.values():
            for match in self._matches(teller, teller.phrases.product):
                mention = _mention(teller, match)
                if teller.number not in self.found and self._is_understood(mention):
                    self.found[teller.number] = mention

    def sources(self, number: int, thing: Thing) -> set[int]:
        """The subtasks that make what a subtask reads, as the text has it: those that its words name, else
        those told before."""
        mention = self.found[number]
        makers = [
            teller
            for teller in self.tellers.values()
            if teller.number in self.found and teller.number != number and teller.makes(thing)
        ]
        words = mention.holes.get(thing.hole, "")
        naming = {teller.number for teller in makers if words and self._is_product(teller, words)}
        told = {teller.number for teller in makers if self.found[teller.number].start < mention.start}
        if naming or not thing.category.is_slot:
            return naming or told
        return {max(told, key=lambda maker: self.found[maker].start)} if told else set()

    def besides(self) -> Iterator[str]:
        """Passages that ask for something else: several words, or a name, that no mention accounts for."""
        spans = [span for mention in self.found.values() for span in mention.covered]
        titles = {word for teller in self.tellers.values() for word in teller.application.split()}
        passage: list[str] = []
        for match in re.finditer(r"[“`][^”`]*[”`]|\S+", self.text):
            word = match.group()
            covered = any(start <= match.start() < end for start, end in spans)
            if not covered and word.strip(".,;:!?'’") not in titles:
                passage.append(word)
            if covered or word.endswith((".", "!", "?")):
                if self._asks(passage):
                    yield " ".join(passage)
                passage = []
        if self._asks(passage):
            yield " ".join(passage)

    @staticmethod
    def _asks(passage: Sequence[str]) -> bool:
        return len(passage) > _MOST_BETWEEN or any(word[0] in "“`" or "/" in word for word in passage)

    def _requests(self, teller: Teller) -> Iterator[Mention]:
        """All places that could ask for a subtask: in its phrase, or as an element of a list in it."""
        phrase = teller.phrases.request
        for match in self._matches(teller, phrase):
            yield _mention(teller, match)
        for match in self._matches(teller, phrase, listed=True):
            start, end = match.span("element")
            yield _mention(
                teller,
                match,
                start,
                end,
                ((match.start(), match.start("list")), (start, end), (match.end("list"), match.end())),
            )

    def _matches(self, teller: Teller, phrase: str, *, listed: bool = False) -> Iterator[re.Match[str]]:
        """The places where a phrase stands: those that name what it is about, and all others."""
        for by_name in (True, False):
            pattern = self._pattern(teller, phrase, listed=listed, by_name=by_name) if phrase else ""
            if pattern:
                yield from re.finditer(rf"(?<![\w/]){pattern}(?![\w/])", self.text, re.IGNORECASE)

    def _pattern(
        self, teller: Teller, phrase: str, *, depth: int = 0, listed: bool = False, by_name: bool = False
    ) -> str:
        """What a phrase looks like in a text, with a group for everything that is read; empty where the first
        of these can be no list."""
        values = with_path_parts(teller.parameters)
        pattern, lists = "", listed
        for part in parts_of(phrase):
            thing = teller.reads(part.text) if part.kind == "hole" else None
            if part.kind == "opening":
                pattern += "(?:"
            elif part.kind == "closing":
                pattern += ")?,?"
            elif part.kind == "words":
                pattern += re.escape(re.sub("[“”`]", "", part.text))
            elif thing is None:
                if lists:
                    return ""
                pattern += _literal(values[part.text])
            else:
                ways = f"(?:{'|'.join(self._ways(teller, thing, depth, by_name=by_name))})"
                group = f"(?P<{part.text}>{ways})" if depth == 0 else ways
                if lists:
                    group = f"(?P<list>{_LIST_BEFORE}(?P<element>{group}){_LIST_AFTER})"
                pattern, lists, by_name = pattern + group, False, False
        return "" if lists else pattern

    def _ways(self, reader: Teller, thing: Thing, depth: int, *, by_name: bool) -> Iterator[str]:
        """What the words for something that is read look like."""
        yield re.escape(named(thing))
        if thing.value:
            yield _literal(thing.value)
        if thing.category.again and not by_name:
            yield re.escape(thing.category.again)
        for maker in self.tellers.values():
            if maker is not reader and maker.phrases.product and maker.makes(thing) and depth < _DEEPEST:
                yield self._pattern(maker, maker.phrases.product, depth=depth + 1)

    def _is_product(self, maker: Teller, words: str) -> bool:
        phrase = maker.phrases.product
        pattern = self._pattern(maker, phrase, depth=1) if phrase else ""
        return bool(pattern and re.fullmatch(pattern, words, re.IGNORECASE))

    def _is_understood(self, mention: Mention) -> bool:
        """Whether the words can only be taken for this subtask.

        No other application is named with them, nor is the last one named that would be asked alike; and
        those for a kind ("the page") mean what it reads, the last of that kind that the text has named.
        """
        own = self.tellers[mention.number].application
        others = "|".join(
            re.escape(teller.application) for teller in self.tellers.values() if teller.application != own
        )
        after = self.text[max(end for _, end in mention.covered) :]
        if others and re.match(rf" \w+ (?:{others})(?!\w)", after, re.IGNORECASE):
            return False
        if self._meant(mention) not in ("", own):
            return False
        for hole, words in mention.holes.items():
            thing = self.tellers[mention.number].reads(hole)
            if thing is None or thing.category.is_slot or words.casefold() != thing.category.again.casefold():
                continue
            before = self.text[: mention.start]
            places = {
                item.value: max(
                    (match.end() for match in re.finditer(_literal(item.value), before)), default=-1
                )
                for teller in self.tellers.values()
                for item in (*teller.inputs, *teller.outputs)
                if item.value and item.category.again == thing.category.again
            }
            if places[thing.value] < max(places.values()) or places[thing.value] < 0:
                return False
        return True

    def _meant(self, mention: Mention) -> str:
        """The application that words without its name are about, of those that would be asked in the same
        words: the last named before; empty where the words name one, or none was named."""
        asked = _frame(self.tellers[mention.number])
        able = {teller.application for teller in self.tellers.values() if _frame(teller) == asked}
        places = {name: self.text.rfind(name, 0, mention.end) for name in able}
        last = max(places, key=lambda name: places[name])
        return "" if len(able) == 1 or not -1 < places[last] < mention.start else last


def _frame(teller: Teller) -> str:
    """The words of a request without the name of the application and what it is about."""
    return re.sub(r"\[.*?\]|\{.*?\}", "", teller.phrases.request)


def _mention(
    teller: Teller,
    match: re.Match[str],
    start: int | None = None,
    end: int | None = None,
    covered: tuple[tuple[int, int], ...] = (),
) -> Mention:
    holes = {hole: words for hole, words in match.groupdict().items() if hole not in ("list", "element")}
    span = (match.start() if start is None else start, match.end() if end is None else end)
    return Mention(teller.number, *span, covered or (match.span(),), holes)


def _literal(value: str) -> str:
    """The pattern of a value, in quotation marks or without."""
    return rf"[“`'\"]?{re.escape(' '.join(value.split()))}[”`'\"]?(?![\w/])"
