"""Tasks made from others for an experiment: with a question about data that they read, and impossible ones.

A question is computed from a table that the task starts with, so its answer is known. An impossible task is
the same one without a file that it reads; that it cannot be done is shown by trying its verified performance
without that file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from taskloom.flows.experimenting.fixing import Fixed
from taskloom.flows.running.together import together
from taskloom.flows.stages.agent_evaluation import AttemptPlace
from taskloom.flows.wiring import Run
from taskloom.omnieval.experiments.plan import attempts_for, digest, order_for
from taskloom.omnieval.experiments.specification import AgentEntry, ExperimentFile
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceKind
from taskloom.resources.reading.translation import applications_in
from taskloom.synthesis.replay.side_effects import SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import first_needs
from taskloom.taskgraph.records.task import Lack, Question, Task, TaskStatus

_FEWEST_ROWS = 2
_STATUS: TaskStatus = "composed"
"""Derived tasks belong to their experiment; no other selection or export takes them."""


async def with_derived_tasks(run: Run, experiment: ExperimentFile, fixed: Fixed) -> Fixed:
    """The experiment with the derived tasks that it asks for, which are stored beside the others."""
    made: list[Task] = []
    for task in fixed.tasks if experiment.tasks.questions else ():
        asked = question_about(task, _texts(task, applications_in(run.applications, task.world)))
        if asked is not None:
            made.append(
                task.model_copy(
                    update={
                        "task_id": f"{task.task_id}-asks-{digest(asked.model_dump())[:6]}",
                        "question": asked,
                        "status": _STATUS,
                    }
                )
            )
    if experiment.tasks.impossible:
        tried = await together(_without_a_file(run, experiment, fixed, task) for task in fixed.tasks)
        made += [task for task in tried if task is not None]
    if not made:
        return fixed
    run.warehouse.write(made, replace=True)
    tasks = (*fixed.tasks, *made)
    known = {task.task_id: fixed.function_hashes[_origin(task, fixed)] for task in tasks}
    record = fixed.record.model_copy(update={"task_ids": tuple(task.task_id for task in tasks)})
    return replace(fixed, record=record, tasks=tasks, function_hashes=known)


def question_about(task: Task, texts: Mapping[str, str]) -> Question | None:
    """A question about the first table that `task` reads and that has rows to count; None without one.

    `texts` are the files that the task starts with, by path.
    """
    for path in sorted({need.value for need in first_needs(task.graph.nodes)} & texts.keys()):
        if not path.endswith(".csv"):
            continue
        rows = [row for row in csv.reader(io.StringIO(texts[path])) if row]
        if len(rows) <= _FEWEST_ROWS:
            continue
        head, *body = rows
        keys = [row[0] for row in body]
        fit = next(
            (
                (key, row[-1])
                for key, row in zip(keys, body, strict=True)
                if len(row) == len(head) > 1 and row[-1].strip() and keys.count(key) == 1
            ),
            None,
        )
        if fit is None:
            text = f"How many rows, the heading left out, does {path} have at the start?"
            return Question(text=text, answers=(str(len(body)),), match="value", source=path)
        key, value = fit
        text = f"Also answer: at the start, what is the {head[-1]!r} of {key!r} in {path}?"
        is_number = value.strip().lstrip("-").replace(".", "", 1).isdigit()
        return Question(
            text=text, answers=(value.strip(),), match="value" if is_number else "includes", source=path
        )
    return None


async def _without_a_file(run: Run, experiment: ExperimentFile, fixed: Fixed, task: Task) -> Task | None:
    """`task` without a file that it reads, if its verified performance then fails; None otherwise."""
    laid = _texts(task, applications_in(run.applications, task.world))
    needs = [
        item.value
        for item in first_needs(task.graph.nodes)
        if item.kind is ResourceKind.FILE and item.value in laid and item.value in task.instruction
    ]
    if not needs:
        return None
    lack = Lack(feasible=task.task_id, paths=(needs[0],), proof="")
    name = f"{task.task_id}-lacks-{digest(needs[0])[:6]}"
    candidate = task.model_copy(update={"task_id": name, "lack": lack, "status": _STATUS})
    entry = AgentEntry(agent="recorded", settings={"fault": "insists"})
    order = order_for(experiment, f"{fixed.record.experiment_id}:proof", entry, [candidate])
    planned = next(iter(attempts_for(experiment, order.experiment_id, entry, [candidate])))
    place = AttemptPlace(run, order, SideEffectAccount(fixed.verified), fixed.verified)
    done = (await place.attempt(planned, candidate)).record
    if done.end == "invalid" or len(done.completed) == len(task.graph.nodes):
        return None
    readers = {
        node.instance_id for node in task.graph.nodes if any(item.value == needs[0] for item in node.inputs)
    }
    if readers & {item.instance_id for item in done.completed}:
        return None
    proof = f"without {needs[0]} its verified performance ended as {done.termination}: {done.message}"
    return candidate.model_copy(update={"lack": lack.model_copy(update={"proof": proof})})


def _origin(task: Task, fixed: Fixed) -> str:
    if task.task_id in fixed.function_hashes:
        return task.task_id
    return task.task_id.rpartition("-asks-")[0] or task.task_id.rpartition("-lacks-")[0]


def _texts(task: Task, applications: Mapping[str, Application]) -> dict[str, str]:
    """Text files that the applications of a task start with, by path."""
    found: dict[str, str] = {}
    names: Sequence[str] = sorted({node.application for node in task.graph.nodes})
    for application in (applications[name] for name in names):
        for fixture in application.fixtures:
            if fixture.content:
                try:
                    found[fixture.value] = content_of(fixture.content, application).decode("utf-8")
                except UnicodeDecodeError:
                    continue
    return found
