"""The phrases of subtasks: from the catalogue, or made of the instruction where the catalogue has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from prompts.inputs import NumberedSubtask
from resources.applications import Application, ExampleSubtask, ResourceDeclaration, SubtaskPhrases
from resources.categories import ResourceCategory, ResourceKind

_TOKEN = re.compile(r"(\{[a-z][a-z0-9_]*\}|\[|\]|\|)")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a phrase."""

    kind: str
    """`words`, `hole`, `opening`, `closing` (of what may be left out) or `boundary`."""
    text: str
    """Its words, or the name in the hole."""


@dataclass(frozen=True, slots=True)
class Teller:
    """A subtask of a task, with all that is needed to speak of it."""

    number: int
    """Its number in the question."""
    application: str
    """Name that people use for its application."""
    parameters: Mapping[str, str]
    """Its values."""
    phrases: SubtaskPhrases
    """How people speak of it."""
    inputs: tuple[ResourceDeclaration, ...]
    """What it reads."""
    outputs: tuple[ResourceDeclaration, ...]
    """What it makes."""

    def reads(self, hole: str) -> ResourceDeclaration | None:
        """The input that a hole of a phrase stands for."""
        return next((item for item in self.inputs if (item.parameter or item.category) == hole), None)

    def value(self, declaration: ResourceDeclaration) -> str:
        """The value of an input or output; empty for a slot without a document."""
        return self.parameters.get(declaration.parameter, "")


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
        """What is needed to speak of `subtask`."""
        entry = self._entries.get(subtask.subtask_id)
        if entry is None or not entry.phrases.request or set(subtask.parameters) != set(entry.parameter_sets[0]):
            words = embedded(subtask.instruction, subtask.application)
            place = "" if subtask.application in words else f"[ in {subtask.application}]"
            return Teller(
                subtask.number,
                subtask.application,
                {"instruction": words},
                SubtaskPhrases(request="{instruction}" + place),
                (),
                (),
            )
        return Teller(
            subtask.number,
            subtask.application,
            subtask.parameters,
            entry.phrases,
            entry.inputs,
            entry.outputs,
        )

    def is_means(self, category: str) -> bool:
        """Whether resources of a category are copied or selected, and worth nothing by themselves."""
        known = self.categories.get(category)
        return known is not None and known.kind in (ResourceKind.CLIPBOARD, ResourceKind.SELECTION)


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
    """A value as a name in a sentence: in quotation marks where it is more than one word.

    >>> name("Documents/sales.csv"), name("Update the printer driver")
    ('Documents/sales.csv', '“Update the printer driver”')
    """
    return value if re.fullmatch(r"[\w/:@+-]+(?:\.[\w/:@+-]+)*", value) else f"“{value}”"
