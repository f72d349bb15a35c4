"""Scores of many tasks in one table: overall, per capability, and per level of each dimension (Tables 4 and
5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from taskloom.omnieval.graph_evaluator import GraphEvaluation
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.complexity import cell_of
from taskloom.taskgraph.records.task import Task


class ReportRow(Record):
    """Means over one set of tasks."""

    name: str
    """The set: `all`, a capability, or a level such as `knowledge hard`."""
    tasks: int
    """Tasks in it."""
    success_rate: float
    """Share of tasks with every subtask completed."""
    clean_success_rate: float | None
    """Share of tasks completed without side effects, of those where side effects were looked for; None where
    they never were."""
    held_rate: float | None
    """Share of tasks completed of which every subtask is still done at the end, of those where that was
    looked for; None where it never was."""
    side_effects: float | None
    """Mean number of side effects of the same tasks, completed or not."""
    coverage_rate: float
    """Mean coverage rate."""
    logical_consistency: float | None
    """Mean logical consistency of the tasks for which it is defined; None when it is for none."""
    undefined: int
    """Tasks left out of that mean because their largest coherency score is 0."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Means of other metrics by name, each over the tasks for which it is defined."""


def report(outcomes: Iterable[tuple[Task, GraphEvaluation]]) -> tuple[ReportRow, ...]:
    """One row per set of tasks that has any; undefined logical consistency is left out of means and counted.

    >>> report([])
    ()
    """
    everything = list(outcomes)
    sets: dict[str, list[GraphEvaluation]] = {"all": [evaluation for _, evaluation in everything]}
    for task, evaluation in everything:
        for capability in task.capabilities:
            sets.setdefault(capability, []).append(evaluation)
    for position, dimension in enumerate(DIMENSIONS):
        for level in LEVELS:
            for task, evaluation in everything:
                if cell_of(task.complexity)[position] == level:
                    sets.setdefault(f"{dimension} {level}", []).append(evaluation)
    return tuple(_row(name, evaluations) for name, evaluations in sets.items() if evaluations)


def _row(name: str, evaluations: Sequence[GraphEvaluation]) -> ReportRow:
    defined = [
        evaluation.logical_consistency
        for evaluation in evaluations
        if evaluation.logical_consistency is not None
    ]
    looked = [(item, item.side_effects.total) for item in evaluations if item.side_effects is not None]
    ended = [item for item in evaluations if item.held is not None]
    return ReportRow(
        name=name,
        tasks=len(evaluations),
        success_rate=sum(evaluation.success for evaluation in evaluations) / len(evaluations),
        clean_success_rate=sum(item.success and not total for item, total in looked) / len(looked)
        if looked
        else None,
        held_rate=sum(item.success and bool(item.held) for item in ended) / len(ended) if ended else None,
        side_effects=sum(total for _, total in looked) / len(looked) if looked else None,
        coverage_rate=sum(evaluation.coverage_rate for evaluation in evaluations) / len(evaluations),
        logical_consistency=sum(defined) / len(defined) if defined else None,
        undefined=len(evaluations) - len(defined),
        further_metrics=_means(evaluations),
    )


def _means(evaluations: Sequence[GraphEvaluation]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for evaluation in evaluations:
        for name, value in evaluation.further_metrics.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(values.items())}
