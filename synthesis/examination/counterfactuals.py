"""Evidence of work that was not done, made from recordings of work that was (method section 4).

Each piece is what the checks would have read had the subtask been left out, left unfinished, done with a neighbouring
control, done with other values, typed but never stored, or had another subtask been done instead. Nothing is performed
again and no model is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synthesis.examination.negative_evidence import Negative
from synthesis.examination.other_work import (
    made_parameters,
    other_subtasks,
    recordings_with_other_parameters,
    second_positives,
    touched_values,
    wrong_parameters,
)
from synthesis.examination.unfinished_work import near_misses, no_op, not_saved, truncations
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory


def build_negatives(
    positive: Trajectory,
    *,
    instance: BoundSubtask | None = None,
    other_parameter_sets: Sequence[Mapping[str, str]] = (),
    other_trajectories: Sequence[Trajectory] = (),
    fresh: Sequence[str] = (),
) -> tuple[Negative, ...]:
    """All the evidence that the function of `positive`'s subtask must tell from `positive`, by family.

    Args:
        positive: A recording in which the subtask was done.
        instance: The bound subtask; its outputs say whether the screen is part of the result.
        other_parameter_sets: The subtask's other parameter sets.
        other_trajectories: Recordings of any subtask. Those of the same instance become second positives, those of the
            same subtask wrong parameters, the rest other subtasks, the same application first.
        fresh: Parameters whose values come to be by the subtask, beside those of its output resources.
    """
    made = made_parameters(positive, instance, fresh)
    finished = [item for item in other_trajectories if item.termination == "finished" and item.steps]
    return (
        no_op(positive),
        *truncations(positive, instance),
        *near_misses(positive, instance),
        *wrong_parameters(positive, other_parameter_sets, made),
        *recordings_with_other_parameters(positive, finished),
        *not_saved(positive, instance),
        *other_subtasks(positive, finished, touched_values(positive, instance, made)),
        *second_positives(positive, finished),
    )
