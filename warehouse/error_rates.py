"""How often the accepted functions of a dataset judge rightly, from labelled outcomes."""

from __future__ import annotations

from taskloom.taskgraph.measures.acceptance_rates import AcceptanceReport, acceptance_report
from taskloom.taskgraph.records.judged_outcome import JudgedOutcome
from taskloom.warehouse.store import Warehouse

UNKNOWN = (
    "Not known: no labelled outcome was judged with the accepted functions of this dataset. A kill rate says"
    " only how a function does on what it was examined with."
)
"""What is said where there are no labelled outcomes."""
_COUNTED = "function_id IN (SELECT function_id FROM evaluation_functions WHERE accepted)"


def error_rates(warehouse: Warehouse) -> AcceptanceReport | None:
    """Both rates with their intervals, over all, by application and by kind of outcome; None without labelled
    outcomes.

    Only verdicts of functions that this dataset has accepted count.
    """
    outcomes = list(warehouse.read(JudgedOutcome, _COUNTED, order_by="outcome_id"))
    return acceptance_report(outcomes) if outcomes else None
