"""The catalogue's phrases for the subtasks of a task, and what each subtask reads and makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.prompts.inputs import NumberedSubtask
from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.taskgraph.records.subtask import stem_of

_TOKEN = re.compile(r"(\{[a-z][a-z0-9_]*\}|\[|\])")
WHOLE = "instruction"
"""The hole of the request of a subtask that nobody wrote phrases for."""
_SHARED = (ResourceKind.FILE, ResourceKind.CLIPBOARD)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a phrase."""

    kind: str
    """`words`, `hole`, or `opening` and `closing` of the name of the application."""
    text: str
    """Its words, or the name in the hole."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that a subtask reads or makes."""

    category: ResourceCategory
    place: str
    """The application that it belongs to; empty for what all applications see."""
    value: str
    """Its value; may be empty for a slot."""
    hole: str = ""
    """The hole of the phrases that stands for it."""

    def serves(self, needed: Thing) -> bool:
        """Whether this, made by one subtask, can be what another one needs."""
        same = self.value == needed.value or (self.category.is_slot and "" in (self.value, needed.value))
        return self.category == needed.category and self.place == needed.place and same


@dataclass(frozen=True, slots=True)
class Teller:
    """A subtask of a task, with all that is needed to speak of it."""

    number: int
    application: str
    """Name that people use for its application."""
    parameters: Mapping[str, str]
    phrase: str
    """How people ask for it: the catalogue's phrase, or where it has none, its instruction."""
    inputs: tuple[Thing, ...]
    outputs: tuple[Thing, ...]

    @property
    def frame(self) -> str:
        """The words of the request without the name of the application and what it is about."""
        return re.sub(r"\[.*?\]|\{.*?\}", "{}", self.phrase)

    def reads(self, hole: str) -> Thing | None:
        """The input that a hole of a phrase stands for."""
        return next((item for item in self.inputs if item.hole == hole), None)

    def makes(self, needed: Thing) -> bool:
        """Whether it makes what another subtask needs."""
        return any(item.serves(needed) for item in self.outputs)


class Phrasebook:
    """The phrases of the catalogue, by subtask."""

    def __init__(
        self, applications: Mapping[str, Application], categories: Mapping[str, ResourceCategory]
    ) -> None:
        """Index the curated subtasks of `applications`."""
        self._categories = categories
        self._entries: dict[str, ExampleSubtask] = {
            f"{name}.{example.name}": example
            for name, application in applications.items()
            for example in application.example_subtasks
        }

    def tellers(self, subtasks: Sequence[NumberedSubtask]) -> dict[int, Teller]:
        """What is needed to speak of each subtask, by number."""
        return {subtask.number: self._teller(subtask) for subtask in subtasks}

    def _teller(self, subtask: NumberedSubtask) -> Teller:
        entry = self._entries.get(stem_of(subtask.subtask_id))
        known = entry is not None and set(subtask.parameters) == set(entry.parameter_sets[0])
        if entry is not None and known and entry.request:
            phrase = entry.request
            parameters = subtask.parameters
            inputs, outputs = (
                tuple(
                    self._thing(
                        item.category,
                        parameters.get(item.parameter, ""),
                        subtask.application,
                        item.parameter or item.category,
                    )
                    for item in declared
                )
                for declared in (entry.inputs, entry.outputs)
            )
        else:
            words = embedded(subtask.instruction, subtask.application)
            place = "" if subtask.application in words else f"[ in {subtask.application}]"
            phrase = f"{{{WHOLE}}}{place}"
            parameters = {WHOLE: words}
            inputs, outputs = (
                tuple(self._thing(item.category, item.value, subtask.application) for item in views)
                for views in (subtask.reads, subtask.makes)
            )
        return Teller(subtask.number, subtask.application, parameters, phrase, inputs, outputs)

    def _thing(self, name: str, value: str, application: str, hole: str = "") -> Thing:
        category = self._categories.get(name) or ResourceCategory(
            name=name, kind=ResourceKind.RECORD, description=name
        )
        place = "" if category.kind in _SHARED else application
        return Thing(category, place, value, hole)


def parts_of(phrase: str) -> Iterator[Part]:
    """A phrase cut into its parts.

    >>> [part.kind for part in parts_of("attach {csv_path} to {page_title}[ in Trac]")]
    ['words', 'hole', 'words', 'hole', 'opening', 'words', 'closing']
    """
    kinds = {"[": "opening", "]": "closing"}
    for text in filter(None, _TOKEN.split(phrase)):
        is_hole = text.startswith("{") and text.endswith("}")
        yield Part("hole", text[1:-1]) if is_hole else Part(kinds.get(text, "words"), text)


def embedded(instruction: str, application: str) -> str:
    """An instruction as part of a sentence that names the application elsewhere.

    >>> embedded("In Trac, create the ticket 'x'.", "Trac")
    "create the ticket 'x'"
    """
    text = instruction.strip().removesuffix(".").removeprefix(f"In {application}, ")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def name(value: str) -> str:
    """A value as a name in a sentence: in quotation marks where it is several words, and not all of them
    capital.

    >>> name("Documents/sales.csv"), name("New York"), name("Update the printer driver")
    ('Documents/sales.csv', 'New York', '“Update the printer driver”')
    """
    one_word = re.fullmatch(r"[\w/:@+-]+(?:\.[\w/:@+-]+)*(?: [A-Z]{3})?", value)
    return value if one_word or re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)*", value) else f"“{value}”"


def named(thing: Thing) -> str:
    """The words for something that is spoken of for the first time."""
    category = thing.category
    pattern = category.named or ("{value}" if thing.value else f"the {category.name.replace('_', ' ')}")
    return pattern.replace("{value}", name(thing.value))
