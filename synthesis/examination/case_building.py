"""Builds all cases that an evaluation function is examined with, from recordings of right work (method
section 4).

Nothing is performed again and no model is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taskloom.synthesis.examination.counterfeits import counterfeits
from taskloom.synthesis.examination.genuine_variants import genuine_variants
from taskloom.synthesis.examination.other_work import (
    other_subtasks,
    recordings_with_other_parameters,
    wrong_parameters,
)
from taskloom.synthesis.examination.subject import Case, subject_of
from taskloom.synthesis.examination.unfinished_work import unfinished_work
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory


def build_cases(
    positive: Trajectory,
    *,
    instance: BoundSubtask | None = None,
    other_parameter_sets: Sequence[Mapping[str, str]] = (),
    other_trajectories: Sequence[Trajectory] = (),
) -> tuple[Case, ...]:
    """Every case for the function that judges `positive`'s subtask, by family.

    Args:
        positive: A recording in which the subtask was done.
        instance: The bound subtask; its outputs say whether the screen is part of the result.
        other_parameter_sets: The subtask's other parameter sets.
        other_trajectories: Recordings of any subtask. Those of the same subtask tell essential effects from
            incidental ones, must pass with their own values and fail with those of `positive`; the rest are
            other subtasks.
    """
    finished = [item for item in other_trajectories if item.termination == "finished" and item.steps]
    subject = subject_of(positive, finished, instance)
    return (
        *unfinished_work(subject),
        *wrong_parameters(subject, other_parameter_sets),
        *recordings_with_other_parameters(subject),
        *other_subtasks(subject, finished),
        *counterfeits(subject),
        *genuine_variants(subject),
    )
