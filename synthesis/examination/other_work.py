"""Evidence of other work: other values, other subtasks; and of the same work done once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from synthesis.examination.negative_evidence import Negative
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory

_MOST_OTHER_SUBTASKS = 5
_MOST_PARAMETER_SETS = 6
_CHANGED = "zq7"
"""Put into a parameter value to make one that nothing in the evidence can hold."""


def made_parameters(
    positive: Trajectory, instance: BoundSubtask | None, fresh: Sequence[str]
) -> tuple[str, ...]:
    """Parameters whose values come to be by the subtask: of its output resources, and fresh ones."""
    outputs = {resource.value for resource in instance.outputs} if instance is not None else set()
    inputs = {resource.value for resource in instance.inputs} if instance is not None else set()
    return tuple(
        name
        for name, value in positive.parameters.items()
        if value.strip() and value not in inputs and (name in fresh or value in outputs)
    )


def wrong_parameters(
    positive: Trajectory, other_sets: Sequence[Mapping[str, str]], made: Sequence[str]
) -> Iterator[Negative]:
    """The finished state, asked about with other values: other parameter sets, and each made value changed by itself."""
    others = [dict(item) for item in other_sets if dict(item) != positive.parameters]
    for other in others[:_MOST_PARAMETER_SETS]:
        yield Negative(
            "wrong_parameter",
            f"the work was done for {_values(positive.parameters)}, but {_values(other)} was asked for",
            other,
            positive.final_evidence,
            positive.initial_evidence,
        )
    for name in made:
        other = {**positive.parameters, name: _altered(positive.parameters[name])}
        yield Negative(
            "wrong_parameter",
            f"the work was done for {name}={positive.parameters[name]!r}, but {name}={other[name]!r} was asked for: the"
            f" parameter {name} must be checked",
            other,
            positive.final_evidence,
            positive.initial_evidence,
        )


def recordings_with_other_parameters(
    positive: Trajectory, others: Sequence[Trajectory]
) -> Iterator[Negative]:
    """Recordings of the same subtask with other values, asked about with these."""
    for other in others:
        if other.subtask_id == positive.subtask_id and other.parameters != positive.parameters:
            yield Negative(
                "wrong_parameter",
                f"the same subtask was done for {_values(other.parameters)}, but {_values(positive.parameters)} was asked for",
                positive.parameters,
                other.final_evidence,
                other.initial_evidence,
            )


def touched_values(positive: Trajectory, instance: BoundSubtask | None, made: Sequence[str]) -> set[str]:
    """Values of the resources that the subtask makes or destroys."""
    values = {positive.parameters[name] for name in made}
    if instance is not None:
        values |= {resource.value for resource in (*instance.outputs, *instance.consumed)}
    return values - {""}


def other_subtasks(
    positive: Trajectory, others: Sequence[Trajectory], touched: set[str]
) -> Iterator[Negative]:
    """One recording each of other subtasks, but of none that was given a resource which this subtask makes or destroys:
    renaming a file also makes it go away, and that is no fault of a function that judges its deletion.
    """
    application = positive.subtask_id.partition(".")[0]
    candidates: dict[str, Trajectory] = {}
    for other in others:
        if other.subtask_id != positive.subtask_id and not touched & set(other.parameters.values()):
            candidates.setdefault(other.subtask_id, other)
    ordered = sorted(
        candidates.values(),
        key=lambda item: (item.subtask_id.partition(".")[0] != application, item.subtask_id),
    )
    for other in ordered[:_MOST_OTHER_SUBTASKS]:
        yield Negative(
            "other_subtask",
            f"another subtask was done: {other.instruction}",
            positive.parameters,
            other.final_evidence,
            other.initial_evidence,
        )


def second_positives(positive: Trajectory, others: Sequence[Trajectory]) -> Iterator[Negative]:
    """Further recordings of the same instance, which must pass."""
    for other in others:
        same = other.subtask_id == positive.subtask_id and other.parameters == positive.parameters
        if same and other.trajectory_id != positive.trajectory_id:
            yield Negative(
                "second_positive",
                f"the same subtask was done once more, independently, in {len(other.steps)} steps",
                other.parameters,
                other.final_evidence,
            )


def _altered(value: str) -> str:
    """Another value of the same shape: the file name's stem or the last word is changed.

    >>> _altered("Documents/report.csv"), _altered("Buy milk"), _altered("v1.2/notes")
    ('Documents/reportzq7.csv', 'Buy milkzq7', 'v1.2/noteszq7')
    """
    folder, slash, name = value.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.isalnum():
        return f"{folder}{slash}{stem}{_CHANGED}.{suffix}"
    return f"{value}{_CHANGED}"


def _values(parameters: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameters"
