"""One subtask told in one clause, as a request or as a wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from taskloom.offline.telling.phrasebook import Phrasebook, Teller, name, parts_of
from taskloom.offline.telling.references import Discourse, Entity
from taskloom.offline.telling.sentences import enumerated
from taskloom.prompts.inputs import ResourceLink
from taskloom.resources.path_parts import with_path_parts

Mood = Literal["request", "wish"]

_QUOTES = ("“", "`", "'")
_WRITES = "to write "
"""What stands before a product that can be called by its name: something is exported to a path, but it is a
plan that is written."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The subtasks of a task and what flows between them, as the teller sees it."""

    tellers: Mapping[int, Teller]
    """The subtasks by number."""
    links: Sequence[ResourceLink]
    """The dependencies."""

    def producer(self, consumer: int, category: str, value: str) -> int | None:
        """Who makes what `consumer` reads; None where it is there from the start."""
        for link in self.links:
            if link.consumer == consumer and link.category == category and value in ("", link.value):
                return link.producer
        return None

    def takes_away(self, number: int) -> set[int]:
        """The subtasks that read what a subtask moves, renames or deletes, so that they come before it."""
        taken = {(item.category, item.value) for item in self.tellers[number].inputs if item.consumed}
        return {
            other
            for other, teller in self.tellers.items()
            if other != number and taken & {(item.category, item.value) for item in teller.inputs}
        }

    def are_of_one(self, number: int, other: int) -> bool:
        """Whether two subtasks of one application read what the same subtask makes."""
        if self.tellers[number].application != self.tellers[other].application:
            return False
        producers = [
            {link.producer for link in self.links if link.consumer == item} for item in (number, other)
        ]
        return bool(producers[0] & producers[1])

    def gathers(self, number: int) -> bool:
        """Whether a subtask makes a place that several others use."""
        consumers = {link.consumer for link in self.links if link.producer == number}
        return len(consumers) > 1 and not self.tellers[number].inputs

    def sinks(self) -> list[int]:
        """The subtasks whose results no other one reads."""
        producers = {link.producer for link in self.links}
        return [number for number in self.tellers if number not in producers]


def _phrase(teller: Teller, mood: Mood) -> str:
    """The phrase of a subtask in a mood; its request where it has no wish."""
    return (teller.phrases.wish if mood == "wish" else "") or teller.phrases.request


def _cut(phrase: str) -> tuple[str, str, str]:
    """A phrase before its first hole, the name in it, and what follows.

    >>> _cut("attach {csv_path}| to {page_title}")
    ('attach ', 'csv_path', '| to {page_title}')
    """
    before, _, after = phrase.partition("{")
    hole, _, rest = after.partition("}")
    return before, hole, rest


class Clauses:
    """Tells subtasks one after the other; knows what was told."""

    def __init__(
        self,
        graph: Graph,
        book: Phrasebook,
        *,
        embeds: bool,
        called: Mapping[str, str] | None = None,
    ) -> None:
        """Tell subtasks of `graph`; with `embeds`, what is copied is told by the words for what it is.

        `called` is what people call things, by their values.
        """
        self._graph, self.book, self.embeds = graph, book, embeds
        self.discourse = Discourse(book, called=called or {})
        self.told: set[int] = set()
        self.order_told: list[int] = []

    def tell(
        self, number: int, mood: Mood = "request", *, after_boundary: bool = False, pronouns: bool = True
    ) -> str:
        """The clause of a subtask, which then counts as told."""
        teller = self._graph.tellers[number]
        self.told.add(number)
        self.order_told.append(number)
        phrase = _phrase(teller, mood)
        if after_boundary:
            phrase = phrase.partition("|")[2]
        text, objects = self._filled(phrase, teller, mood, pronouns)
        text += self._unsaid_needs(teller)
        made = self._made(teller)
        self.discourse.focus = None if after_boundary else self._focus(phrase, teller, made, objects)
        for entity in made:
            self.discourse.mention(entity)
        return " ".join(text.split())

    def frame(self, number: int, mood: Mood = "request") -> tuple[str, ...]:
        """What requests have in common that say the same of different things: "attach … to the page", with
        its values.

        Empty where the first thing that a phrase names is not read, or nothing that must be said follows it.
        """
        teller = self._graph.tellers[number]
        before, hole, rest = _cut(_phrase(teller, mood))
        if not rest.partition("[")[0].strip(" |") or teller.reads(hole) is None:
            return ()
        values = with_path_parts(teller.parameters)
        filled = [values.get(part.text, part.text) for part in parts_of(rest) if part.kind != "boundary"]
        return (teller.application, before, *filled)

    def tell_together(self, numbers: Sequence[int], mood: Mood = "request") -> str:
        """One clause for subtasks of one frame: what is said of all of their first things."""
        texts: list[str] = []
        rest = ""
        numbers = sorted(numbers, key=self._place_in_list)
        for number in numbers:
            teller = self._graph.tellers[number]
            before, hole, rest = _cut(_phrase(teller, mood))
            texts.append(self._filled(f"{'' if texts else before}{{{hole}}}", teller, mood, False)[0])
            self.told.add(number)
            self.order_told.append(number)
        last = self._graph.tellers[numbers[-1]]
        ending, _ = self._filled(rest, last, mood, False)
        for number in numbers:
            for entity in self._made(self._graph.tellers[number]):
                self.discourse.mention(entity)
        self.discourse.focus = None
        return " ".join((enumerated(texts) + ending).split())

    def _focus(
        self, phrase: str, teller: Teller, made: Sequence[Entity], objects: Sequence[Entity]
    ) -> Entity | None:
        """What "it" is taken for afterwards: what was asked for if that is the object of the verb, else
        nothing."""
        first = next((part.text for part in parts_of(phrase) if part.kind == "hole"), "")
        if made:
            return made[0] if first == teller.outputs[0].hole else None
        return objects[0] if len(objects) == 1 else None

    def can_be_told(self, number: int) -> bool:
        """Whether everything that a subtask reads was told, or is told with it."""
        producers = {link.producer for link in self._graph.links if link.consumer == number}
        return all(
            producer in self.told or (self.tells_inside(producer) and self.can_be_told(producer))
            for producer in producers
        )

    def tells_inside(self, number: int) -> bool:
        """Whether a subtask gets no clause of its own, because the words for what it makes ask for it."""
        return self.embeds and self.book.says_all(self._graph.tellers[number])

    def _place_in_list(self, number: int) -> int:
        """What was just made comes first, because it was spoken of last."""
        hole = _cut(_phrase(self._graph.tellers[number], "request"))[1]
        read = self._graph.tellers[number].reads(hole)
        producer = self._graph.producer(number, read.category, read.value) if read is not None else None
        return int(producer is None)

    def head(self, number: int, mood: Mood = "request") -> tuple[str, ...]:
        """What requests that can be told in one have in common; empty where the phrase has no boundary."""
        teller = self._graph.tellers[number]
        phrase = _phrase(teller, mood)
        head, boundary, _ = phrase.partition("|")
        if not boundary:
            return ()
        values = [teller.parameters.get(part.text, "") for part in parts_of(head) if part.kind == "hole"]
        return (teller.application, head, *values)

    def _filled(self, phrase: str, teller: Teller, mood: Mood, pronouns: bool) -> tuple[str, list[Entity]]:
        """The words of a phrase, and what they speak of."""
        known = self._is_known_by_its_records(teller)
        values = with_path_parts(teller.parameters)
        words, objects, skipping = "", list[Entity](), False
        for part in parts_of(phrase):
            if part.kind == "opening":
                skipping = not self._names_application(teller, known)
            elif part.kind == "closing":
                if not skipping:
                    self.discourse.applications.append(teller.application)
                skipping = False
            elif skipping or part.kind == "boundary":
                continue
            elif part.kind == "words":
                words += part.text
            elif (needed := teller.reads(part.text)) is not None:
                producer = self._graph.producer(teller.number, needed.category, needed.value)
                entity = self.discourse.entity(needed.category, teller.application, needed.value, producer)
                words += self._noun(producer, entity, mood, pronouns and len(words.split()) == 1)
                objects.append(entity)
            elif words.endswith(_QUOTES):
                words += values[part.text]
            elif (
                words.endswith(_WRITES)
                and (product := teller.makes(part.text)) is not None
                and product.value in self.discourse.called
            ):
                words += self.discourse.named(
                    self.discourse.entity(product.category, teller.application, product.value, teller.number)
                )
            else:
                words += values[part.text] if part.text == "instruction" else name(values[part.text])
        if teller.application in words:
            self.discourse.applications.append(teller.application)
        return words.replace(",,", ","), objects

    def _noun(self, producer: int | None, entity: Entity, mood: Mood, pronoun: bool) -> str:
        """The words for something that is read: the product of a subtask that is not told yet, or a
        reference."""
        known = entity in self.discourse.mentioned
        if producer is None or not self._graph.tellers[producer].phrases.product:
            return self.discourse.words_for(entity, pronoun=pronoun)
        maker = self._graph.tellers[producer]
        if maker.phrases.after and self.order_told[-2:-1] == [producer]:
            self.discourse.mention(entity)
            return maker.phrases.after
        if known or producer in self.told:
            if known and self.book.says_all(maker) and self.discourse.is_ambiguous(entity):
                return self._filled(maker.phrases.product, maker, mood, False)[0]
            return self.discourse.words_for(entity, pronoun=pronoun)
        whole = self.book.says_all(maker)
        told_by_name = bool(entity[2]) and "{" not in maker.phrases.product
        if not (self.embeds and whole) and (mood != "wish" or told_by_name):
            return self.discourse.words_for(entity, pronoun=pronoun)
        if whole:
            self.told.add(producer)
            for made in self._made(maker):
                self.discourse.mention(made)
        words, _ = self._filled(maker.phrases.product, maker, mood, False)
        self.discourse.mention(entity)
        return words

    def _made(self, teller: Teller) -> list[Entity]:
        """What a subtask leaves behind, best first: files and records before what is open on the screen."""
        found = []
        for item in teller.outputs:
            producing = self.discourse.entity(item.category, teller.application, item.value, teller.number)
            if not item.category.endswith("_in_processing") or len(teller.outputs) == 1:
                found.append(producing)
        return found

    def _unsaid_needs(self, teller: Teller) -> str:
        """What a subtask without phrases reads, where its own words do not say it."""
        if teller.is_curated:
            return ""
        said = []
        for link in self._graph.links:
            if link.consumer == teller.number and (
                not link.value or link.value not in teller.parameters["instruction"]
            ):
                maker = self._graph.tellers[link.producer]
                entity = self.discourse.entity(link.category, maker.application, link.value)
                said.append(self.discourse.named(entity))
        return f" with {' and '.join(dict.fromkeys(said))}" if said else ""

    def _names_application(self, teller: Teller, known: bool) -> bool:
        """Whether the application must be named: at first, and where it changes and nothing else gives it
        away."""
        named = self.discourse.applications
        return teller.application not in named or (named[-1] != teller.application and not known)

    def _is_known_by_its_records(self, teller: Teller) -> bool:
        """Whether something of its application that a subtask reads was mentioned before."""
        read = (
            self.discourse.entity(item.category, teller.application, item.value) for item in teller.inputs
        )
        return any(entity[1] and entity in self.discourse.mentioned for entity in read)
