"""Messages to a writer that must not learn how the performances ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from taskloom.evaluators_api.state.effects import effects
from taskloom.synthesis.evaluation_functions.task_shapes import constants
from taskloom.taskgraph.records.trajectory import Trajectory

_SHORTEST = 4
HIDDEN = "(what it ends with)"
"""Stands for a value that only the end of a performance shows."""


def without_ends(message: str, trajectories: Sequence[Trajectory]) -> str:
    """`message` without values that performances ended with and that neither instruction, start nor
    every performance alike tells; cases that read alike then are told once."""
    values: set[str] = set()
    changes = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    shown = set(constants(trajectories, changes).values())
    for trajectory, found in zip(trajectories, changes, strict=True):
        told = " ".join((trajectory.instruction, *trajectory.parameters.values()))
        before = {effect.before for effect in found}
        for effect in found:
            for value in (effect.after, *(effect.after or "").splitlines()):
                text = (value or "").strip()
                if len(text) >= _SHORTEST and text not in told and text not in before | shown:
                    values.add(text)
    for value in sorted(values, key=len, reverse=True):
        for form in dict.fromkeys((repr(value), repr(value)[1:-1], value)):
            message = message.replace(form, HIDDEN)
    return "\n".join(line for line, _ in groupby(message.split("\n")))
