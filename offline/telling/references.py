"""Words for resources: named at first, "it", "the page" or their name again afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from offline.telling.phrasebook import Phrasebook, name
from resources.categories import ResourceKind

Entity = tuple[str, str, str]
"""Category, application (empty where it does not matter) and value or, of a slot, nothing."""


@dataclass(slots=True)
class Discourse:
    """What was mentioned so far."""

    book: Phrasebook
    """The phrases of the catalogue."""
    mentioned: dict[Entity, None] = field(default_factory=dict)
    """Everything that has been named."""
    focus: Entity | None = None
    """What "it" would be taken for."""
    applications: list[str] = field(default_factory=list)
    """Applications named so far, the last one last."""

    def entity(self, category: str, application: str, value: str) -> Entity:
        """The resource as something to speak of."""
        known = self.book.categories.get(category)
        anywhere = known is not None and known.kind in (ResourceKind.FILE, ResourceKind.CLIPBOARD)
        return category, "" if anywhere else application, value

    def mention(self, entity: Entity) -> None:
        """Count something as named."""
        self.mentioned.pop(entity, None)
        self.mentioned[entity] = None

    def words_for(self, entity: Entity, *, pronoun: bool) -> str:
        """The words for `entity`, which then counts as mentioned."""
        known = entity in self.mentioned
        self.mention(entity)
        if known and pronoun and entity == self.focus:
            return "it"
        again = self._again(entity)
        if known and again and not self._others_are_called(again, entity):
            return again
        return self.named(entity)

    def named(self, entity: Entity) -> str:
        """The words for `entity` when it is mentioned for the first time."""
        category, _, value = entity
        known = self.book.categories.get(category)
        pattern = known.named if known is not None else ""
        if not pattern:
            words = category.removesuffix("_in_processing").removesuffix("_in_clipboard").removesuffix("_path")
            return name(value) if value else f"the {words.replace('_', ' ')}"
        return pattern.replace("{value}", name(value)) if value or "{value}" not in pattern else self._again(entity)

    def _again(self, entity: Entity) -> str:
        known = self.book.categories.get(entity[0])
        return known.again if known is not None else ""

    def _others_are_called(self, words: str, entity: Entity) -> bool:
        return any(other != entity and self._again(other) == words for other in self.mentioned)
