"""Seeded mistakes of the kinds that models make, for testing that the method catches them.

Whether a mistake is made, and which, follows from the seed, what is asked and the attempt, so that a run
makes the same mistakes every time and a later attempt at the same thing may be right. A reply with a mistake
says so in its `provider_request_id`, which the ledger keeps: the summary of a run, resumed or not, is read
from there.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from random import Random
from typing import Literal, cast, get_args

MistakeKind = Literal[
    "wrong_control",
    "stops_early",
    "claims_success",
    "check_too_weak",
    "check_too_strict",
    "dependency_reversed",
]
"""Kinds of mistakes that can be injected."""

_PREFIX = "mistake:"


@dataclass(frozen=True, slots=True)
class MistakeSource:
    """Draws mistakes at a given rate."""

    rate: float
    """Probability per episode, function or instruction, from 0 to 1."""
    seed: int = 0

    def draw(self, kinds: tuple[MistakeKind, ...], *key: object) -> tuple[MistakeKind, Random] | None:
        """A kind out of `kinds` with randomness for its details, or None, always the same for one `key`."""
        digest = hashlib.sha256("\0".join(map(str, (self.seed, *key))).encode()).digest()
        random = Random(int.from_bytes(digest[:8], "big"))
        if random.random() >= self.rate:
            return None
        return random.choice(kinds), random


def mark(mistake: MistakeKind | None) -> str:
    """The mark of a reply with this mistake; empty without one.

    >>> mark("wrong_control"), mark(None)
    ('mistake:wrong_control', '')
    """
    return f"{_PREFIX}{mistake}" if mistake else ""


def read_mark(provider_request_id: str) -> MistakeKind | None:
    """The mistake that a reply's mark names.

    >>> read_mark("mistake:wrong_control"), read_mark("req_123")
    ('wrong_control', None)
    """
    kind = provider_request_id.removeprefix(_PREFIX)
    marked = kind != provider_request_id and kind in get_args(MistakeKind)
    return cast(MistakeKind, kind) if marked else None
