"""Whether independent performances of a subtask agree: they did the same, and it led to the same.

A performance that went astray is rarely repeated alike by another one with other values, whereas an evaluation
function written from it alone would approve of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from synthesis.evaluation_functions.evidence_changes import observed_change
from taskgraph.records.interaction import ClickInput, DragInput, WaitInput, WheelMouseInput
from taskgraph.records.trajectory import Trajectory, TrajectoryStep

_SHORTEST_MEANINGFUL = 3


def agreeing(trajectories: Sequence[Trajectory], quorum: int) -> list[Trajectory]:
    """The largest group of trajectories that agree in route and result, if it has at least `quorum` members.

    Of groups of equal size the one that came first is taken. Waiting and failed steps do not count as route.
    """
    groups: dict[tuple[object, ...], list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault((*route(trajectory), *result(trajectory)), []).append(trajectory)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) >= quorum else []


def route(trajectory: Trajectory) -> tuple[tuple[str, ...], ...]:
    """What was done, with parameter values taken out, so that performances with other values compare equal."""
    return tuple(
        _done(step, trajectory.parameters)
        for step in trajectory.steps
        if not step.problem and not isinstance(step.action, WaitInput)
    )


def result(trajectory: Trajectory) -> tuple[str, ...]:
    """Which sorts of state changed: files by what became of them, directories, the clipboard."""
    change = observed_change(trajectory.initial_evidence, trajectory.final_evidence)
    clipboard = change.clipboard_text is not None, change.clipboard_image, change.clipboard_file is not None
    return (
        f"created {len(change.created_files)}",
        f"deleted {len(change.deleted_files)}",
        f"directories {len(change.created_directories)} {len(change.deleted_directories)}",
        f"clipboard {clipboard}",
    )


def _done(step: TrajectoryStep, parameters: Mapping[str, str]) -> tuple[str, ...]:
    action, target = step.action, step.target
    control = (_generic(target.text, parameters), target.control_type) if target else ("", "")
    details: tuple[str, ...] = ()
    if isinstance(action, ClickInput):
        details = (action.button, str(action.double))
    elif isinstance(action, WheelMouseInput):
        details = (str(action.wheel_distance > 0),)
    elif isinstance(action, DragInput):
        details = (str(len(action.path)),)
    return (action.operation, *control, *details)


def _generic(text: str, parameters: Mapping[str, str]) -> str:
    folded = text.casefold()
    for value in sorted(_pieces(parameters.values()), key=len, reverse=True):
        if value in folded:
            return "<value>"
    return text


def _pieces(values: Iterable[str]) -> set[str]:
    pieces = set()
    for value in values:
        path = PurePosixPath(value)
        pieces |= {value.casefold(), path.stem.casefold(), *(part.casefold() for part in path.parts)}
    return {piece for piece in pieces if len(piece) >= _SHORTEST_MEANINGFUL}
