"""Actions as a person would say them."""

from __future__ import annotations

from taskloom.taskgraph.records.trajectory import TrajectoryStep


def in_words(step: TrajectoryStep) -> str:
    """What a step did: `click Button “Save”`, `type “hello”, press Enter in Edit “Title”`."""
    target = ""
    if step.target:
        name = f"“{step.target.text}”" if step.target.text else ""
        target = f"{step.target.control_type} {name}".strip()
    return step.action.in_words(target)
