"""One subtask told in one clause, as a request or as a wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from offline.telling.phrasebook import Phrasebook, Teller, name, parts_of
from offline.telling.references import Discourse, Entity
from prompts.inputs import ResourceLink
from resources.path_parts import with_path_parts

Mood = Literal["request", "wish"]

_QUOTES = ("“", "`", "'")


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

    def sinks(self) -> list[int]:
        """The subtasks whose results no other one reads."""
        producers = {link.producer for link in self.links}
        return [number for number in self.tellers if number not in producers]


class Clauses:
    """Tells subtasks one after the other; knows what was told."""

    def __init__(self, graph: Graph, book: Phrasebook, *, embeds: bool) -> None:
        """Tell subtasks of `graph`; with `embeds`, what is copied is told by the words for what it is."""
        self._graph, self.book, self.embeds = graph, book, embeds
        self.discourse = Discourse(book)
        self.told: set[int] = set()

    def tell(self, number: int, mood: Mood = "request", *, after_boundary: bool = False, pronouns: bool = True) -> str:
        """The clause of a subtask, which then counts as told."""
        teller = self._graph.tellers[number]
        self.told.add(number)
        phrase = (teller.phrases.wish if mood == "wish" else "") or teller.phrases.request
        if after_boundary:
            phrase = phrase.partition("|")[2]
        text, objects = self._filled(phrase, teller, mood, pronouns)
        text += self._unsaid_needs(teller, phrase)
        made = self._made(teller)
        self.discourse.focus = self._focus(phrase, teller, made, objects)
        for entity in made:
            self.discourse.mention(entity)
        return " ".join(text.split())

    def _focus(
        self, phrase: str, teller: Teller, made: Sequence[Entity], objects: Sequence[Entity]
    ) -> Entity | None:
        """What "it" is taken for afterwards: what was asked for if that is the object of the verb, else nothing."""
        first = next((part.text for part in parts_of(phrase) if part.kind == "hole"), "")
        if made:
            return made[0] if first == next((item.parameter for item in teller.outputs), "-") else None
        return objects[0] if len(objects) == 1 else None

    def head(self, number: int, mood: Mood = "request") -> tuple[str, ...]:
        """What requests that can be told in one have in common; empty where the phrase has no boundary."""
        teller = self._graph.tellers[number]
        phrase = (teller.phrases.wish if mood == "wish" else "") or teller.phrases.request
        head, boundary, _ = phrase.partition("|")
        if not boundary:
            return ()
        values = [teller.parameters.get(part.text, "") for part in parts_of(head) if part.kind == "hole"]
        return (teller.application, head, *values)

    def _filled(self, phrase: str, teller: Teller, mood: Mood, pronouns: bool) -> tuple[str, list[Entity]]:
        """The words of a phrase, and what they speak of."""
        place = self._names_application(teller)
        values = with_path_parts(teller.parameters)
        words, objects, skipping = "", list[Entity](), False
        for part in parts_of(phrase):
            if part.kind == "opening":
                skipping = not place
            elif part.kind == "closing":
                if not skipping:
                    self.discourse.applications.append(teller.application)
                skipping = False
            elif skipping or part.kind == "boundary":
                continue
            elif part.kind == "words":
                words += part.text
            elif (needed := teller.reads(part.text)) is not None:
                value = teller.value(needed)
                entity = self.discourse.entity(needed.category, teller.application, value)
                words += self._noun(teller, entity, mood, pronouns and "it" not in words.split())
                objects.append(entity)
            elif words.endswith(_QUOTES):
                words += values[part.text]
            else:
                words += values[part.text] if part.text == "instruction" else name(values[part.text])
        if teller.application in words:
            self.discourse.applications.append(teller.application)
        return words.replace(",,", ","), objects

    def _noun(self, teller: Teller, entity: Entity, mood: Mood, pronoun: bool) -> str:
        """The words for something that is read: the product of a subtask that is not told yet, or a reference."""
        category, _, value = entity
        producer = self._graph.producer(teller.number, category, value)
        if producer is None or producer in self.told:
            return self.discourse.words_for(entity, pronoun=pronoun)
        maker = self._graph.tellers[producer]
        means = self.book.is_means(category)
        if not maker.phrases.product or not (self.embeds and means or mood == "wish"):
            return self.discourse.words_for(entity, pronoun=pronoun)
        if means:
            self.told.add(producer)
            for made in self._made(maker):
                self.discourse.mention(made)
        words, _ = self._filled(maker.phrases.product, maker, mood, False)
        self.discourse.mention(entity)
        return words.replace("the new ", "a new ", 1) if words.startswith("the new ") else words

    def _made(self, teller: Teller) -> list[Entity]:
        """What a subtask leaves behind, best first: files and records before what is open on the screen."""
        found = []
        for item in teller.outputs:
            producing = self.discourse.entity(item.category, teller.application, teller.value(item))
            if not item.category.endswith("_in_processing") or len(teller.outputs) == 1:
                found.append(producing)
        return found

    def _unsaid_needs(self, teller: Teller, phrase: str) -> str:
        """What a subtask without phrases reads, where its own words do not say it."""
        if teller.inputs or teller.outputs:
            return ""
        said = []
        for link in self._graph.links:
            if link.consumer == teller.number and (not link.value or link.value not in teller.parameters["instruction"]):
                maker = self._graph.tellers[link.producer]
                entity = self.discourse.entity(link.category, maker.application, link.value)
                said.append(self.discourse.named(entity))
        return f" with {' and '.join(dict.fromkeys(said))}" if said else ""

    def _names_application(self, teller: Teller) -> bool:
        """Whether the application must be named: at first, and where it changes and nothing else gives it away."""
        named = self.discourse.applications
        if teller.application not in named:
            return True
        if named[-1] == teller.application:
            return False
        known = (
            self.discourse.entity(item.category, teller.application, teller.value(item)) for item in teller.inputs
        )
        return not any(entity[1] and entity in self.discourse.mentioned for entity in known)
