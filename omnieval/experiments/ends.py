"""The one name of an attempt's end."""

from __future__ import annotations

from typing import Final

from taskloom.omnieval.graph_evaluator import Outcome
from taskloom.taskgraph.records.agent_run import End
from taskloom.taskgraph.records.trajectory import Termination

INVALID: Final[frozenset[Termination]] = frozenset({"environment_error", "invalid_start"})
"""What an agent cannot have caused."""
_OF_AGENT: Final[dict[Termination, End]] = {
    "gave_up": "gave_up",
    "step_limit": "out_of_steps",
    "out_of_time": "out_of_time",
    "model_error": "agent_error",
    "agent_error": "agent_error",
    "unusable_replies": "unusable_replies",
    "refused_actions": "refused_action",
    "attempt_budget": "budget",
}


def end_of(termination: Termination, outcome: Outcome, *, success: bool, completed: int) -> End:
    """How an attempt ended, from how its episode did and what the evaluator saw.

    Work that is complete is a success however the agent ended afterwards; what is invalid is nothing else.

    >>> end_of("step_limit", "running", success=False, completed=2)
    'out_of_steps'
    >>> end_of("finished", "finished_early", success=False, completed=2)
    'partial'
    >>> end_of("environment_error", "completed", success=True, completed=2)
    'invalid'
    """
    if termination in INVALID:
        return "invalid"
    if success:
        return "success"
    if termination in _OF_AGENT:
        return _OF_AGENT[termination]
    if outcome == "step_limit":
        return "out_of_steps"
    if outcome == "stalled":
        return "stalled"
    return "partial" if completed else "failed"
