"""Performing labelled cases in the installed applications; what was seen is kept in the data folder.

`python -m benchmarks.labelled_performances [PART …]` performs the cases whose ids begin with a given part
(all without one) that were not performed yet, and says of each what failed. With `--again` also those that
were, with `--look FOLDER` the last screens are written there.
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
    Case,
    Deed,
    FileDeed,
    Kind,
    ToFront,
    load_cases,
)
from benchmarks.labelled_outcome import not_shown
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
_PLAIN: frozenset[Kind] = frozenset({"nothing done", "half done", "not saved", "done and undone"})
CASE_SECONDS = 150
"""A case that takes longer counts as not performed."""
LAYOUT = 1
"""Number of the way performances are kept; another one has all performed again."""


class Performance(Record):
    """What came of a case."""

    case_id: str
    """The case."""
    key: str
    """Hash of all that it depends on."""
    problem: str = ""
    """Why it does not count; empty where it was performed."""
    initial: Evidence
    """State at the start of the subtask."""
    final: Evidence
    """State at its end."""


class _Housed(Protocol):
    @property
    def sandbox(self) -> _Home | None: ...


class _Home(Protocol):
    @property
    def home(self) -> Path: ...


class Performances:
    """Performances kept under `<data>/labelled_work`."""

    def __init__(self, data: Path = DATA) -> None:
        """Keep them in the data folder `data`."""
        self.folder = data / "labelled_work"

    def find(self, case: Case) -> Performance | None:
        """The performance of `case` as it is written now, with its last picture; None where there is none."""
        place = self._place(case)
        with contextlib.suppress(FileNotFoundError):
            kept = Performance.model_validate_json(gzip.decompress(place.read_bytes()))
            if kept.key == key_of(case):
                return self._with_picture(kept, place)
        return None

    def keep(self, case: Case, performance: Performance) -> None:
        """Store `performance`; a failed one too, so that its end can be looked at."""
        place = self._place(case)
        place.parent.mkdir(parents=True, exist_ok=True)
        picture = performance.final.screenshot
        if picture is not None and picture.png:
            place.with_suffix(".png").write_bytes(picture.png)
        place.write_bytes(gzip.compress(performance.model_dump_json().encode(), 6))

    def _place(self, case: Case) -> Path:
        slug = re.sub(r"[^a-z0-9]+", "-", case.label.name.lower()).strip("-")
        return self.folder / case.application.name / f"{case.example.name}.{slug}.gz"

    def _with_picture(self, kept: Performance, place: Path) -> Performance:
        with contextlib.suppress(FileNotFoundError):
            picture = Screenshot.of(place.with_suffix(".png").read_bytes())
            final = kept.final.model_copy(update={"screenshot": picture})
            return kept.model_copy(update={"final": final})
        return kept


def key_of(case: Case) -> str:
    """Hash of what a performance depends on: actions, parameters, and how the applications are set up.

    Fields left at their defaults do not count, so that a record may get a new one.
    """
    setup = [
        application.model_dump_json(
            include={"version", "preparation", "launch", "fixtures"}, exclude_defaults=True
        )
        for application in applications_of(case)
    ]
    deeds = [_as_text(deed) for deed in (*case.deeds_before, None, *case.deeds)]
    shows = [item.model_dump_json(exclude_defaults=True) for item in case.label.shows]
    parts = [str(LAYOUT), json.dumps(case.labelled.parameters, sort_keys=True), *deeds, *shows, *setup]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _as_text(deed: Deed | None) -> str:
    if deed is None:
        return ""
    return deed.application if isinstance(deed, ToFront) else deed.model_dump_json(exclude_defaults=True)


def applications_of(case: Case) -> list[Application]:
    """Applications that a case needs, its own first."""
    known = load_applications()
    fronts = [deed.application for deed in (*case.deeds_before, *case.deeds) if isinstance(deed, ToFront)]
    return [known[name] for name in dict.fromkeys([case.application.name, *case.labelled.also_open, *fronts])]


async def perform(environment: Environment, case: Case) -> Performance:
    """Perform `case` in a fresh state of `environment`.

    Raises:
        EnvironmentFailureError: the environment failed; it must not be used again.
    """
    observation = await environment.reset(applications_of(case), without=_made(case))
    observation, problem = await _do(environment, case.deeds_before, observation)
    if problem:
        return _not_performed(case, f"before: {problem}", await environment.evidence())
    steps = inputs = 0
    if case.deeds_before:
        observation = await environment.bring_to_front(case.application.name)
        prepared = await environment.evidence()
        steps, inputs = prepared.step, len(prepared.inputs)
    initial = since(await environment.evidence(), steps, inputs)
    observation, problem = await _do(environment, case.deeds, observation)
    await environment.observe()
    final = since(await environment.evidence(), steps, inputs)
    shows = [item.filled(case.labelled.parameters) for item in case.label.shows]
    return Performance(
        case_id=case.case_id,
        key=key_of(case),
        problem=problem or not_shown(shows, final),
        initial=initial,
        final=final,
    )


def _not_performed(case: Case, problem: str, seen: Evidence | None = None) -> Performance:
    seen = seen or Evidence(step=0)
    return Performance(case_id=case.case_id, key=key_of(case), problem=problem, initial=seen, final=seen)


async def _do(
    environment: Environment, deeds: Sequence[Deed], observation: Observation
) -> tuple[Observation, str]:
    """Do `deeds` in order; the last screen, and what went wrong."""
    pending: list[WorkedStep] = []
    for deed in (*deeds, None):
        if isinstance(deed, WorkedStep):
            pending.append(deed)
            continue
        if pending:
            observation, problem = await _act(
                environment, WorkedExampleAgent(tuple(pending), {}), observation
            )
            pending = []
            if problem:
                return observation, problem
        if isinstance(deed, ToFront):
            observation = await environment.bring_to_front(deed.application)
        elif isinstance(deed, FileDeed):
            problem = _do_with_files(environment, deed)
            if problem:
                return observation, problem
            observation = await environment.observe()
    return observation, ""


async def _act(
    environment: Environment, agent: WorkedExampleAgent, observation: Observation
) -> tuple[Observation, str]:
    """Let `agent` act to its end; evidence is taken at the end of a case only, which saves most of the
    time."""
    for _ in range(STEP_LIMIT):
        decision = await agent.decide("", observation, ())
        if decision.action is None:
            return observation, decision.message
        try:
            observation = await environment.act(decision.action)
        except ActionInvalidError as error:
            return observation, str(error)
    return observation, f"more than {STEP_LIMIT} steps"


def _do_with_files(environment: Environment, deed: FileDeed) -> str:
    sandbox = cast(_Housed, environment).sandbox
    assert sandbox is not None
    home = sandbox.home
    if deed.write:
        (home / deed.write).parent.mkdir(parents=True, exist_ok=True)
        (home / deed.write).write_text(deed.text, encoding="utf-8")
    elif deed.delete:
        found = [
            path for path in home.glob(deed.delete) if ".applications" not in path.relative_to(home).parts
        ]
        if not found:
            return f"there is nothing to delete for {deed.delete!r}"
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    else:
        source, target = home / (deed.copy_from or deed.move), home / deed.to
        if not source.exists():
            return f"there is no {source.relative_to(home)} to copy or move"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target) if deed.copy_from else shutil.move(source, target)
    return ""


def _made(case: Case) -> set[str]:
    """Files that the subtask makes without reading them: they are not there at the start."""
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
    """Perform what is not kept yet, `at_once` environments side by side; what failed, and why."""
    kept = Performances(data)
    queue = [case for case in cases if again or _is_due(kept.find(case))]
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
                kept.keep(case, performance)
                if performance.problem:
                    failed.append(f"{case.case_id}: {performance.problem}")
                print(
                    f"{total - len(queue)}/{total}, {time.monotonic() - started:.0f} s: {case.case_id}:"
                    f" {performance.problem or 'performed'}",
                    file=sys.stderr,
                    flush=True,
                )
                if look is not None and performance.problem and performance.final.screenshot is not None:
                    _look(case, performance.final, look)
        finally:
            await environment.close()

    for name in sorted({case.application.platform for case in queue}):
        await asyncio.gather(*(work(name) for _ in range(min(at_once, total))))
    return failed


def most_telling_first(cases: Sequence[Case]) -> list[Case]:
    """The cases in an order in which a part of them tells most: of every subtask a right one and three wrong
    ones of different kinds first, subtask by subtask in turn over the applications, those that stand first in
    the catalogue before the others.
    """
    ranked: list[tuple[tuple[bool, int, str], Case]] = []
    seen: dict[str, list[Kind]] = {}
    for case in sorted(cases, key=lambda case: case.label.kind in _PLAIN):
        kinds = seen.setdefault(case.subtask_id, [])
        right = case.label.verdict == "right"
        count = sum((kind in RIGHT_KINDS) is right for kind in kinds)
        enough = count >= (1 if right else 3)
        kinds.append(case.label.kind)
        place = case.application.example_subtasks.index(case.example)
        ranked.append(((enough, place, case.application.name), case))
    return [case for _, case in sorted(ranked, key=lambda pair: pair[0])]


def _is_due(kept: Performance | None) -> bool:
    return kept is None or bool(kept.problem)


def missing_applications(case: Case, data: Path = DATA) -> list[str]:
    """Titles of applications of `case` that are not installed."""
    return [
        application.title for application in applications_of(case) if missing_for_start(application, data)
    ]


def _look(case: Case, final: Evidence, folder: Path) -> None:
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
    """Perform what is asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled_performances", description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--look", type=Path)
    parser.add_argument("--verdict", choices=("right", "wrong"), help="only outcomes that are called so")
    given = parser.parse_args()
    cases = [
        case
        for case in load_cases()
        if (not given.parts or any(case.case_id.startswith(part) for part in given.parts))
        and given.verdict in (None, case.label.verdict)
    ]
    cases = most_telling_first(cases)
    failed = asyncio.run(perform_missing(cases, again=given.again, at_once=given.at_once, look=given.look))
    print(f"{len(failed)} failed", *failed, sep="\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
