"""Writes exports completely or not at all, with a manifest; equal data and selections give equal bytes.

A format is a module in `exports/` with a function `write(source, folder, options) -> ExportOutcome`, which
writes what the format can express into an empty temporary folder; the manifest is added here and the folder
moved into place. A format that writes recordings sets `RECORDINGS = True`, and one that refuses tasks by
their ids `REFUSES_TASKS = True`.
"""

import hashlib
import shutil
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, TypeVar, cast

import pyarrow as pa
from pydantic import Field

from taskloom.resources.applications import Application
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.noise import NoisePlace
from taskloom.resources.reading.translation import WorldlyApplications
from taskloom.resources.record import Record
from taskloom.resources.worlds import World
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.evaluation_function import CheckFacts, EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.files import write_json, write_lines
from taskloom.warehouse.lookup import EXPORTS
from taskloom.warehouse.querying import QueryResult
from taskloom.warehouse.sets.drawing import draw_tasks
from taskloom.warehouse.sets.key_table import SPLITS, SplitName
from taskloom.warehouse.sets.selection import Selection, SetRequest, Shortfall
from taskloom.warehouse.sets.splits import LeakageReport
from taskloom.warehouse.store import Warehouse

R = TypeVar("R", bound=Record)
_TASKS_AT_ONCE = 20_000
_IN_VALUES = "task_id IN (SELECT unnest($values::VARCHAR[]))"
_TRAJECTORIES_AT_ONCE = 20  # Their evidence and controls are in memory together.
MANIFEST = "manifest.json"
SETS = "sets.json"
LEFT_OUT = "left_out.jsonl"
Coordinates = Literal["absolute", "unit", "thousand"]
"""Pixels, 0 to 1, or 0 to 1000."""


class ExportOptions(Record):
    """Choices that the formats leave open."""

    coordinates: Coordinates = "absolute"
    """Coordinates of actions in fine-tuning records: pixels, 0 to 1, or 0 to 1000."""
    granularity: Literal["step", "trajectory"] = "step"
    """Fine-tuning records per step or per trajectory."""
    window: int = Field(default=0, ge=0)
    """Maximum steps in a record of a trajectory; the next record says what was done before. 0 for all."""
    pictures: int = Field(default=0, ge=0)
    """Maximum screens shown in a record of openai_chat, the last ones; answers to the others are not trained
    on. 0 for all."""
    instruction_level: Literal["high", "low"] = "low"
    """Instruction given in fine-tuning records: the task's or the subtask's."""
    attempts: Literal["", "successful", "all"] = ""
    """Which attempts of agents at the tasks are written, with scores, instead of performances and replays."""
    agent: str = ""
    """Agent whose attempts are written; empty for all."""
    image_urls: str = Field(default="data", pattern="^(data|https?://.+)$")
    """Addresses of pictures in OpenAI's records: `data`, or the prefix under which you serve the export's
    folder."""
    licence: str = "apache-2.0"
    """Licence named on the dataset card."""


class Refused(Record):
    """An item that a format cannot express."""

    item_id: str
    """The item."""
    reason: str
    """Why."""


class ExportOutcome(Record):
    """What a format wrote."""

    counts: dict[str, int]
    """Items per kind."""
    refused: tuple[Refused, ...] = ()
    """Items left out, with the reason."""
    notes: tuple[str, ...] = ()
    """What a user of the files should know."""


class Manifest(Record):
    """What an export holds; written into it as `manifest.json`."""

    format: str
    """Export format."""
    version: str
    """Dataset version; empty when the present state was exported."""
    selection: Selection
    """The selection that was exported."""
    options: ExportOptions
    """How it was written."""
    splits: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tasks per set, where sets were requested."""
    leakage: LeakageReport | None = None
    """What was checked for leaks, where sets were requested."""
    shortfalls: tuple[Shortfall, ...] = ()
    """Wanted tasks that do not exist."""
    outcome: ExportOutcome
    """What was written."""
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of every file."""


@dataclass(frozen=True)
class ExportSource:
    """The selected tasks and everything that belongs to them, read on demand."""

    warehouse: Warehouse
    task_ids: tuple[str, ...]
    splits: Mapping[SplitName, frozenset[str]] = field(default_factory=dict)
    """Sets; empty when none were requested."""
    checks: Mapping[str, CheckFacts] = field(default_factory=dict)
    """Facts about the checks that evaluation functions call; a format that rewrites functions refuses those
    that call others."""
    leakage: LeakageReport | None = None

    def tasks(self) -> Iterator[Task]:
        """The selected tasks in id order."""
        for batch in self._batches():
            yield from self.of(Task, "task_id", batch)

    def tasks_with(self, record: type[R], column: str) -> Iterator[tuple[Task, list[R]]]:
        """The selected tasks in id order, each with the records that have its id in `column`."""
        for batch in self._batches():
            records: defaultdict[str, list[R]] = defaultdict(list)
            for item in self.of(record, column, batch):
                records[getattr(item, column)].append(item)
            for task in self.of(Task, "task_id", batch):
                yield task, records[task.task_id]

    def _batches(self) -> Iterator[tuple[str, ...]]:
        return (self.task_ids[start : start + 1000] for start in range(0, len(self.task_ids), 1000))

    def split_of(self, task_id: str) -> SplitName:
        """The set of a task; `train` if no sets were requested."""
        return next((name for name, members in self.splits.items() if task_id in members), "train")

    def task_columns(self, columns: Sequence[str]) -> Iterator[tuple[SplitName, pa.Table]]:
        """Columns of the tasks by set, then id, a few thousand rows at a time."""
        selected = ", ".join(f'"{name}"' for name in columns)
        sql = f"SELECT {selected} FROM tasks WHERE {_IN_VALUES} ORDER BY task_id"
        for split, result in self._query_by_set(sql):
            yield split, result.table

    def _query_by_set(self, sql: str) -> Iterator[tuple[SplitName, QueryResult]]:
        """Query results about the tasks of each set, a few thousand tasks at a time."""
        for split, names in self.by_set().items():
            for start in range(0, len(names), _TASKS_AT_ONCE):
                yield split, self.warehouse.query(sql, {"values": names[start : start + _TASKS_AT_ONCE]})

    def by_set(self) -> dict[SplitName, list[str]]:
        """The tasks of each set, by id; all in `train` if no sets were requested."""
        sets: Mapping[SplitName, frozenset[str]] = self.splits or {"train": frozenset(self.task_ids)}
        return {name: sorted(sets.get(name, ())) for name in SPLITS}

    @cached_property
    def split_of_subtask(self) -> dict[str, SplitName]:
        """The subtasks of the tasks, sorted, each with the set of its own records; `train` if training
        tasks share it with others."""
        sets: dict[str, set[SplitName]] = {}
        nodes = f"(SELECT unnest(nodes) AS node FROM tasks WHERE {_IN_VALUES})"
        for split, result in self._query_by_set(f"SELECT DISTINCT node.subtask_id AS name FROM {nodes}"):
            for name in result.texts():
                sets.setdefault(name, set()).add(split)
        return {item: min(names, key=SPLITS.index) for item, names in sorted(sets.items())}

    @cached_property
    def subtasks(self) -> dict[str, Subtask]:
        """Subtask templates of the tasks by id."""
        return {item.subtask_id: item for item in self.of(Subtask, "subtask_id", self.split_of_subtask)}

    @cached_property
    def functions(self) -> dict[str, EvaluationFunction]:
        """One evaluation function per subtask: the one whose examination killed the most, then by id."""
        functions: dict[str, EvaluationFunction] = {}
        for item in self.of(EvaluationFunction, "subtask_id", self.split_of_subtask):
            functions[item.subtask_id] = max(functions.get(item.subtask_id, item), item, key=_quality)
        return functions

    @cached_property
    def noise(self) -> dict[str, tuple[NoisePlace, ...]]:
        """Places that each application was found to change by itself, in any world."""
        places_of: dict[str, dict[NoisePlace, None]] = {}
        for item in self.warehouse.read(ApplicationNoise):
            known = self.applications.get(item.application)
            if known is not None and known.version == item.version:
                places_of.setdefault(item.application, {}).update(dict.fromkeys(item.places))
        return {name: tuple(places) for name, places in places_of.items()}

    @cached_property
    def applications(self) -> dict[str, Application]:
        """The applications in the warehouse, by name."""
        return {item.name: item for item in self.warehouse.read(Application)}

    @cached_property
    def _in_worlds(self) -> WorldlyApplications:
        known = {item.name: item for item in self.warehouse.read(World)}
        return WorldlyApplications(self.applications, (), known=known)

    def applications_in(self, world: str) -> Mapping[str, Application] | None:
        """Applications by name in a world that the dataset stores or this taskloom generates; else None."""
        try:
            return self._in_worlds.in_world(world)
        except UnknownCatalogEntryError:
            return None

    def trajectories(self, pictures: bool = True) -> Iterator[Trajectory]:
        """Trajectories of the subtasks that cross-verification accepted, or that were imported, by id."""
        names = self.warehouse.query(
            "SELECT trajectory_id FROM trajectories WHERE subtask_id IN (SELECT unnest($values::VARCHAR[]))"
            " AND (provenance_stage = 'import'"
            " OR trajectory_id IN (SELECT trajectory_id FROM verifications WHERE accepted))"
            " ORDER BY trajectory_id",
            {"values": list(self.split_of_subtask)},
        ).texts()
        for start in range(0, len(names), _TRAJECTORIES_AT_ONCE):
            batch = names[start : start + _TRAJECTORIES_AT_ONCE]
            yield from self.of(Trajectory, "trajectory_id", batch, pictures=pictures)

    def trajectory(self, trajectory_id: str) -> Trajectory | None:
        """The trajectory with this id; None if it is not stored."""
        return self.warehouse.find(Trajectory, "trajectory_id", trajectory_id, pictures=True)

    def of(
        self, record: type[R], column: str, values: Iterable[str], *, pictures: bool = False
    ) -> Iterator[R]:
        """Records whose `column` has one of `values`."""
        condition = f"{column} IN (SELECT unnest($values::VARCHAR[]))"
        return self.warehouse.read(record, condition, {"values": list(values)}, pictures=pictures)


class ExportFormat(Protocol):
    """What a format offers; optionally also the flags `RECORDINGS` and `REFUSES_TASKS`."""

    @staticmethod
    def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
        """Write what the format can express of `source` into an empty folder."""
        ...


def export(
    warehouse: Warehouse,
    format_name: str,
    folder: Path,
    selection: Selection | None = None,
    options: ExportOptions | None = None,
    *,
    sets: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    checks: Mapping[str, CheckFacts] | None = None,
) -> Manifest:
    """Export the selected tasks to `folder`, which must not exist yet; nothing is left behind if it fails.

    With `sets`, the tasks are divided into sets that share no subtask template, resource value, intent or
    instruction, except what they may share. Tasks whose instruction, or a subtask's, is in `named_lists`
    are removed. Formats whose tasks are judged by other programs need `checks` (`check_facts`).

    Raises:
        ExportRefusedError: the folder exists or cannot be written, or the export or a set would be empty.
        UnknownFormatError, SelectionInvalidError: no such format; the selection names unknown things.
    """
    module = cast(ExportFormat, EXPORTS.load(format_name))
    selection, options = selection or Selection(), options or ExportOptions()
    recordings = getattr(module, "RECORDINGS", False)
    if options.attempts and not recordings:
        raise ExportRefusedError(f"{format_name} writes no recordings, so it cannot write agents' attempts.")
    if options.instruction_level == "high" and recordings and not options.attempts:
        selection = selection.model_copy(update={"replayed": True})
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportRefusedError(f"{folder} exists already; an export never overwrites. Name another folder.")

    def unwritable(task_ids: tuple[str, ...]) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as trial_folder:
            trial = ExportSource(warehouse, task_ids, {}, checks or {})
            refused = module.write(trial, Path(trial_folder), options).refused
        if len(refused) == len(task_ids):
            raise _nothing_to_write(format_name, len(task_ids), refused)
        return {item.item_id: item.reason for item in refused}

    find_unwritable = unwritable if getattr(module, "REFUSES_TASKS", False) else None
    folder = folder.absolute()
    partial = folder.parent / f".{folder.name}.{uuid.uuid4().hex}.part"
    try:
        drawn = draw_tasks(warehouse, selection, sets, named_lists, find_unwritable)
        source = ExportSource(
            warehouse,
            drawn.task_ids,
            {name: frozenset(ids) for name, ids in drawn.splits.items()},
            checks or {},
            drawn.report,
        )
        partial.mkdir(parents=True)
        outcome = module.write(source, partial, options)
        if not any(outcome.counts.values()):
            raise _nothing_to_write(format_name, len(drawn.task_ids), outcome.refused)
        unwritten = tuple(Refused(item_id=name, reason=reason) for name, reason in drawn.unwritable.items())
        outcome = outcome.model_copy(update={"refused": (*unwritten, *outcome.refused)})
        if drawn.splits:
            write_json(partial / SETS, drawn.splits)
        if drawn.left_out:
            write_lines(
                partial / LEFT_OUT,
                ({"task_id": name, "reason": reason} for name, reason in sorted(drawn.left_out.items())),
            )
        paths = sorted(partial.rglob("*"))
        manifest = Manifest(
            format=format_name,
            version=warehouse.version or "",
            selection=selection,
            options=options,
            splits={str(name): ids for name, ids in drawn.splits.items()},
            leakage=drawn.report,
            shortfalls=drawn.shortfalls,
            outcome=outcome,
            files={path.relative_to(partial).as_posix(): _sha256(path) for path in paths if path.is_file()},
        )
        (partial / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except OSError as error:
        raise ExportRefusedError(
            f"The export to {folder} failed and left nothing: {error.strerror or error}."
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def _nothing_to_write(format_name: str, tasks: int, refused: Sequence[Refused]) -> ExportRefusedError:
    most_frequent = Counter(item.reason for item in refused).most_common(3)
    reasons = (
        "; ".join(f"{count} × {reason}" for reason, count in most_frequent)
        or "they have no recording that it could use"
    )
    return ExportRefusedError(
        f"The format {format_name} has nothing to write of the {tasks} selected tasks: {reasons}. Nothing was"
        " written."
    )


def _quality(function: EvaluationFunction) -> tuple[bool, float, float, str]:
    quality = function.quality
    total = sum(family.total for family in quality.families)
    killed = sum(family.killed for family in quality.families)
    share = killed / total if total else 0.0
    return (function.accepted, share, quality.mutation_score or 0.0, function.function_id)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
