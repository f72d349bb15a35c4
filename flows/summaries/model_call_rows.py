"""The ledger's calls of a run as rows of the warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from model_clients.ledger.call_records import CallOutcome, CallRecord
from model_clients.ledger.ledger import Ledger
from warehouse.records import ModelCallRecord

_Outcome = Literal["answered", "repaired", "malformed", "refused", "failed"]
_OUTCOMES: dict[CallOutcome, _Outcome] = {
    "answered": "answered",
    "truncated": "malformed",
    "refused": "refused",
    "filtered": "refused",
    "rejected": "failed",
    "failed": "failed",
}


def model_call_rows(ledger: Ledger, run_id: str) -> Iterator[ModelCallRecord]:
    """One row per call that the run paid for or gave up."""
    for call in ledger.calls(run_id):
        yield ModelCallRecord(
            call_id=f"{call.key}:{run_id}",
            run_id=run_id,
            stage=call.stage,
            item_id=call.item_id,
            role=call.model_role.value,
            provider=call.provider,
            model=call.model,
            template=call.template,
            template_hash=call.template_hash,
            request_hash=call.key,
            attempt=call.attempt,
            input_tokens=call.input_tokens,
            cached_input_tokens=call.cached_input_tokens,
            cache_write_tokens=call.cache_write_tokens,
            output_tokens=call.output_tokens,
            reasoning_tokens=call.reasoning_tokens,
            cost_usd=call.cost_usd,
            latency_seconds=call.latency_seconds,
            retries=call.retries,
            finish_reason=call.finish_reason,
            outcome=_outcome(call),
            called_at=call.finished_at.isoformat(),
        )


def _outcome(call: CallRecord) -> _Outcome:
    if call.outcome == "answered" and call.purpose == "repair":
        return "repaired"
    return _OUTCOMES[call.outcome]
