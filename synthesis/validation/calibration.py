"""What the judge of instructions notices: spoilt ones are put among the others, and its answers are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from random import Random

from taskloom.model_clients.errors import CallFailedError
from taskloom.synthesis.ports import Models
from taskloom.synthesis.validation.spoiling import SPOIL_KINDS, spoil
from taskloom.synthesis.validation.validation import ValidationSettings, compare_orders, read_instruction
from taskloom.taskgraph.measures.judge_rates import JudgeReport
from taskloom.taskgraph.records.judge_trial import JudgeTrial
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Task

_FEWEST_TRIALS = 10
"""Fewer spoilt instructions say nothing of a judge."""


def doubt_about(rates: JudgeReport | None, settings: ValidationSettings) -> str:
    """Why a judge is not good enough for its instructions to be published; empty if it is, or too little is
    known."""
    if rates is None or rates.hits.of < _FEWEST_TRIALS:
        return ""
    if (rates.hits.share or 0.0) < settings.minimum_hits:
        return (
            f"The judge of instructions noticed {rates.hits} of the spoilt ones; validation.minimum_hits is"
            f" {settings.minimum_hits:.0%}. Choose another model for the role dependency_judge."
        )
    if (rates.false_alarms.share or 0.0) > settings.maximum_false_alarms:
        return (
            f"The judge of instructions refused {rates.false_alarms} of the first instructions;"
            f" validation.maximum_false_alarms is {settings.maximum_false_alarms:.0%}. Choose another model"
            " for the role dependency_judge or summarizer."
        )
    return ""


async def try_judge(
    task: Task,
    titles: Mapping[str, str],
    others: Sequence[Task],
    *,
    models: Models,
    attempt: int,
    provenance: Provenance,
) -> JudgeTrial | None:
    """Spoil the instruction of a validated task and have it judged; None where it cannot be spoilt.

    The judge is asked as for any other instruction. The check without a model is left out, so the trial is
    the judge's alone.

    Args:
        task: the task with its accepted instruction.
        titles: names that people use for applications.
        others: further tasks to take foreign deeds and values from.
        models: models by role.
        attempt: number of the question, beyond those of the task's own rounds.
        provenance: provenance of the trial.

    Raises:
        ModelClientError: calls cannot go on at all.
    """
    random = Random(hashlib.sha256(f"spoil {task.task_id}".encode()).digest())
    kinds = list(SPOIL_KINDS)
    start = int(hashlib.sha256(task.task_id.encode()).hexdigest(), 16) % len(kinds)
    for kind in kinds[start:] + kinds[:start]:
        text = spoil(task.instruction, task, kind, others, random)
        if text is None:
            continue
        try:
            reading = await read_instruction(task, text, titles, models=models, attempt=attempt)
        except CallFailedError:
            return None
        comparison = compare_orders(reading.dependencies, task.graph.pairs)
        findings = (
            *(f"{len(pairs)} dependencies {name}" for name, pairs in comparison.differences.items() if pairs),
            *(f"{name} is not asked for" for name in reading.not_asked_for),
            *(f"“{words}” is not listed" for words in reading.not_listed),
        )
        return JudgeTrial(
            trial_id=f"{task.task_id}:{kind}",
            task_id=task.task_id,
            kind=kind,
            instruction=text,
            noticed=bool(findings),
            findings=findings,
            provenance=provenance,
        )
    return None
