"""Ends a run whose requests were written to a file: nothing is rejected, and a run with the replies resumes
it."""

from __future__ import annotations

from taskloom.flows.wiring import Run
from taskloom.model_clients.errors import BatchPendingError


def stop_while_waiting(run: Run, items: int) -> None:
    """End the run here unless `items`, the number of items that wait for external replies, is zero.

    Later stages would work with an incomplete pool, so they are left to the run that has the replies.

    Raises:
        BatchPendingError: says where the requests are and how to continue.
    """
    if not items:
        return
    calls = run.settings.models
    answered = "" if calls.batch_in is None else f", whose replies were not in {calls.batch_in}"
    raise BatchPendingError(
        f"{items} items wait for replies{answered}: {run.calls.written_requests} requests were added to"
        f" {calls.batch_out}. Have them answered, one line of JSON each, as OpenAI's batches do or in short"
        ' {"custom_id": …, "reply": …}; then run the same command with --batch-in REPLIES as well. It goes'
        " on from here, and writes what the next stage asks, until all is answered."
    )
