"""Performs labelled cases in the installed applications, and stores the evidence in the data folder.

`python -m benchmarks.labelled_performances [PART …]` performs the cases whose ids begin with one of the parts
(all without parts) and that were not performed yet, and reports what failed. `--again` also repeats performed
ones, `--look FOLDER` writes the last screens of failed ones there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

from benchmarks.labelled_cases import (
    RIGHT_KINDS,
    BringToFront,
    Case,
    FileOperation,
    Kind,
    Operation,
    load_cases,
)
from benchmarks.labelled_outcome import first_mismatch
from benchmarks.recordings import subtask_of
from taskloom.environments.agents.recorded_agent import WorkedExampleAgent
from taskloom.environments.annotated import annotate
from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentFailureError
from taskloom.environments.lookup import missing_for_start, platform
from taskloom.resources.applications import Application, WorkedStep
from taskloom.resources.categories import ResourceKind
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.record import Record
from taskloom.synthesis.trajectories.setup_trajectories import since
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.subtask import Subtask

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
STEP_LIMIT = 60
_SIMPLE_KINDS: frozenset[Kind] = frozenset({"nothing done", "half done", "not saved", "done and undone"})
CASE_SECONDS = 150
"""A case that takes longer counts as not performed."""
LAYOUT = 1
"""Version of the storage layout; a change causes all cases to be performed again."""


class Performance(Record):
    """The performance of a case."""

    case_id: str
    """The case."""
    key: str
    """Hash of everything that it depends on."""
    problem: str = ""
    """Why it does not count; empty if it was performed."""
    initial: Evidence
    """State at the start of the subtask."""
    final: Evidence
    """State at its end."""


class _HasSandbox(Protocol):
    @property
    def sandbox(self) -> _HasHome | None: ...


class _HasHome(Protocol):
    @property
    def home(self) -> Path: ...


class Performances:
    """Performances stored under `<data>/labelled_work`."""

    def __init__(self, data: Path = DATA) -> None:
        self.folder = data / "labelled_work"

    def find(self, case: Case) -> Performance | None:
        """The performance of the present version of `case`, with its last picture; None if there is none."""
        path = self._path(case)
        with contextlib.suppress(FileNotFoundError):
            stored = Performance.model_validate_json(gzip.decompress(path.read_bytes()))
            if stored.key == key_of(case):
                return self._with_picture(stored, path)
        return None

    def keep(self, case: Case, performance: Performance) -> None:
        """Store `performance`, even if it failed, so that its end can be inspected."""
        path = self._path(case)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = performance.final.screenshot
        if picture is not None and picture.png:
            path.with_suffix(".png").write_bytes(picture.png)
        path.write_bytes(gzip.compress(performance.model_dump_json().encode(), 6))

    def _path(self, case: Case) -> Path:
        slug = re.sub(r"[^a-z0-9]+", "-", case.label.name.lower()).strip("-")
        return self.folder / case.application.name / f"{case.example.name}.{slug}.gz"

    def _with_picture(self, stored: Performance, path: Path) -> Performance:
        with contextlib.suppress(FileNotFoundError):
            picture = Screenshot.of(path.with_suffix(".png").read_bytes())
            final = stored.final.model_copy(update={"screenshot": picture})
            return stored.model_copy(update={"final": final})
        return stored


def key_of(case: Case) -> str:
    """Hash of everything that a performance depends on: operations, parameters, and the applications' setup.

    Fields with default values are excluded, so that records may get new fields.
    """
    setup = [
        application.model_dump_json(
            include={"version", "preparation", "launch", "fixtures"}, exclude_defaults=True
        )
        for application in applications_of(case)
    ]
    operations = [_as_text(operation) for operation in (*case.setup_operations, None, *case.operations)]
    shows = [item.model_dump_json(exclude_defaults=True) for item in case.label.shows]
    parts = [str(LAYOUT), json.dumps(case.labelled.parameters, sort_keys=True), *operations, *shows, *setup]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _as_text(operation: Operation | None) -> str:
    if operation is None:
        return ""
    return (
        operation.application
        if isinstance(operation, BringToFront)
        else operation.model_dump_json(exclude_defaults=True)
    )


def applications_of(case: Case) -> list[Application]:
    """Applications that a case needs, beginning with its own."""
    known = load_applications()
    others = [
        operation.application
        for operation in (*case.setup_operations, *case.operations)
        if isinstance(operation, BringToFront)
    ]
    return [known[name] for name in dict.fromkeys([case.application.name, *case.labelled.also_open, *others])]


async def perform(environment: Environment, case: Case) -> Performance:
    """Perform `case` in a fresh state of `environment`.

    Raises:
        EnvironmentFailureError: the environment failed; it must not be used again.
    """
    observation = await environment.reset(applications_of(case), without=_created_files(case))
    observation, problem = await _perform_operations(environment, case.setup_operations, observation)
    if problem:
        return _not_performed(case, f"before: {problem}", await environment.evidence())
    steps = inputs = 0
    if case.setup_operations:
        observation = await environment.bring_to_front(case.application.name)
        prepared = await environment.evidence()
        steps, inputs = prepared.step, len(prepared.inputs)
    initial = since(await environment.evidence(), steps, inputs)
    observation, problem = await _perform_operations(environment, case.operations, observation)
    await environment.observe()
    final = since(await environment.evidence(), steps, inputs)
    shows = [item.filled(case.labelled.parameters) for item in case.label.shows]
    return Performance(
        case_id=case.case_id,
        key=key_of(case),
        problem=problem or first_mismatch(shows, final),
        initial=initial,
        final=final,
    )


def _not_performed(case: Case, problem: str, evidence: Evidence | None = None) -> Performance:
    state = evidence or Evidence(step=0)
    return Performance(case_id=case.case_id, key=key_of(case), problem=problem, initial=state, final=state)


async def _perform_operations(
    environment: Environment, operations: Sequence[Operation], observation: Observation
) -> tuple[Observation, str]:
    """Perform `operations` in order; returns the last screen, and what went wrong."""
    pending: list[WorkedStep] = []
    for operation in (*operations, None):
        if isinstance(operation, WorkedStep):
            pending.append(operation)
            continue
        if pending:
            observation, problem = await _act(
                environment, WorkedExampleAgent(tuple(pending), {}), observation
            )
            pending = []
            if problem:
                return observation, problem
        if isinstance(operation, BringToFront):
            observation = await environment.bring_to_front(operation.application)
        elif isinstance(operation, FileOperation):
            problem = _perform_file_operation(environment, operation)
            if problem:
                return observation, problem
            observation = await environment.observe()
    return observation, ""


async def _act(
    environment: Environment, agent: WorkedExampleAgent, observation: Observation
) -> tuple[Observation, str]:
    """Let `agent` act until it ends; evidence is only taken at the end of a case, which saves most time."""
    for _ in range(STEP_LIMIT):
        decision = await agent.decide("", observation, ())
        if decision.action is None:
            return observation, decision.message
        try:
            observation = await environment.act(decision.action)
        except ActionInvalidError as error:
            return observation, str(error)
    return observation, f"more than {STEP_LIMIT} steps"


def _perform_file_operation(environment: Environment, operation: FileOperation) -> str:
    sandbox = cast(_HasSandbox, environment).sandbox
    assert sandbox is not None
    home = sandbox.home
    if operation.write:
        (home / operation.write).parent.mkdir(parents=True, exist_ok=True)
        (home / operation.write).write_text(operation.text, encoding="utf-8")
    elif operation.delete:
        paths = [
            path
            for path in home.glob(operation.delete)
            if ".applications" not in path.relative_to(home).parts
        ]
        if not paths:
            return f"there is nothing to delete for {operation.delete!r}"
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    else:
        source, target = home / (operation.copy_from or operation.move), home / operation.to
        if not source.exists():
            return f"there is no {source.relative_to(home)} to copy or move"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target) if operation.copy_from else shutil.move(source, target)
    return ""


def _created_files(case: Case) -> set[str]:
    """Files that the subtask creates without reading them, so they must not exist at the start."""
    subtask: Subtask = subtask_of(case.application, case.example)
    instance = subtask.bind(case.labelled.parameters, load_resource_categories())
    read = {item.value for item in instance.inputs}
    return {item.value for item in instance.outputs if item.kind is ResourceKind.FILE} - read


async def perform_missing(
    cases: Iterable[Case],
    data: Path = DATA,
    *,
    again: bool = False,
    at_once: int = 2,
    look: Path | None = None,
) -> list[str]:
    """Perform the cases that are not stored yet in `at_once` environments; returns what failed, and why."""
    stored = Performances(data)
    queue = [case for case in cases if again or _is_due(stored.find(case))]
    total, failed = len(queue), []

    async def work(name: str) -> None:
        module = platform(name)
        environment = module.create(module.SETTINGS.model_validate({"data_folder": data}))
        try:
            while case := next((item for item in queue if item.application.platform == name), None):
                queue.remove(case)
                started = time.monotonic()
                try:
                    performance = await asyncio.wait_for(perform(environment, case), CASE_SECONDS)
                except (EnvironmentFailureError, TimeoutError) as error:
                    performance = _not_performed(case, f"{type(error).__name__}: {error}")
                    await environment.close()
                    environment = module.create(module.SETTINGS.model_validate({"data_folder": data}))
                stored.keep(case, performance)
                if performance.problem:
                    failed.append(f"{case.case_id}: {performance.problem}")
                print(
                    f"{total - len(queue)}/{total}, {time.monotonic() - started:.0f} s: {case.case_id}:"
                    f" {performance.problem or 'performed'}",
                    file=sys.stderr,
                    flush=True,
                )
                if look is not None and performance.problem and performance.final.screenshot is not None:
                    _write_last_screen(case, performance.final, look)
        finally:
            await environment.close()

    for name in sorted({case.application.platform for case in queue}):
        await asyncio.gather(*(work(name) for _ in range(min(at_once, total))))
    return failed


def most_informative_first(cases: Sequence[Case]) -> list[Case]:
    """The cases in the order in which a part of them is most informative: first a right one and three wrong
    ones of each subtask, in catalogue order and in turn over the applications.
    """
    ranked: list[tuple[tuple[bool, int, str], Case]] = []
    kinds_by_subtask: dict[str, list[Kind]] = {}
    for case in sorted(cases, key=lambda case: case.label.kind in _SIMPLE_KINDS):
        kinds = kinds_by_subtask.setdefault(case.subtask_id, [])
        right = case.label.verdict == "right"
        count = sum((kind in RIGHT_KINDS) is right for kind in kinds)
        enough = count >= (1 if right else 3)
        kinds.append(case.label.kind)
        position = case.application.example_subtasks.index(case.example)
        ranked.append(((enough, position, case.application.name), case))
    return [case for _, case in sorted(ranked, key=lambda pair: pair[0])]


def _is_due(stored: Performance | None) -> bool:
    return stored is None or bool(stored.problem)


def missing_applications(case: Case, data: Path = DATA) -> list[str]:
    """Titles of applications of `case` that are not installed."""
    return [
        application.title for application in applications_of(case) if missing_for_start(application, data)
    ]


def _write_last_screen(case: Case, final: Evidence, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    assert final.screenshot is not None
    observation = Observation(screenshot=final.screenshot, controls=final.controls)
    slug = re.sub(r"[^a-z0-9]+", "-", case.case_id.lower())
    (folder / f"{slug}.png").write_bytes(annotate(observation, include_text=False))
    lines = [
        f"{item.control_type} {item.text!r} value={item.value[:100]!r} in {item.parent_type}"
        f" {item.parent_text!r}"
        f"{' checked' if item.checked else ''}{' disabled' if item.disabled else ''}{' focused' if item.focused else ''}"  # noqa: E501
        for item in final.controls
    ]
    lines += ["", final.window_title, final.url, repr(final.clipboard), *(file.path for file in final.files)]
    (folder / f"{slug}.txt").write_text("\n".join(lines))


def main() -> None:
    """Perform the cases named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled_performances", description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--look", type=Path)
    parser.add_argument("--verdict", choices=("right", "wrong"), help="only outcomes with this verdict")
    arguments = parser.parse_args()
    cases = [
        case
        for case in load_cases()
        if (not arguments.parts or any(case.case_id.startswith(part) for part in arguments.parts))
        and arguments.verdict in (None, case.label.verdict)
    ]
    cases = most_informative_first(cases)
    failed = asyncio.run(
        perform_missing(cases, again=arguments.again, at_once=arguments.at_once, look=arguments.look)
    )
    print(f"{len(failed)} failed", *failed, sep="\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
