"""One row of the ledger: a call that was paid for, refused or given up."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from model_clients.roles import ModelRole
from resources.record import Record

CallOutcome = Literal["answered", "truncated", "refused", "filtered", "rejected", "failed"]
"""What became of a call: a reply; one cut off at the token limit; the model would not answer; a content filter
stopped it; the provider does not take the request; it was given up after all tries."""

FINAL_OUTCOMES: frozenset[CallOutcome] = frozenset({"answered", "truncated", "refused", "filtered"})
"""Outcomes that were paid for and stand in for the call from then on; the others are tried again by the next run."""


class CallRecord(Record):
    """A call as the ledger keeps it, without the messages and the reply's text."""

    key: str
    """Identity of the call (`model_clients.ledger.request_keys`)."""
    outcome: CallOutcome
    """What became of it."""
    run_id: str = ""
    """Run that made it."""
    stage: str = ""
    """Stage of the method."""
    item_id: str = ""
    """Subtask, task or application it served first."""
    model_role: ModelRole
    """Who was called."""
    provider: str
    """Provider module."""
    base_url: str = ""
    """Server, when it was not the provider's own."""
    model: str
    """Model, as named in the settings."""
    template: str = ""
    """Prompt template."""
    template_hash: str = ""
    """SHA-256 of the template's text."""
    attempt: int = 0
    """Which of several equal requests it was."""
    purpose: Literal["first", "repair", "longer"] = "first"
    """Why it was made: the question itself, a repair of a malformed reply, or a truncated reply asked for again."""
    fallback: int = 0
    """Zero for the role's model, else the number of the fallback model."""
    finish_reason: str = ""
    """Why the model stopped."""
    error: str = ""
    """Why there is no reply."""
    input_tokens: int = 0
    """All input, cached part included."""
    cached_input_tokens: int = 0
    """Input read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input written to the provider's cache."""
    output_tokens: int = 0
    """All output, reasoning included."""
    reasoning_tokens: int = 0
    """Output spent on reasoning."""
    cost_usd: float = 0.0
    """Price in US dollars."""
    cost_known: bool = True
    """Whether a price was known."""
    latency_seconds: float = 0.0
    """From sending to the last byte of the try that succeeded."""
    retries: int = 0
    """Tries before it that failed transiently."""
    batched: bool = False
    """Whether it came through a batch."""
    provider_request_id: str = ""
    """The provider's id, for support."""
    finished_at: datetime
    """When it ended, in UTC."""
