"""The typed input of the world writer's prompt."""

from __future__ import annotations

from typing import ClassVar

from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.replies import WorldWriterReply
from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelRole


class WorldPlace(Record):
    """A place that every kind of world fills with its own words."""

    name: str
    """Group, thing and attribute: `notes.packing.title`."""
    first: str
    """What the first world says there."""
    example: str = ""
    """What a kind that ships says there, as a rule with placeholders."""
    form: str = ""
    """What it must look like, where it is not plain text."""


class WorldWriterInput(PromptInput[WorldWriterReply]):
    """What the world writer sees: the places, what two worlds say there, and what was wrong with its last
    answer."""

    role: ClassVar[ModelRole] = ModelRole.WORLD_WRITER

    kind: str
    """Name of the new kind."""
    about: str
    """What it is, in the words of whoever wants it."""
    first_description: str
    """What the first world is."""
    example_kind: str
    """The kind that ships."""
    example_head: tuple[tuple[str, str], ...]
    """Its owner, title and description."""
    example_draws: tuple[tuple[str, str], ...]
    """Its own placeholders with their words."""
    placeholders: tuple[str, ...]
    """Placeholders that every kind may use."""
    places: tuple[WorldPlace, ...]
    """All places."""
    missing: tuple[str, ...] = ()
    """Places that have no text yet, after the first round."""
    feedback: tuple[str, ...] = ()
    """What was wrong with the last answer."""

    @property
    def reply_type(self) -> type[WorldWriterReply]:
        """The record that the answer must be."""
        return WorldWriterReply
