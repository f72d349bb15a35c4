"""The phrases of subtasks: from the catalogue, or made of the instruction where the catalogue has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from taskloom.prompts.inputs import NumberedSubtask, ResourceInView
from taskloom.resources.applications import Application, ExampleSubtask, ResourceDeclaration, SubtaskPhrases
from taskloom.resources.categories import ResourceCategory, ResourceKind

_TOKEN = re.compile(r"(\{[a-z][a-z0-9_]*\}|\[|\]|\|)")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a phrase."""

    kind: str
    """`words`, `hole`, `opening`, `closing` (of what may be left out) or `boundary`."""
    text: str
    """Its words, or the name in the hole."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that a subtask reads or makes."""

    category: str
    """Its resource category."""
    value: str
    """Its value; empty for a slot."""
    hole: str = ""
    """The hole of the phrases that stands for it; empty where the phrases have none."""
    consumed: bool = False
    """Whether it is no longer there afterwards."""


@dataclass(frozen=True, slots=True)
class Teller:
    """A subtask of a task, with all that is needed to speak of it."""

    number: int
    """Its number in the question."""
    subtask_id: str
    """Its id."""
    application: str
    """Name that people use for its application."""
    parameters: Mapping[str, str]
    """Its values."""
    phrases: SubtaskPhrases
    """How people speak of it."""
    inputs: tuple[Thing, ...]
    """What it reads."""
    outputs: tuple[Thing, ...]
    """What it makes."""
    is_curated: bool = True
    """Whether its phrases are the catalogue's."""

    def reads(self, hole: str) -> Thing | None:
        """The input that a hole of a phrase stands for."""
        return next((item for item in self.inputs if item.hole and item.hole == hole), None)

    def makes(self, hole: str) -> Thing | None:
        """The output that a hole of a phrase stands for; None for what is read as well."""
        made = next((item for item in self.outputs if item.hole and item.hole == hole), None)
        return None if self.reads(hole) is not None else made


class Phrasebook:
    """The phrases of the catalogue, by subtask."""

    def __init__(
        self, applications: Mapping[str, Application], categories: Mapping[str, ResourceCategory]
    ) -> None:
        """Index the curated subtasks of `applications`."""
        self.categories = categories
        self._entries: dict[str, ExampleSubtask] = {
            f"{name}.{example.name}": example
            for name, application in applications.items()
            for example in application.example_subtasks
        }

    def teller(self, subtask: NumberedSubtask) -> Teller:
        """What is needed to speak of `subtask`; one without phrases is told in the words of its
        instruction."""
        entry = self._entries.get(subtask.subtask_id)
        known = entry is not None and set(subtask.parameters) == set(entry.parameter_sets[0])
        if entry is not None and known and entry.phrases.request:
            return Teller(
                subtask.number,
                subtask.subtask_id,
                subtask.application,
                subtask.parameters,
                entry.phrases,
                tuple(_thing(item, subtask.parameters) for item in entry.inputs),
                tuple(_thing(item, subtask.parameters) for item in entry.outputs),
            )
        words = embedded(subtask.instruction, subtask.application)
        place = "" if subtask.application in words else f"[ in {subtask.application}]"
        return Teller(
            subtask.number,
            subtask.subtask_id,
            subtask.application,
            {"instruction": words},
            SubtaskPhrases(request="{instruction}" + place),
            tuple(Thing(item.category, self._document(item)) for item in subtask.reads),
            tuple(Thing(item.category, self._document(item)) for item in subtask.makes),
            is_curated=False,
        )

    def is_slot(self, category: str) -> bool:
        """Whether resources of a category are in the clipboard or on the screen, and no files or records."""
        known = self.categories.get(category)
        return known is not None and known.is_slot

    def is_file(self, category: str) -> bool:
        """Whether resources of a category are files."""
        known = self.categories.get(category)
        return known is not None and known.kind is ResourceKind.FILE

    def is_shared(self, category: str) -> bool:
        """Whether every application sees the resources of a category."""
        known = self.categories.get(category)
        return known is not None and known.kind in (ResourceKind.FILE, ResourceKind.CLIPBOARD)

    def says_all(self, teller: Teller) -> bool:
        """Whether the words for what a subtask makes say all that is to be done: which text is copied, what
        is opened."""
        holes = [part.text for part in parts_of(teller.phrases.product) if part.kind == "hole"]
        return (
            bool(teller.phrases.product)
            and all(self.is_slot(item.category) for item in teller.outputs)
            and all(parameter in holes for parameter in teller.parameters)
        )

    def _document(self, resource: ResourceInView) -> str:
        return "" if self.is_slot(resource.category) else resource.value


def _thing(declaration: ResourceDeclaration, parameters: Mapping[str, str]) -> Thing:
    hole = declaration.parameter or declaration.category
    return Thing(
        declaration.category, parameters.get(declaration.parameter, ""), hole, consumed=declaration.consumed
    )


def parts_of(phrase: str) -> list[Part]:
    """A phrase cut into its parts.

    >>> [part.kind for part in parts_of("attach {csv_path} to {page_title}[ in Trac]")]
    ['words', 'hole', 'words', 'hole', 'opening', 'words', 'closing']
    """
    kinds = {"[": "opening", "]": "closing", "|": "boundary"}
    found = []
    for text in _TOKEN.split(phrase):
        if text.startswith("{") and text.endswith("}") and len(text) > 2:
            found.append(Part("hole", text[1:-1]))
        elif text:
            found.append(Part(kinds.get(text, "words"), text))
    return found


def embedded(instruction: str, application: str) -> str:
    """An instruction as part of a sentence that names the application elsewhere.

    >>> embedded("In Trac, create the ticket 'x'.", "Trac")
    "create the ticket 'x'"
    """
    text = instruction.strip().removesuffix(".").removeprefix(f"In {application}, ")
    if len(text) > 1 and text[0].isupper() and not text[1].isupper():
        return text[0].lower() + text[1:]
    return text


def name(value: str) -> str:
    """A value as a name in a sentence: in quotation marks where it is more than one word, and not all of them
    capital.

    >>> name("Documents/sales.csv"), name("New York"), name("Update the printer driver")
    ('Documents/sales.csv', 'New York', '“Update the printer driver”')
    """
    one_word = re.fullmatch(r"[\w/:@+-]+(?:\.[\w/:@+-]+)*(?: [A-Z]{3})?", value)
    return value if one_word or re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)*", value) else f"“{value}”"
