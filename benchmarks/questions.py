"""A question and its typed reply, for benchmarks of model calls."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerTurn, Exchange
from taskloom.taskgraph.records.model_calls import ModelRole, RenderedPrompt

SYSTEM = "You check desktop tasks and answer in JSON. " * 100


class Verdict(Record):
    answer: str
    """The answer."""


@dataclass(frozen=True)
class Question:
    """A question of one line."""

    user: str
    role: ModelRole = ModelRole.SUMMARIZER
    reply_type: type[Verdict] = Verdict
    computer: tuple[ComputerTurn, ...] | None = None
    past: tuple[Exchange, ...] = ()
    functions: tuple[dict[str, JsonValue], ...] = ()

    def rendered(self) -> RenderedPrompt:
        """The line, after the constant part."""
        return RenderedPrompt(system=SYSTEM, user=self.user, template_hash="")
