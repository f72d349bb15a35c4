"""Tasks derived from others for an experiment: those with a question about a table present at the start, and
impossible ones, whose verified performance fails without a file that they read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from taskloom.flows.experimenting.fixing import FixedExperiment
from taskloom.flows.running.together import together
from taskloom.flows.stages.agent_evaluation import AttemptRunner
from taskloom.flows.wiring import Run
from taskloom.omnieval.experiments import AgentEntry, ExperimentFile, attempts_for, digest, order_for
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceKind
from taskloom.resources.reading.translation import applications_in
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import first_needs
from taskloom.taskgraph.records.task import Lack, Question, Task, TaskStatus

_FEWEST_ROWS = 2
_STATUS: TaskStatus = "composed"
"""Derived tasks belong to their experiment; no other selection or export includes them."""


async def with_derived_tasks(run: Run, experiment: ExperimentFile, fixed: FixedExperiment) -> FixedExperiment:
    """The experiment with the derived tasks that it requests, which are stored with the others."""
    pairs: list[tuple[str, Task]] = []  # each with the id of its original
    for task in fixed.tasks if experiment.tasks.questions else ():
        question = question_about(task, _text_fixtures(task, applications_in(run.applications, task.world)))
        if question is not None:
            name = f"{task.task_id}-asks-{digest(question.model_dump())[:6]}"
            update = {"task_id": name, "question": question, "status": _STATUS}
            pairs.append((task.task_id, task.model_copy(update=update)))
    if experiment.tasks.impossible:
        variants = await together(_without_a_file(run, experiment, fixed, task) for task in fixed.tasks)
        pairs += [(task.task_id, item) for task, item in zip(fixed.tasks, variants, strict=True) if item]
    if not pairs:
        return fixed
    tasks = (*fixed.tasks, *(task for _, task in pairs))
    run.warehouse.write([task for _, task in pairs], replace=True)
    hashes = dict(fixed.function_hashes)
    hashes |= {task.task_id: hashes[origin] for origin, task in pairs}
    record = fixed.record.model_copy(update={"task_ids": tuple(task.task_id for task in tasks)})
    return replace(fixed, record=record, tasks=tasks, function_hashes=hashes)


def question_about(task: Task, texts: Mapping[str, str]) -> Question | None:
    """A question about the first table among the `texts` (by path) that `task` reads; None if it has none."""
    for path in sorted({need.value for need in first_needs(task.graph.nodes)} & texts.keys()):
        if not path.endswith(".csv"):
            continue
        rows = [row for row in csv.reader(io.StringIO(texts[path])) if row]
        if len(rows) <= _FEWEST_ROWS:
            continue
        headings, *body = rows
        keys = [row[0] for row in body]
        complete = (row for row in body if len(row) == len(headings) > 1 and row[-1].strip())
        row = next((row for row in complete if keys.count(row[0]) == 1), None)
        if row is None:
            text = f"How many rows, the heading left out, does {path} have at the start?"
            return Question(text=text, answers=(str(len(body)),), match="value", source=path)
        text = f"Also answer: at the start, what is the {headings[-1]!r} of {row[0]!r} in {path}?"
        value = row[-1].strip()
        is_number = value.lstrip("-").replace(".", "", 1).isdigit()
        return Question(text=text, answers=(value,), match="value" if is_number else "includes", source=path)
    return None


async def _without_a_file(
    run: Run, experiment: ExperimentFile, fixed: FixedExperiment, task: Task
) -> Task | None:
    """`task` without a file that it reads, if its verified performance then fails; None otherwise."""
    texts = _text_fixtures(task, applications_in(run.applications, task.world))
    needs = [
        item.value
        for item in first_needs(task.graph.nodes)
        if item.kind is ResourceKind.FILE and item.value in texts and item.value in task.instruction
    ]
    if not needs:
        return None
    lack = Lack(feasible=task.task_id, paths=(needs[0],), proof="")
    name = f"{task.task_id}-lacks-{digest(needs[0])[:6]}"
    candidate = task.model_copy(update={"task_id": name, "lack": lack, "status": _STATUS})
    entry = AgentEntry(agent="recorded", settings={"fault": "insists"})
    order = order_for(experiment, f"{fixed.record.experiment_id}:proof", entry, [candidate])
    planned = next(iter(attempts_for(experiment, order.experiment_id, entry, [candidate])))
    runner = AttemptRunner(run, order, SideEffectAccount(fixed.verified))
    record = (await runner.attempt(planned, candidate)).record
    if record.end == "invalid" or len(record.completed) == len(task.graph.nodes):
        return None
    readers = {
        node.instance_id for node in task.graph.nodes if any(item.value == needs[0] for item in node.inputs)
    }
    if readers & {item.instance_id for item in record.completed}:
        return None
    proof = f"without {needs[0]} its verified performance ended as {record.termination}: {record.message}"
    return candidate.model_copy(update={"lack": lack.model_copy(update={"proof": proof})})


def _text_fixtures(task: Task, applications: Mapping[str, Application]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in sorted({node.application for node in task.graph.nodes}):
        for fixture in applications[name].fixtures:
            if fixture.content:
                with suppress(UnicodeDecodeError):
                    texts[fixture.value] = content_of(fixture.content, applications[name]).decode("utf-8")
    return texts
