"""The ledger's calls of a run as rows of the warehouse."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.warehouse.records import ModelCallRecord


def model_call_rows(ledger: Ledger, run_id: str) -> Iterator[ModelCallRecord]:
    """One row per call that the run paid for or gave up."""
    for call in ledger.calls(run_id):
        yield ModelCallRecord(**call.model_dump(), call_id=f"{call.key}:{run_id}")
