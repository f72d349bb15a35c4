"""What all calls of a run share: the ledger, the budget and the counters."""

from __future__ import annotations

from dataclasses import dataclass

from taskloom.model_clients.counters import CallCounters
from taskloom.model_clients.errors import ReplyMissingError
from taskloom.model_clients.ledger.budget import Budget
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.messages import ModelRequest


@dataclass(frozen=True, slots=True)
class RunAccount:
    """The account that the calls of one run are booked to."""

    ledger: Ledger
    """Where replies are kept."""
    budget: Budget
    counters: CallCounters
    """Live figures."""
    run_id: str = ""
    replay: bool = False
    """Whether the ledger alone may answer."""

    def missing(self, key: str, request: ModelRequest, who: str) -> ReplyMissingError:
        """The error for a call that is missing from the ledger, in a run that may only replay."""
        return ReplyMissingError(
            f"replaying, and the ledger holds no reply to this call: stage {request.stage!r}, item"
            f" {request.item_id!r}, role {request.role}, {who}, attempt {request.attempt}, key {key}."
            " Put the ledger.sqlite of the run into the data folder, or run without replay"
        )
