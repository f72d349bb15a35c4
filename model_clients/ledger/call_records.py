"""The row that a call leaves in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime

from taskloom.model_clients.errors import ModelClientError, RequestRejectedError
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.taskgraph.records.model_calls import (
    CallFigures,
    CallOutcome,
    CallPurpose,
    FinishReason,
    ModelCall,
)

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
    purpose: CallPurpose = "first",
    fallback: int = 0,
) -> ModelCall:
    """The row for `request`, which brought `result` just now."""
    made = ModelCall(
        key=key,
        run_id=run_id,
        stage=request.stage,
        item_id=request.item_id,
        role=request.role,
        provider=provider,
        base_url=base_url,
        model=model,
        template_hash=request.template_hash,
        attempt=request.attempt,
        purpose=purpose,
        fallback=fallback,
        finished_at=moment(datetime.now(UTC)),
    )
    if isinstance(result, ModelClientError):
        outcome: CallOutcome = "rejected" if isinstance(result, RequestRejectedError) else "failed"
        return made.model_copy(
            update={"outcome": outcome, "error": str(result), "provider_request_id": result.request_id}
        )
    return made.model_copy(
        update={
            "outcome": _OUTCOMES[result.finish_reason],
            "finish_reason": result.finish_reason,
            **result.model_dump(include=set(CallFigures.model_fields)),
        }
    )


def moment(time: datetime) -> str:
    """A moment as the ledger writes it: ISO 8601 in UTC, so that texts compare as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
