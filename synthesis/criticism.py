"""Criticism: a model that took no part in making tasks scores some of them (docs/quality.md)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from taskloom.prompts.inputs import CriticInput
from taskloom.prompts.replies import DependencyPair
from taskloom.resources.record import Record
from taskloom.synthesis.instructions import in_order, numbered
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.measures.acceptance_rates import CriticReport
from taskloom.taskgraph.records.criticism import HIGHEST_SCORE, Criticism, CriticQuestion
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Rejection, Task

STAGE = "criticism"
_FEWEST_TASKS = 10
"""Fewer scored tasks say nothing about a dataset."""


class CriticSettings(Record):
    """Settings of the critic; there is none without a model for this role."""

    share: float = Field(default=0.1, ge=0, le=1)
    """Share of the validated tasks that the critic scores."""
    reject_below: int = Field(default=0, ge=0, le=HIGHEST_SCORE)
    """A task with any score below this is rejected; 0 rejects none."""
    minimum_mean: dict[CriticQuestion, Annotated[float, Field(ge=1, le=HIGHEST_SCORE)]] = Field(
        default_factory=dict
    )
    """Mean score that a run's tasks must reach, by question, for a dataset version to be published: `{sense:
    3.5}`. It applies from ten scored tasks on."""


async def criticise_task(
    task: Task, titles: Mapping[str, str], *, models: Models, critic: str, provenance: Provenance
) -> Criticism:
    """The scores that `critic`, a provider and its model, gives a validated task.

    Raises:
        ModelClientError: no usable reply.
    """
    nodes = in_order(task)
    numbers = {node.instance_id: number for number, node in enumerate(nodes, 1)}
    pairs = sorted((numbers[first], numbers[second]) for first, second in task.graph.pairs)
    reply = await models.ask(
        CriticInput(
            instruction=task.instruction,
            subtasks=numbered(nodes, titles),
            dependencies=tuple(DependencyPair(before=first, after=second) for first, second in pairs),
        ),
        stage=STAGE,
        item_id=task.task_id,
    )
    return Criticism(
        criticism_id=f"{task.task_id}:{critic}",
        task_id=task.task_id,
        instruction=task.instruction,
        naturalness=reply.naturalness,
        sense=reply.sense,
        feasibility=reply.feasibility,
        critic=critic,
        provenance=provenance.model_copy(update={"stage": STAGE}),
    )


def rejection_by(criticism: Criticism, settings: CriticSettings) -> Rejection | None:
    """The rejection of a task whose scores are too low; None if they are not, or if no minimum is set."""
    low = criticism.below(settings.reject_below)
    if not low:
        return None
    reasons = (f"{name} {answer.score} of {HIGHEST_SCORE}: {answer.reason}" for name, answer in low.items())
    return Rejection(
        item_kind="task",
        item_id=criticism.task_id,
        stage=STAGE,
        reason="critic",
        message="; ".join(reasons),
        details={question: str(answer.score) for question, answer in low.items()},
        provenance=criticism.provenance,
    )


def doubt_about_tasks(report: CriticReport | None, settings: CriticSettings) -> str:
    """Why the critic's mean scores forbid publication; empty if they do not, or too few tasks were scored."""
    if report is None or report.tasks < _FEWEST_TASKS:
        return ""
    low = {
        question: report.means[question]
        for question, least in settings.minimum_mean.items()
        if report.means[question] < least
    }
    if not low:
        return ""
    found = ", ".join(
        f"{question} {mean:.2f} (critic.minimum_mean: {settings.minimum_mean[question]:g})"
        for question, mean in low.items()
    )
    return (
        f"The critic's mean scores over {report.tasks} tasks are too low: {found}. Read its reasons with:"
        " taskloom sql critic"
    )
