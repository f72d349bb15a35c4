"""Words for resources: named at first, "it", "the page" or their name again afterwards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskloom.offline.telling.phrasebook import Phrasebook, name

_RECENT = 3
"""How many things, files or others, may have been mentioned since for one to be called by the words for its
kind."""
_MOST_INTRODUCED = 5
"""Most things of which it is said what they are called: more would be a glossary."""

Entity = tuple[str, str, str]
"""Category, place (an application, or of a slot who filled it) and value (none of a slot that somebody
filled)."""


def _is_plain(name: str) -> bool:
    """Whether a name of a record could be words of the sentence itself, so that it is quoted: "the flow
    “Revenue”"."""
    return " " in name or re.fullmatch(r"[A-Z][a-z]+", name) is not None


@dataclass(slots=True)
class Discourse:
    """What was mentioned so far."""

    book: Phrasebook
    """The phrases of the catalogue."""
    mentioned: dict[Entity, None] = field(default_factory=dict)
    """Everything that has been named."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What people call things, by their values."""
    introduced: dict[str, str] = field(default_factory=dict)
    """What was told of this, by value."""
    focus: Entity | None = None
    """What "it" would be taken for."""
    applications: list[str] = field(default_factory=list)
    """Applications named so far, the last one last."""

    def entity(self, category: str, application: str, value: str, maker: int | None = None) -> Entity:
        """The resource as something to speak of; what fills a slot is known by its `maker`."""
        if maker is not None and self.book.is_slot(category):
            return category, f"made by {maker}", ""
        return category, "" if self.book.is_shared(category) else application, value

    def mention(self, entity: Entity) -> None:
        """Count something as named."""
        self.mentioned.pop(entity, None)
        self.mentioned[entity] = None

    def words_for(self, entity: Entity, *, pronoun: bool) -> str:
        """The words for `entity`, which then counts as mentioned."""
        known = entity in self.mentioned
        since = self._mentioned_since(entity) if known else 0
        self.mention(entity)
        if known and pronoun and entity == self.focus:
            return "it"
        if known and entity[2] in self.introduced:
            return self.introduced[entity[2]]
        again = self._again(entity)
        if not known or not again or since >= _RECENT:
            return self.named(entity)
        if not self.is_ambiguous(entity) or (not since and not self.is_ambiguous(entity, unnamed=True)):
            return again
        if since or not pronoun or not again.startswith("the "):
            return self.named(entity)
        return "that file" if self.book.is_file(entity[0]) else f"that {again.removeprefix('the ')}"

    def _mentioned_since(self, entity: Entity) -> int:
        """How many other files were mentioned after a file, or other things after another thing."""
        order = list(self.mentioned)
        is_file = self.book.is_file(entity[0])
        return sum(self.book.is_file(other[0]) == is_file for other in order[order.index(entity) + 1 :])

    def named(self, entity: Entity) -> str:
        """The words for `entity` when it is mentioned for the first time."""
        category, _, value = entity
        known = self.book.categories.get(category)
        pattern = known.named if known is not None else ""
        words = self._called(entity)
        if words:
            self.introduced[value] = words
            return f"{words} ({name(value)})"
        if not pattern:
            words = (
                category.removesuffix("_in_processing").removesuffix("_in_clipboard").removesuffix("_path")
            )
            return name(value) if value else f"the {words.replace('_', ' ')}"
        after_its_kind = not pattern.startswith("{value}")
        return (
            pattern.replace("{value}", f"“{value}”" if after_its_kind and _is_plain(value) else name(value))
            if value or "{value}" not in pattern
            else self._again(entity)
        )

    def _called(self, entity: Entity) -> str:
        """What people call something, if it can stand for it: for files, and for records whose kind it
        names."""
        category, _, value = entity
        words = self.called.get(value, "")
        kind = self._again(entity).rpartition(" ")[2]
        clear = self.book.is_file(category) or (kind and kind in words)
        full = len(self.introduced) >= _MOST_INTRODUCED or value in self.introduced
        return "" if full or not clear or re.search(r"\b(and|then)\b|[(),]", words) else words

    def _again(self, entity: Entity) -> str:
        known = self.book.categories.get(entity[0])
        return known.again if known is not None else ""

    def is_ambiguous(self, entity: Entity, *, unnamed: bool = False) -> bool:
        """Whether something else that was mentioned would be called the same; with `unnamed`, without a name
        of its own."""
        words = self._again(entity)
        return any(
            other != entity
            and (other[2] != entity[2] or not entity[2])
            and self._again(other) == words
            and not (unnamed and other[2] in self.introduced)
            for other in self.mentioned
        )
