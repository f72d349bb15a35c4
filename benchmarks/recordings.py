"""Recordings of curated subtasks by their worked examples, stored in the data folder as evidence for the
benchmarks.

`python -m benchmarks.recordings` makes the missing recordings in the installed applications; simulated ones
need neither a browser nor an installation.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskloom.environments.agents.recorded_agent import WorkedExampleAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, run_episode
from taskloom.environments.errors import EnvironmentFailureError
from taskloom.environments.installing.applications import is_installed
from taskloom.environments.lookup import platform
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.categories import ResourceKind
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
SETS_PER_SUBTASK = 2
STEP_LIMIT = 40


@dataclass(frozen=True)
class RecordedSubtask:
    """A subtask with one recording per parameter set."""

    subtask: Subtask
    trajectories: tuple[Trajectory, ...]


def simulated_recordings() -> list[RecordedSubtask]:
    """New recordings of the simulated applications."""

    async def record() -> list[RecordedSubtask]:
        module = platform("simulated")
        environment = module.create(module.SETTINGS.model_validate({"pictures": False}))
        try:
            return [
                item
                for application in simulated_applications()
                for item in [
                    await record_subtask(environment, application, example)
                    for example in application.example_subtasks
                ]
                if item is not None
            ]
        finally:
            await environment.close()

    return asyncio.run(record())


def stored_recordings(data: Path = DATA) -> list[RecordedSubtask]:
    """Stored recordings of the installed applications."""
    applications = load_applications()
    return list(_read(data / "recordings", applications.values()))


async def record_subtask(
    environment: Environment, application: Application, example: ExampleSubtask
) -> RecordedSubtask | None:
    """Perform a subtask with its first parameter sets; None if a reset does not provide its inputs, or it
    fails."""
    categories = load_resource_categories()
    subtask = subtask_of(application, example)
    fixtures = {(fixture.category, fixture.value) for fixture in application.fixtures}
    trajectories: list[Trajectory] = []
    for parameters in example.parameter_sets:
        instance = subtask.bind(parameters, categories)
        if len(trajectories) >= SETS_PER_SUBTASK or any(
            (item.category, item.value) not in fixtures for item in instance.inputs
        ):
            continue
        read = {item.value for item in instance.inputs}
        created = {item.value for item in instance.outputs if item.kind is ResourceKind.FILE} - read
        trajectory = await run_episode(
            environment,
            WorkedExampleAgent(example.worked_example, parameters),
            assignment=Assignment.of_subtask(instance),
            applications=[application],
            step_limit=STEP_LIMIT,
            without=created,
        )
        if trajectory.termination == "finished":
            trajectories.append(trajectory)
        else:
            print(f"{subtask.subtask_id}: {trajectory.termination}: {trajectory.message}", file=sys.stderr)
    return RecordedSubtask(subtask, tuple(trajectories)) if trajectories else None


def subtask_of(application: Application, example: ExampleSubtask) -> Subtask:
    """The subtask of a curated example."""
    return Subtask.of(example, application, origin="curated")


def _read(folder: Path, applications: Iterable[Application]) -> Iterator[RecordedSubtask]:
    for application in applications:
        for example in application.example_subtasks:
            subtask = subtask_of(application, example)
            files = sorted(folder.glob(f"{subtask.subtask_id}.*.json.gz"))
            texts = [gzip.decompress(path.read_bytes()) for path in files]
            if texts:
                yield RecordedSubtask(subtask, tuple(Trajectory.model_validate_json(text) for text in texts))


async def record_missing(data: Path, names: Sequence[str]) -> None:
    """Make the missing recordings, application by application."""
    module = platform("web_browser")
    environment = module.create(module.SETTINGS.model_validate({"data_folder": data}))
    folder = data / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for application in load_applications().values():
            if (names and application.name not in names) or not is_installed(application, data):
                continue
            for example in application.example_subtasks:
                name = f"{application.name}.{example.name}"
                if any(folder.glob(f"{name}.*.json.gz")):
                    continue
                try:
                    recorded = await record_subtask(environment, application, example)
                except EnvironmentFailureError as error:
                    print(f"{name}: {error}", file=sys.stderr)
                    continue
                for number, trajectory in enumerate(recorded.trajectories if recorded else ()):
                    text = trajectory.model_dump_json().encode()
                    (folder / f"{name}.{number}.json.gz").write_bytes(gzip.compress(text, 6))
                print(f"{name}: {len(recorded.trajectories) if recorded else 0} recordings")
    finally:
        await environment.close()


if __name__ == "__main__":
    asyncio.run(record_missing(DATA, sys.argv[1:]))
