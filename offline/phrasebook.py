"""The catalogue's phrases for the subtasks of a task, and the resources that each subtask reads and makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.prompts.inputs import NumberedSubtask
from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.taskgraph.records.subtask import stem_of

_TOKEN = re.compile(r"(\{[a-z][a-z0-9_]*\}|\[|\])")
INSTRUCTION = "instruction"
"""The placeholder for the whole instruction of a subtask without phrases."""
_SHARED = (ResourceKind.FILE, ResourceKind.CLIPBOARD)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a phrase."""

    kind: str
    """`words`, `placeholder`, or the `opening` or `closing` of the application's name."""
    text: str
    """Its words, or the name in the placeholder."""


@dataclass(frozen=True, slots=True)
class NamedResource:
    """A resource that a subtask reads or makes."""

    category: ResourceCategory
    application: str
    """The application to which it belongs; empty if all applications see it."""
    value: str
    """Its value; may be empty for a slot."""
    placeholder: str = ""
    """The placeholder for it in the phrases."""

    def serves(self, needed: NamedResource) -> bool:
        """Whether this resource, made by one subtask, can be the one that another needs."""
        values = {self.value, needed.value}
        same_value = len(values) == 1 or (self.category.is_slot and "" in values)
        return self.category == needed.category and self.application == needed.application and same_value


@dataclass(frozen=True, slots=True)
class PhrasedSubtask:
    """A subtask of a task, with all that is needed to ask for it."""

    number: int
    application: str
    """The name that people use for its application."""
    parameters: Mapping[str, str]
    phrase: str
    """How people ask for it: the catalogue's phrase or, if it has none, the instruction."""
    inputs: tuple[NamedResource, ...]
    outputs: tuple[NamedResource, ...]

    @property
    def frame(self) -> str:
        """The words of the phrase without the name of the application and the values."""
        return re.sub(r"\[.*?\]|\{.*?\}", "{}", self.phrase)

    def reads(self, placeholder: str) -> NamedResource | None:
        """The input in a placeholder of the phrase."""
        return next((item for item in self.inputs if item.placeholder == placeholder), None)

    def makes(self, needed: NamedResource) -> bool:
        """Whether it makes a resource that another subtask needs."""
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

    def phrased(self, subtasks: Sequence[NumberedSubtask]) -> dict[int, PhrasedSubtask]:
        """The subtasks with their phrases, by number."""
        return {subtask.number: self._phrased_subtask(subtask) for subtask in subtasks}

    def _phrased_subtask(self, subtask: NumberedSubtask) -> PhrasedSubtask:
        entry = self._entries.get(stem_of(subtask.subtask_id))
        known = entry is not None and set(subtask.parameters) == set(entry.parameter_sets[0])
        if entry is not None and known and entry.request:
            phrase = entry.request
            parameters = subtask.parameters
            inputs, outputs = (
                tuple(
                    self._resource(
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
            clause = embedded(subtask.instruction, subtask.application)
            suffix = "" if subtask.application in clause else f"[ in {subtask.application}]"
            phrase = f"{{{INSTRUCTION}}}{suffix}"
            parameters = {INSTRUCTION: clause}
            inputs, outputs = (
                tuple(self._resource(item.category, item.value, subtask.application) for item in views)
                for views in (subtask.reads, subtask.makes)
            )
        return PhrasedSubtask(subtask.number, subtask.application, parameters, phrase, inputs, outputs)

    def _resource(
        self, category_name: str, value: str, application: str, placeholder: str = ""
    ) -> NamedResource:
        category = self._categories.get(category_name) or ResourceCategory(
            name=category_name, kind=ResourceKind.RECORD, description=category_name
        )
        own_application = "" if category.kind in _SHARED else application
        return NamedResource(category, own_application, value, placeholder)


def parts_of(phrase: str) -> Iterator[Part]:
    """Split a phrase into its parts.

    >>> [part.kind for part in parts_of("attach {csv_path} to {page_title}[ in Trac]")]
    ['words', 'placeholder', 'words', 'placeholder', 'opening', 'words', 'closing']
    """
    kinds = {"[": "opening", "]": "closing"}
    for text in filter(None, _TOKEN.split(phrase)):
        is_placeholder = text.startswith("{") and text.endswith("}")
        yield Part("placeholder", text[1:-1]) if is_placeholder else Part(kinds.get(text, "words"), text)


def embedded(instruction: str, application: str) -> str:
    """An instruction as a clause of a sentence that names the application elsewhere.

    >>> embedded("In Trac, create the ticket 'x'.", "Trac")
    "create the ticket 'x'"
    """
    text = instruction.strip().removesuffix(".").removeprefix(f"In {application}, ")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def name(value: str) -> str:
    """A value as a name in a sentence: in quotation marks if it is several words, not all capitalised.

    >>> name("Documents/sales.csv"), name("New York"), name("Update the printer driver")
    ('Documents/sales.csv', 'New York', '“Update the printer driver”')
    """
    one_word = re.fullmatch(r"[\w/:@+-]+(?:\.[\w/:@+-]+)*(?: [A-Z]{3})?", value)
    return value if one_word or re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)*", value) else f"“{value}”"


def full_name(resource: NamedResource) -> str:
    """The words for a resource that is mentioned for the first time."""
    category = resource.category
    pattern = category.named or ("{value}" if resource.value else f"the {category.name.replace('_', ' ')}")
    return pattern.replace("{value}", name(resource.value))
