"""The tables of the warehouse, derived from the records.

A record's fields become columns of the same name, with the field's docstring as comment; the fields of
records under `flatten` become columns instead of one struct. `evolution` adds new columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from taskloom.resources.applications import Application
from taskloom.resources.dimensions import TABLE
from taskloom.resources.record import Record
from taskloom.resources.worlds import World
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, AgentStep, Experiment
from taskloom.taskgraph.records.criticism import Criticism, JudgeTrial, Review
from taskloom.taskgraph.records.effect import ApplicationNoise, PerformanceEffects
from taskloom.taskgraph.records.evaluation_function import (
    EvaluationFunction,
    FunctionQuality,
    JudgedOutcome,
    VerificationRound,
)
from taskloom.taskgraph.records.exploration import FoundRecord, ProposedCategory, SeenScreen
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Complexity, Intent, OrderFact, Rejection, Replay, Task, Validation
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.field_codecs import (
    CONTROL_LIST,
    COUNTED_LINK,
    LINKS_SQL,
    WORDS_SQL,
    FieldCodec,
    field_codecs,
)
from taskloom.warehouse.records import (
    DatasetVersion,
    ExplorationChoice,
    GateResult,
    ImportedItem,
    ModelCallRecord,
    Recheck,
    RunRecord,
    VersionTag,
)

SCHEMA_VERSION = 4
"""Number of the layout below; a warehouse with a higher one is refused."""

_COMPLEXITY: dict[str, str] = {row.measure: row.column for row in TABLE} | {"components": "component_count"}


APPLICATIONS_SQL = "list_sort(list_distinct([node.application FOR node IN nodes]))"
"""Computes the column `applications` of `tasks`, which older versions lack."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as documented and created."""

    name: str
    arrow: pa.DataType
    comment: str
    """What it holds; the docstring of the record's field."""


@dataclass(frozen=True)
class Table:
    """One table and the record it keeps."""

    name: str
    key: tuple[str, ...]
    record: type[Record] | None = None
    """Record class of its rows; None for tables of shared values."""
    about: str = ""
    """What a row is, where the record's docstring does not say it."""
    flatten: Mapping[str, tuple[type[Record], Mapping[str, str]]] = field(default_factory=dict)
    """Fields, besides the provenance, whose members become columns of the table: field to its record class
    and its renamed columns."""
    omit: frozenset[str] = frozenset()
    """Fields kept in a table of their own."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Fields whose columns get another name, because their own is an SQL keyword."""
    extra: tuple[Column, ...] = ()
    """Columns beyond the record's fields; they come first."""
    prepared: Mapping[str, str] = field(default_factory=dict)
    """Extra columns that every insert computes from the others, with their SQL."""
    empty_key: bool = False
    """Whether a key may be empty text, as the name of the first world is."""

    @property
    def comment(self) -> str:
        """What a row is."""
        description = self.about or (self.record.__doc__ if self.record else "") or ""
        return " ".join(description.partition("\n\n")[0].split())

    @cached_property
    def fields(self) -> tuple[FieldCodec, ...]:
        """The record's fields that are columns of their own."""
        if self.record is None:
            return ()
        return tuple(
            _rename(item, self.renamed)
            for item in field_codecs(self.record)
            if item.field not in self.flattened and item.field not in self.omit
        )

    @cached_property
    def flattened(self) -> dict[str, tuple[FieldCodec, ...]]:
        """Codecs of the flattened fields, with their column names in the table."""
        codecs: dict[str, tuple[FieldCodec, ...]] = {}
        flatten = dict(self.flatten)
        if self.record is not None and "provenance" in self.record.model_fields:
            flatten["provenance"] = (Provenance, {"stage": "provenance_stage"})
        for name, (record, renamed) in flatten.items():
            codecs[name] = tuple(_rename(item, renamed) for item in field_codecs(record))
        return codecs

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in order."""
        columns = list(self.extra)
        order = [] if self.record is None else list(self.record.model_fields)
        by_field = {item.field: item for item in self.fields}
        for name in order:
            members = self.flattened.get(name) or ((by_field[name],) if name in by_field else ())
            columns.extend(Column(item.column, item.codec.arrow, item.comment) for item in members)
        names = [column.name for column in columns]
        if len(set(names)) != len(names):
            raise TypeError(f"Table {self.name} has a column twice: {sorted(names)}.")
        return tuple(columns)

    @cached_property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of its rows."""
        return pa.schema([(column.name, column.arrow) for column in self.columns])


def _rename(item: FieldCodec, renamed: Mapping[str, str]) -> FieldCodec:
    return replace(item, column=renamed.get(item.column, item.column))


TABLES: tuple[Table, ...] = (
    Table("applications", ("name",), Application, "An application of the catalogue, as a run used it."),
    Table(
        "worlds",
        ("name",),
        World,
        "Starting data over all applications, as a run used it, including the first world, whose name is"
        " empty.",
        empty_key=True,
    ),
    Table("seen_screens", ("screen_id",), SeenScreen),
    Table("proposed_categories", ("name",), ProposedCategory),
    Table("found_records", ("record_id",), FoundRecord),
    Table("exploration_choices", ("choice_id",), ExplorationChoice),
    Table("subtasks", ("subtask_id",), Subtask),
    Table(
        "trajectories",
        ("trajectory_id",),
        Trajectory,
        "One recorded episode (App. C.2); its steps are in `trajectory_steps`.",
        omit=frozenset({"steps"}),
        extra=(Column("step_count", pa.int64(), "Number of its steps."),),
    ),
    Table(
        "trajectory_steps",
        ("trajectory_id", "step"),
        TrajectoryStep,
        extra=(Column("trajectory_id", pa.string(), "The trajectory."),),
    ),
    Table(
        "evaluation_functions",
        ("function_id",),
        EvaluationFunction,
        "Generated code that judges one subtask, with its kill matrix (App. C.3).",
        flatten={"quality": (FunctionQuality, {})},
    ),
    Table(
        "judged_outcomes",
        ("outcome_id",),
        JudgedOutcome,
        "An evaluation function's verdict on one labelled outcome; error rates count those of accepted"
        " functions.",
    ),
    Table("verifications", ("verification_id",), VerificationRound),
    Table("rechecks", ("recheck_id",), Recheck),
    Table(
        "performance_effects",
        ("trajectory_id",),
        PerformanceEffects,
        "What a performance of a subtask changed; the view `effects` has one row per change.",
    ),
    Table("intents", ("intent_id",), Intent),
    Table(
        "tasks",
        ("task_id",),
        Task,
        "A task graph with one instruction (App. C.4); nodes and edges are nested, `task_subtasks` and"
        " `task_edges` unfold them.",
        flatten={"graph": (TaskGraph, {}), "complexity": (Complexity, _COMPLEXITY)},
        extra=(
            Column(
                "applications",
                pa.list_(pa.string()),
                "Applications that it needs, sorted, each once, for fast selection by application.",
            ),
            Column(
                "links",
                pa.list_(COUNTED_LINK),
                "What is written in one application and read in another, each once with its count;"
                " precomputed for the query `links`.",
            ),
            Column(
                "words",
                pa.string(),
                "The words of instruction and intent in lower case, each once, for fast text search.",
            ),
        ),
        prepared={"links": LINKS_SQL, "words": WORDS_SQL},
    ),
    Table("validations", ("validation_id",), Validation),
    Table("judge_trials", ("trial_id",), JudgeTrial),
    Table(
        "criticisms",
        ("criticism_id",),
        Criticism,
        "A critic's opinion of a task that it had no part in making: three scores from 1 to 5, each with a"
        " reason.",
    ),
    Table(
        "reviews",
        ("review_id",),
        Review,
        "A person's verdict on a task; rows are only added, and the view `latest_reviews` has those that"
        " count.",
    ),
    Table("application_noise", ("noise_id",), ApplicationNoise),
    Table("order_facts", ("fact_id",), OrderFact),
    Table("replays", ("replay_id",), Replay, renamed={"order": "performed_order"}),
    Table("agent_runs", ("agent_run_id",), AgentRun, renamed={"end": "ended"}),
    Table("agent_steps", ("agent_run_id", "step"), AgentStep),
    Table("agent_scores", ("agent_run_id", "metric"), AgentScore),
    Table("experiments", ("experiment_id",), Experiment),
    Table(
        "rejections",
        ("rejection_id",),
        Rejection,
        extra=(Column("rejection_id", pa.string(), "Hash of the row's content."),),
    ),
    Table("model_calls", ("call_id",), ModelCallRecord),
    Table("runs", ("run_id",), RunRecord),
    Table("dataset_versions", ("name",), DatasetVersion),
    Table(
        "gate_results",
        ("gate_id",),
        GateResult,
        renamed={"limit": "allowed", "value": "figure", "previous": "previous_figure"},
    ),
    Table("version_tags", ("tag",), VersionTag),
    Table("imported_items", ("item_id",), ImportedItem),
    Table(
        "file_texts",
        ("text_id",),
        about="Text content of files in evidence, each stored once.",
        extra=(
            Column("text_id", pa.string(), "SHA-256 of the text."),
            Column("text", pa.string(), "The text."),
        ),
    ),
    Table(
        "control_lists",
        ("controls_id",),
        about="Lists of the controls on a screen, each stored once.",
        extra=(
            Column("controls_id", pa.string(), "SHA-256 of the list."),
            Column("controls", CONTROL_LIST, "The controls, in reading order of the accessibility tree."),
        ),
    ),
)

TABLE_OF_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES if table.record}
TABLE_NAMED: dict[str, Table] = {table.name: table for table in TABLES}
