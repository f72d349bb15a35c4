"""What is fixed before the first attempt of an experiment: name, tasks, and hashes of its inputs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from taskloom.flows.errors import CommandError
from taskloom.flows.pool import load_verified
from taskloom.flows.running.clock import timestamp
from taskloom.flows.stages.agents import MODEL
from taskloom.flows.wiring import Run
from taskloom.omnieval.asking.first_questions import prompt_hash
from taskloom.omnieval.experiments import ExperimentFile, TaskSet, digest
from taskloom.prompts.inputs import ActorInput, ComputerActorInput
from taskloom.prompts.rendering import template_hash
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.agent_run import Experiment
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.sets.drawing import nothing_meets
from taskloom.warehouse.sets.selection import Selection, parse_levels, select
from taskloom.warehouse.store import Warehouse

FOLDER = "experiments"
"""Folder in the data folder that holds the folders of experiments."""
PROMPTS_OF = "prompts of "
"""Prefix of an agent's name in the name of its prompts' hash."""
_IN_LIST = "task_id IN (SELECT unnest(?::VARCHAR[]))"
_STORED_IDS = "SELECT task_id FROM tasks WHERE task_id IN (SELECT unnest(?::VARCHAR[]))"
_DATA = ("tasks", "applications")
_PLACE_ONLY: Mapping[str, Any] = {
    "ahead": True,
    "limits": {"run_seconds"},
    "agents": {"__all__": {"model": {"base_url", "api_key_variable"}}},
}
"""Fields for where and how fast an experiment runs; it may continue with other values."""


def selected_tasks(warehouse: Warehouse, task_set: TaskSet) -> list[str]:
    """Ids of the tasks of a set, in the order of their ids.

    Raises:
        CommandError: a named task or export does not exist, or no task meets the conditions.
        SelectionInvalidError, QueryFailedError, QueryRefusedError: a condition is not valid.
    """
    exported = _exported_ids(task_set.export) if task_set.export else ()
    names = list(dict.fromkeys([*task_set.ids, *exported]))
    if names:
        stored = {str(row[0]) for row in warehouse.query(_STORED_IDS, [names]).rows()}
        missing = [name for name in names if name not in stored]
        if missing:
            raise CommandError(
                f"{len(missing)} of the {len(names)} tasks are not in the warehouse, such as {missing[0]!r}"
            )
        return names
    levels = parse_levels(",".join(f"{name}={level}" for name, level in task_set.levels.items()))
    selection = Selection(
        where=task_set.where,
        levels=levels,
        capability=task_set.capability,
        applications=task_set.applications,
        size=task_set.size,
        seed=task_set.seed,
    )
    selected = list(select(warehouse, selection))
    if not selected:
        raise CommandError(nothing_meets(warehouse, selection))
    return selected


def _exported_ids(reference: str) -> Sequence[str]:
    from taskloom.warehouse.exporting.exporting import MANIFEST, Manifest

    folder, _, split = reference.rpartition(":") if ":" in reference else (reference, "", "")
    path = Path(folder) / MANIFEST
    try:
        sets = Manifest.model_validate_json(path.read_text(encoding="utf-8")).splits
    except (OSError, ValueError, ValidationError) as error:
        raise CommandError(f"tasks.export: {path} is not the manifest of an export: {error}") from None
    if split and split not in sets:
        raise CommandError(
            f"tasks.export: {folder} has no set {split!r}; it has: {', '.join(sets) or 'no sets'}"
        )
    return [name for key, members in sets.items() if split in ("", key) for name in members]


@dataclass(frozen=True, slots=True)
class FixedExperiment:
    """An experiment with its fixed tasks, subtasks and hashes."""

    record: Experiment
    tasks: tuple[Task, ...]
    left_out: tuple[str, ...]
    """Selected tasks that cannot be attempted here, because one of their subtasks is not verified."""
    verified: Mapping[str, VerifiedSubtask]
    function_hashes: Mapping[str, str]
    """Hash of the evaluation functions of each task."""
    known: bool = False
    """Whether an earlier run had fixed it."""


def fix(run: Run, experiment: ExperimentFile) -> FixedExperiment:
    """Fix `experiment`, unless an earlier run has fixed it.

    Raises:
        CommandError: no task can be attempted; an experiment of that name has other content; or its tasks or
            applications have changed since.
        SelectionInvalidError, QueryFailedError: the task set cannot be selected.
    """
    specification = _deciding_fields(experiment)
    data = run.settings.data
    stored = stored_experiment(run.warehouse, experiment.name, data) if experiment.name else None
    if stored is not None:
        _refuse_other_content(stored, specification)
    tasks, verified = _select_tasks(run, experiment, stored)
    ready = tuple(task for task in tasks if all(node.subtask_id in verified for node in task.graph.nodes))
    left_out = tuple(task.task_id for task in tasks if task not in ready)
    if not ready:
        raise CommandError(
            f"there is no task to attempt: {len(tasks)} are selected, and none of them has all its subtasks"
            " verified with the applications installed here; widen the selection, or run: taskloom build"
        )
    functions = _function_hashes(ready, verified)
    hashes = _hashes(run, experiment, ready, functions)
    if stored is not None:
        derives = experiment.tasks.questions or experiment.tasks.impossible
        _refuse_other_data(stored, hashes, () if derives else _DATA)
        return FixedExperiment(stored, ready, left_out, verified, functions, known=True)
    name = experiment.name or _derive_name(experiment, hashes)
    existing = stored_experiment(run.warehouse, name, data)
    if existing is not None:
        other_ids = set(existing.task_ids) - {task.task_id for task in ready}
        derived = list(run.warehouse.read(Task, _IN_LIST, [sorted(other_ids)]))
        functions |= _function_hashes(derived, verified)
        return FixedExperiment(existing, (*ready, *derived), left_out, verified, functions, known=True)
    record = Experiment(
        experiment_id=name,
        name=name,
        protocol=experiment.protocol,
        specification=json.loads(experiment.model_dump_json()),
        agents=tuple(entry.title for entry in experiment.agents),
        task_ids=tuple(task.task_id for task in ready),
        seeds=experiment.seeds,
        hashes=hashes,
        software_version=distribution_version("taskloom"),
        started_at=timestamp(),
        folder=str(data / FOLDER / name),
        provenance=run.provenance("evaluation"),
    )
    return FixedExperiment(record, ready, left_out, verified, functions)


def _select_tasks(
    run: Run, experiment: ExperimentFile, stored: Experiment | None
) -> tuple[list[Task], Mapping[str, VerifiedSubtask]]:
    """The tasks of the experiment, in order, and the verified subtasks of their dataset version."""
    source = run.warehouse.reopened(experiment.tasks.version) if experiment.tasks.version else run.warehouse
    try:
        verified = load_verified(source, run.applications)
        names = list(stored.task_ids) if stored else selected_tasks(source, experiment.tasks)
        tasks_by_id = {
            task.task_id: task
            for task in source.read(Task, _IN_LIST, [names])
            if task.status == "validated" or stored or task.task_id in experiment.tasks.ids
        }
    finally:
        if source is not run.warehouse:
            source.close()
    tasks = [tasks_by_id[name] for name in names if name in tasks_by_id]
    twins = _find_twins(run.warehouse, tasks) if experiment.tasks.twins and stored is None else []
    return [*tasks, *twins], verified


def _function_hashes(tasks: Iterable[Task], verified: Mapping[str, VerifiedSubtask]) -> dict[str, str]:
    return {
        task.task_id: digest([verified[node.subtask_id].function.source for node in task.graph.nodes])
        for task in tasks
    }


def _hashes(
    run: Run, experiment: ExperimentFile, tasks: Sequence[Task], functions: Mapping[str, str]
) -> dict[str, str]:
    """Hashes that must be the same wherever the experiment continues or is repeated."""
    applications = sorted({node.application for task in tasks for node in task.graph.nodes})
    return {
        "tasks": digest([task.model_dump(mode="json", exclude={"provenance", "covered"}) for task in tasks]),
        "functions": digest(dict(functions)),
        "applications": digest(
            {name: run.applications[name].model_dump(mode="json") for name in applications}
        ),
        "specification": digest(_deciding_fields(experiment)),
        **prompt_hashes(experiment),
    }


def prompt_hashes(experiment: ExperimentFile) -> dict[str, str]:
    """Hash of the prompts of each agent, by `prompts of <agent>`."""
    hashes = [asyncio.run(prompt_hash(entry, experiment.protocol)) for entry in experiment.agents]
    builds = [template_hash(item.template or item.role) for item in (ActorInput, ComputerActorInput)]
    return {
        f"{PROMPTS_OF}{entry.title}": digest([value, builds]) if entry.agent == MODEL else value
        for entry, value in zip(experiment.agents, hashes, strict=True)
    }


def changed_since(stored: Experiment, hashes: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the inputs of an experiment that have changed; those without a stored hash are left out.

    >>> stored = Experiment(experiment_id="a", name="a", protocol="paper", hashes={"b": "1", "c": "1"})
    >>> changed_since(stored, {"b": "2", "c": "1", "d": "1"})
    ('b',)
    """
    return tuple(name for name, value in hashes.items() if stored.hashes.get(name, value) != value)


def _deciding_fields(experiment: ExperimentFile) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = json.loads(experiment.model_dump_json(exclude=_PLACE_ONLY))
    return content


def stored_experiment(warehouse: Warehouse, name: str, data: Path) -> Experiment | None:
    """The experiment `name`, if any, with its folder in the data folder `data`, which may have moved."""
    experiment = next(iter(warehouse.read(Experiment, "experiment_id = ?", [name])), None)
    if experiment is None:
        return None
    return experiment.model_copy(update={"folder": str(data / FOLDER / name)})


def _refuse_other_content(stored: Experiment, specification: Mapping[str, JsonValue]) -> None:
    earlier = _deciding_fields(ExperimentFile.model_validate(stored.specification))  # adds later fields
    changed = sorted(name for name in specification if specification[name] != earlier.get(name))
    if changed:
        raise CommandError(
            f"there is an experiment {stored.name!r} with other {', '.join(changed)}; give this one another"
            " name, or leave its content as it was"
        )


def _refuse_other_data(stored: Experiment, hashes: Mapping[str, str], data: Sequence[str]) -> None:
    """Refuse changed prompts and changed `data`."""
    prompts = [name for name in hashes if name.startswith(PROMPTS_OF)]
    changed = changed_since(stored, {name: hashes[name] for name in (*data, *prompts)})
    if changed:
        alternative = (
            "name a dataset version under tasks.version"
            if changed[0] in data
            else f"continue with taskloom {stored.software_version}, which made it"
        )
        raise CommandError(
            f"the {' and '.join(changed)} of the experiment {stored.name!r} have changed since its first"
            f" attempt, so new attempts would not compare; give it another name, or {alternative}"
        )


def _find_twins(warehouse: Warehouse, tasks: Sequence[Task]) -> list[Task]:
    """Validated chain twins of `tasks`, and the tasks that `tasks` are twins of."""
    names = [task.task_id for task in tasks]
    others = [task.twin_of for task in tasks if task.twin_of]
    twins = warehouse.read(
        Task,
        "status = 'validated' AND (twin_of IN (SELECT unnest($names::VARCHAR[])) OR task_id IN (SELECT"
        " unnest($others::VARCHAR[])))",
        {"names": names, "others": others},
    )
    return [task for task in twins if task.task_id not in set(names)]


def _derive_name(experiment: ExperimentFile, hashes: Mapping[str, str]) -> str:
    """A name derived from the content: equal experiments on equal data have the same name."""
    title = experiment.agents[0].title if len(experiment.agents) == 1 else "experiment"
    safe_title = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-") or "experiment"
    return f"{safe_title}-{digest(dict(hashes))[:8]}"
