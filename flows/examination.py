"""Re-examines evaluation functions from recorded evidence alone: no browser, no model call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.errors import CommandError
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.agreement import routes
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import subject_of
from taskloom.synthesis.examination.verdict import Thresholds, feedback, unacceptable
from taskloom.taskgraph.errors import TaskGraphError
from taskloom.taskgraph.records.evaluation_function import (
    EvaluationFunction,
    FunctionQuality,
    VerificationRound,
)
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ScreenshotMissingError
from taskloom.warehouse.store import Warehouse

_MAX_OTHERS = 5
_READS_PICTURES = ("check_text_exists(", "check_text_exists_via_ocr")


class FunctionExamination(Record):
    """The examination of one evaluation function."""

    function_id: str
    """The function's id, or the file that holds it."""
    subtask_id: str
    """The subtask it judges."""
    quality: FunctionQuality
    """Its kill matrix and mutation score."""
    reasons: tuple[str, ...]
    """Why it is not acceptable; empty if it is."""
    feedback: str
    """Feedback for its writer."""
    essential: tuple[str, ...] = ()
    """What every performance of the subtask changes, in words."""
    incidental: tuple[str, ...] = ()
    """What only some performances change."""

    @property
    def acceptable(self) -> bool:
        """Whether it distinguishes right from wrong work well enough."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class StoredFunction:
    """A stored evaluation function with the evidence to examine it."""

    function: EvaluationFunction
    subtask: Subtask
    positive: Trajectory
    """The recording it was accepted with."""
    others: tuple[Trajectory, ...]
    """Further recordings, of this subtask and of others."""


def examine_stored(
    stored: StoredFunction,
    sandbox: EvaluationSandbox,
    thresholds: Thresholds,
    categories: Mapping[str, ResourceCategory],
    replacement: Path | None = None,
) -> FunctionExamination:
    """Examine a stored function, or instead the one for its subtask in the file `replacement`, with the
    stored recordings.

    Raises:
        CommandError: the file cannot be read, or a recording does not fit the subtask.
    """
    name, source = stored.function.function_id, stored.function.source
    if replacement is not None:
        try:
            name, source = str(replacement), replacement.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{replacement} cannot be read: {error}.") from error
    positive, others, subtask = stored.positive, stored.others, stored.subtask
    try:
        instance = subtask.bind(positive.parameters, categories)
    except TaskGraphError as error:
        raise CommandError(f"The recording does not fit its subtask: {error}") from error
    cases = build_cases(
        positive,
        instance=instance,
        other_parameter_sets=subtask.available_parameters,
        other_trajectories=others,
    )
    recorded = [positive, *(item for item in others if item.subtask_id == positive.subtask_id)]
    quality = examine(source, positive, cases, sandbox, routes=len(routes(recorded)))
    subject = subject_of(positive, recorded[1:], instance)
    available = len({item.subtask_id for item in others} - {positive.subtask_id})
    least = min(thresholds.least_other_subtasks, available)
    limits = thresholds.model_copy(update={"least_other_subtasks": least})
    return FunctionExamination(
        function_id=name,
        subtask_id=positive.subtask_id,
        quality=quality,
        reasons=unacceptable(quality, limits),
        feedback=feedback(quality, limits),
        essential=tuple(effect.describe() for effect in (*subject.essential, *subject.shown)),
        incidental=tuple(effect.describe() for effect in subject.incidental if effect.area != "screen"),
    )


def stored_functions(warehouse: Warehouse, subtask_id: str = "") -> Iterator[StoredFunction]:
    """Accepted functions with their evidence, of all subtasks or of one.

    Pictures, if kept, are loaded if the function reads them; for a single subtask always, because another
    function may read them.
    """
    subtasks = {item.subtask_id: item for item in warehouse.read(Subtask)}
    rounds = [item for item in warehouse.read(VerificationRound, "accepted") if item.trajectory_id]
    accepted: dict[str, list[str]] = {}
    for item in rounds:
        accepted.setdefault(item.function_id or "", []).append(item.trajectory_id or "")
    by_subtask = {item.subtask_id: item.trajectory_id or "" for item in rounds}

    @lru_cache(maxsize=64)
    def recording(trajectory_id: str, with_pictures: bool) -> Trajectory | None:
        for pictures in dict.fromkeys((with_pictures, False)):
            with suppress(ScreenshotMissingError):
                found = warehouse.read(
                    Trajectory, "trajectory_id = $id", {"id": trajectory_id}, pictures=pictures
                )
                return next(found, None)
        return None

    condition, parameters = (
        ("accepted AND subtask_id = $id", {"id": subtask_id}) if subtask_id else ("accepted", {})
    )
    for function in warehouse.read(EvaluationFunction, condition, parameters):
        subtask = subtasks.get(function.subtask_id)
        needed = bool(subtask_id) or any(name in function.source for name in _READS_PICTURES)
        own = [recording(item, needed) for item in dict.fromkeys(accepted.get(function.function_id, ()))]
        recordings = [item for item in own if item is not None]
        if subtask is None or not recordings:
            continue
        others = [recording(item, needed) for item in _others_of(subtask, subtasks.values(), by_subtask)]
        yield StoredFunction(
            function=function,
            subtask=subtask,
            positive=recordings[0],
            others=(*recordings[1:], *(item for item in others if item is not None)),
        )


def _others_of(subtask: Subtask, subtasks: Iterable[Subtask], recorded: Mapping[str, str]) -> list[str]:
    """Recordings of other subtasks, those of its application first."""
    candidates = [
        item for item in subtasks if item.subtask_id != subtask.subtask_id and item.subtask_id in recorded
    ]
    candidates.sort(key=lambda item: (item.application != subtask.application, item.subtask_id))
    return [recorded[item.subtask_id] for item in candidates[:_MAX_OTHERS]]
