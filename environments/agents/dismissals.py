"""Which steps of a recording only closed something: a hint, a popover, a question answered with no."""

from __future__ import annotations

from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import ClickInput, Control
from taskloom.taskgraph.records.trajectory import Trajectory


def dismissals(trajectory: Trajectory) -> frozenset[int]:
    """Numbers of the steps that clicked in a container and did nothing but take that container away.

    Everything else on the screen stayed, nothing came, and files, folders and clipboard are as before. Such a
    container may be missing when the recording is performed again: an application shows a hint once.
    """
    steps = trajectory.steps
    shown = [step.observation_controls for step in steps[1:]] + [trajectory.final_evidence.controls]
    before = [trajectory.initial_evidence, *(step.evidence for step in steps)]
    return frozenset(
        step.step
        for step, after, earlier in zip(steps, shown, before, strict=False)
        if step.target is not None
        and not step.problem
        and isinstance(step.action, ClickInput)
        and _took_away(step.observation_controls, after, (step.target.parent_type, step.target.parent_text))
        and _state(earlier) == _state(step.evidence)
    )


def _took_away(before: tuple[Control, ...], after: tuple[Control, ...], container: tuple[str, str]) -> bool:
    """Whether exactly the controls of `container` are gone, and there were others."""
    staying = {
        _named(control) for control in before if (control.parent_type, control.parent_text) != container
    }
    return 0 < len(staying) < len({_named(control) for control in before}) and staying == {
        _named(control) for control in after
    }


def _named(control: Control) -> tuple[str, ...]:
    return (
        control.control_type,
        control.text,
        control.parent_type,
        control.parent_text,
        control.row,
        control.value,
    )


def _state(evidence: Evidence) -> tuple[object, ...]:
    return evidence.files, evidence.directories, evidence.clipboard
