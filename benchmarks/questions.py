"""A question and its typed reply, for benchmarks of model calls."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from resources.record import Record
from taskgraph.records.interaction import Screenshot

SYSTEM = "You check desktop tasks and answer in JSON. " * 100


class Verdict(Record):
    """A typed reply."""

    answer: str
    """What was found."""


@dataclass(frozen=True)
class Question:
    """A prompt of one line."""

    user: str
    system: str = SYSTEM
    images: tuple[Screenshot, ...] = ()
    template: str = "benchmark"
    template_hash: str = ""

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """Nothing beside the text."""
        return {}
