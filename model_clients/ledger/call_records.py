"""One row of the ledger: a call that was paid for, refused or given up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from model_clients.errors import ModelClientError, RequestRejectedError
from model_clients.messages import FinishReason, ModelReply, ModelRequest
from resources.record import Record
from taskgraph.records.model_roles import ModelRole

CallOutcome = Literal["answered", "truncated", "refused", "filtered", "rejected", "failed"]
"""What became of a call: a reply; one cut off at the token limit; the model would not answer; a content filter
stopped it; the provider does not take the request; it was given up after all tries."""

Purpose = Literal["first", "repair", "longer"]
"""Why a call is made: the question itself, a repair of a malformed reply, or a truncated reply asked for again."""

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
    purpose: Purpose = "first"
    """Why it was made."""
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


_OUTCOMES: dict[FinishReason, CallOutcome] = {
    "stop": "answered",
    "other": "answered",
    "length": "truncated",
    "refusal": "refused",
    "content_filter": "filtered",
}


def call_record(
    key: str,
    request: ModelRequest,
    result: ModelReply | ModelClientError,
    *,
    provider: str,
    model: str,
    base_url: str = "",
    run_id: str = "",
    purpose: Purpose = "first",
    fallback: int = 0,
) -> CallRecord:
    """The row for `request`, which brought `result` just now."""
    made = CallRecord(
        key=key,
        outcome="failed",
        run_id=run_id,
        stage=request.stage,
        item_id=request.item_id,
        model_role=request.model_role,
        provider=provider,
        base_url=base_url,
        model=model,
        template=request.template,
        template_hash=request.template_hash,
        attempt=request.attempt,
        purpose=purpose,
        fallback=fallback,
        finished_at=datetime.now(UTC),
    )
    if isinstance(result, ModelClientError):
        outcome: CallOutcome = "rejected" if isinstance(result, RequestRejectedError) else "failed"
        return made.model_copy(
            update={"outcome": outcome, "error": str(result), "provider_request_id": result.request_id}
        )
    copied = {"cost_usd", "cost_known", "latency_seconds", "retries", "batched", "provider_request_id"}
    return made.model_copy(
        update={
            "outcome": _OUTCOMES[result.finish_reason],
            "finish_reason": result.finish_reason,
            **result.usage.model_dump(),
            **result.model_dump(include=copied),
        }
    )
