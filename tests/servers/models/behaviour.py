"""What the local server does with a call: answer, or go wrong in one of the ways real servers do."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

Kind = Literal[
    "answer",
    "status",
    "refuse",
    "filter",
    "truncate",
    "malformed",
    "garbage",
    "cut_off",
    "reset",
    "hang",
    "no_schema",
]
"""Answer; an error status; a refusal; a content filter; a reply cut at the token limit; a reply that breaks
its schema; a body that is not JSON; a body that ends too early; a reset connection; silence; no typed replies
taken."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """A call as the server understands it, whichever protocol it came by."""

    protocol: Literal["responses", "chat_completions", "messages"]
    """The protocol."""
    model: str
    """Model asked for."""
    system: str
    """Text of the system messages."""
    turns: tuple[str, ...]
    """Texts of the other messages."""
    images: int
    """Number of pictures."""
    schema: JsonValue
    """Schema of a typed reply, or None."""
    typed_by: Literal["schema", "tool", ""]
    """How the typed reply is asked for."""
    max_tokens: int
    """Longest reply allowed, or zero."""
    body: dict[str, JsonValue]
    """The whole body."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What to do with one call."""

    kind: Kind = "answer"
    """What happens."""
    status: int = 500
    """Status of an error."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""
    seconds: float = 0.0
    """Time before anything happens."""
    code: str = ""
    """The provider's word for an error."""
    message: str = "scripted by the test"
    """What an error says."""


Script = Callable[[int, WireCall], Behaviour]
"""Chooses the behaviour for the n-th call."""

Answerer = Callable[[WireCall], str]
"""Writes the text of an answer."""


def always(behaviour: Behaviour) -> Script:
    """The same behaviour for every call."""
    return lambda number, call: behaviour


def in_turn(*behaviours: Behaviour) -> Script:
    """One behaviour after another; plain answers afterwards."""
    return lambda number, call: behaviours[number] if number < len(behaviours) else Behaviour()


@dataclass(slots=True)
class RandomScript:
    """Answers with log-normal latency, and a share of calls that go wrong, both drawn from a seed."""

    mean_seconds: float = 0.0
    """Mean latency."""
    spread: float = 0.5
    """Standard deviation of the latency's logarithm."""
    trouble: tuple[tuple[float, Behaviour], ...] = ()
    """Shares of calls, 0 to 1 each, and what happens to them."""
    seed: int = 0
    """Seed."""
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, number: int, call: WireCall) -> Behaviour:
        """The behaviour of the next call."""
        seconds = draw_latency(self._random, self.mean_seconds, self.spread)
        drawn = self._random.random()
        for share, behaviour in self.trouble:
            if drawn < share:
                return behaviour
            drawn -= share
        return Behaviour(seconds=seconds)


def draw_latency(source: random.Random, mean_seconds: float, spread: float) -> float:
    """A log-normal latency with the given mean."""
    if mean_seconds <= 0:
        return 0.0
    return source.lognormvariate(math.log(mean_seconds) - spread * spread / 2, spread)
