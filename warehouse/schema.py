"""The tables of the warehouse, derived from the records.

A record's fields become columns of the same name; the records named under `flatten` give their fields as
columns of the table instead of one struct, so that a level or a price can be asked for without a dot. Every
column carries the docstring of its field as its comment. Adding a field to a record adds the column here, and
`evolution` adds it to warehouses that exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from taskloom.resources.applications import Application
from taskloom.resources.dimensions import TABLE
from taskloom.resources.record import Record
from taskloom.resources.worlds import World
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, AgentStep
from taskloom.taskgraph.records.criticism import Criticism
from taskloom.taskgraph.records.effect import PerformanceEffects
from taskloom.taskgraph.records.evaluation_function import (
    EvaluationFunction,
    FunctionQuality,
    VerificationRound,
)
from taskloom.taskgraph.records.experiment import Experiment
from taskloom.taskgraph.records.exploration import FoundRecord, ProposedCategory, SeenScreen
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.judge_trial import JudgeTrial
from taskloom.taskgraph.records.judged_outcome import JudgedOutcome
from taskloom.taskgraph.records.noise import ApplicationNoise
from taskloom.taskgraph.records.order_fact import OrderFact
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.review import Review
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Complexity, Intent, Rejection, Replay, Task, Validation
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.field_codecs import (
    CONTROL_LIST,
    COUNTED_LINK,
    LINKS_SQL,
    WORDS_SQL,
    FieldCodec,
    field_codecs,
)
from taskloom.warehouse.night_records import ExplorationChoice, GateResult, Recheck
from taskloom.warehouse.records import DatasetVersion, ImportedItem, ModelCallRecord, RunRecord, VersionTag

SCHEMA_VERSION = 4
"""Number of the layout below; a warehouse with a higher one is refused."""

_PROVENANCE = {"stage": "provenance_stage"}
_COMPLEXITY: dict[str, str] = {row.measure: row.column for row in TABLE} | {"components": "component_count"}


APPLICATIONS_SQL = "list_sort(list_distinct([node.application FOR node IN nodes]))"
"""What the column `applications` of `tasks` holds; older versions have only the nodes."""


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
    """Columns that tell rows apart."""
    comment: str
    record: type[Record] | None = None
    """Record class of its rows; None for tables of shared values."""
    flatten: Mapping[str, tuple[type[Record], Mapping[str, str]]] = field(default_factory=dict)
    """Fields spread over columns of the table: field to its record class and its renamed columns."""
    omit: frozenset[str] = frozenset()
    """Fields kept in a table of their own."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Fields whose columns get another name, because theirs is a word of SQL."""
    extra: tuple[Column, ...] = ()
    """Columns beyond the record's fields; they stand first."""
    prepared: Mapping[str, str] = field(default_factory=dict)
    """Extra columns that every insert computes from the others, with their SQL."""
    empty_key: bool = False
    """Whether a key may be empty text, as the name of the first world is."""

    @cached_property
    def fields(self) -> tuple[FieldCodec, ...]:
        """Codecs of the record's fields that are columns by themselves."""
        if self.record is None:
            return ()
        return tuple(
            _rename(item, self.renamed)
            for item in field_codecs(self.record)
            if item.field not in self.flatten and item.field not in self.omit
        )

    @cached_property
    def flattened(self) -> dict[str, tuple[FieldCodec, ...]]:
        """Codecs of the spread fields, with their column names in the table."""
        found: dict[str, tuple[FieldCodec, ...]] = {}
        for name, (record, renamed) in self.flatten.items():
            found[name] = tuple(_rename(item, renamed) for item in field_codecs(record))
        return found

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in order."""
        columns = [Column(item.name, item.arrow, item.comment) for item in self.extra]
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


def _made(
    **more: tuple[type[Record], Mapping[str, str]],
) -> Mapping[str, tuple[type[Record], Mapping[str, str]]]:
    return {**more, "provenance": (Provenance, _PROVENANCE)}


TABLES: tuple[Table, ...] = (
    Table("applications", ("name",), "An application of the catalogue, as a run used it.", Application),
    Table(
        "worlds",
        ("name",),
        "Starting data over all applications, as a run used it; the first world, whose name is empty, stands"
        " among them.",
        World,
        empty_key=True,
    ),
    Table(
        "seen_screens",
        ("screen_id",),
        "A control that exploration opened, and the screen it led to.",
        SeenScreen,
        _made(),
    ),
    Table(
        "proposed_categories",
        ("name",),
        "A resource category that a model proposed, beside those of the catalogue.",
        ProposedCategory,
        _made(),
    ),
    Table(
        "found_records",
        ("record_id",),
        "A record of an application that exists after every reset, although its entry does not name it.",
        FoundRecord,
        _made(),
    ),
    Table(
        "exploration_choices",
        ("choice_id",),
        "Whether a run explored an application, and why; what the exploration depended on.",
        ExplorationChoice,
        _made(),
    ),
    Table("subtasks", ("subtask_id",), "A subtask template (App. C.1).", Subtask, _made()),
    Table(
        "trajectories",
        ("trajectory_id",),
        "One recorded episode (App. C.2); its steps are in `trajectory_steps`.",
        Trajectory,
        _made(),
        omit=frozenset({"steps"}),
        extra=(Column("step_count", pa.int64(), "Number of its steps."),),
    ),
    Table(
        "trajectory_steps",
        ("trajectory_id", "step"),
        "One step of a trajectory: what was seen, what was done, what it changed.",
        TrajectoryStep,
        extra=(Column("trajectory_id", pa.string(), "The trajectory."),),
    ),
    Table(
        "evaluation_functions",
        ("function_id",),
        "Generated code that judges one subtask, with its kill matrix (App. C.3).",
        EvaluationFunction,
        _made(quality=(FunctionQuality, {})),
    ),
    Table(
        "judged_outcomes",
        ("outcome_id",),
        "What an evaluation function said of one labelled outcome; error rates count those of accepted"
        " functions.",
        JudgedOutcome,
        _made(),
    ),
    Table(
        "verifications",
        ("verification_id",),
        "One round of cross-verification, kept whether it succeeded or not.",
        VerificationRound,
        _made(),
    ),
    Table(
        "rechecks",
        ("recheck_id",),
        "A verified subtask that a night performed again, and whether it still replays.",
        Recheck,
        _made(),
    ),
    Table(
        "performance_effects",
        ("trajectory_id",),
        "What a performance of a subtask changed; the view `effects` has one row per change.",
        PerformanceEffects,
        _made(),
    ),
    Table("intents", ("intent_id",), "A goal with the group of subtasks that serve it.", Intent, _made()),
    Table(
        "tasks",
        ("task_id",),
        "A task graph with one instruction (App. C.4); nodes and edges are nested, `task_subtasks` and"
        " `task_edges` unfold them.",
        Task,
        _made(graph=(TaskGraph, {}), complexity=(Complexity, _COMPLEXITY)),
        extra=(
            Column(
                "applications",
                pa.list_(pa.string()),
                "Applications that it needs, sorted, each once: the quick way to ask for tasks of an"
                " application.",
            ),
            Column(
                "links",
                pa.list_(COUNTED_LINK),
                "What is written in one application and read in another, each once with how often: prepared"
                " for the query `links`.",
            ),
            Column(
                "words",
                pa.string(),
                "The words of instruction and intent in lower case, each once: the quick way to search for"
                " text.",
            ),
        ),
        prepared={"links": LINKS_SQL, "words": WORDS_SQL},
    ),
    Table(
        "validations",
        ("validation_id",),
        "One round of checking an instruction against its graph (App. B.4).",
        Validation,
        _made(),
    ),
    Table(
        "judge_trials",
        ("trial_id",),
        "A spoilt instruction that the judge was given like any other, and whether it noticed.",
        JudgeTrial,
        _made(),
    ),
    Table(
        "criticisms",
        ("criticism_id",),
        "What a critic that had no part in making a task thinks of it: three scores from 1 to 5, each with a"
        " reason.",
        Criticism,
        _made(),
    ),
    Table(
        "reviews",
        ("review_id",),
        "A person's verdict on a task; rows are only added, and the view `latest_reviews` has those that"
        " count.",
        Review,
    ),
    Table(
        "application_noise", ("noise_id",), "What an application itself changes.", ApplicationNoise, _made()
    ),
    Table("order_facts", ("fact_id",), "Whether one subtask works after another one.", OrderFact, _made()),
    Table(
        "replays",
        ("replay_id",),
        "A task performed in one order from its subtasks' trajectories (App. C.5).",
        Replay,
        _made(),
        renamed={"order": "performed_order"},
    ),
    Table(
        "agent_runs",
        ("agent_run_id",),
        "One attempt of one agent at one task, with what it completed and how that scores (section 4.1).",
        AgentRun,
        _made(),
        renamed={"end": "ended"},
    ),
    Table(
        "agent_steps",
        ("agent_run_id", "step"),
        "One decision of an attempt: reply, point, time, and the state of every subtask after it.",
        AgentStep,
        _made(),
    ),
    Table(
        "agent_scores",
        ("agent_run_id", "metric"),
        "What one metric says of one attempt; scoring again replaces it.",
        AgentScore,
        _made(),
    ),
    Table(
        "experiments",
        ("experiment_id",),
        "Agents × tasks × repeats, as fixed before the first attempt, with the figures that came of them.",
        Experiment,
        _made(),
    ),
    Table(
        "rejections",
        ("rejection_id",),
        "An item that did not make it, with the reason.",
        Rejection,
        _made(),
        extra=(Column("rejection_id", pa.string(), "Hash of the row's content."),),
    ),
    Table("model_calls", ("call_id",), "One call of a language model.", ModelCallRecord),
    Table("runs", ("run_id",), "One run of a flow.", RunRecord),
    Table(
        "dataset_versions",
        ("name",),
        "A published dataset version: a named, immutable state of the whole warehouse.",
        DatasetVersion,
    ),
    Table(
        "gate_results",
        ("gate_id",),
        "A gate of a publication: whether it held, with the figure of the version before.",
        GateResult,
        _made(),
        renamed={"limit": "allowed", "value": "figure", "previous": "previous_figure"},
    ),
    Table("version_tags", ("tag",), "A further name of a dataset version.", VersionTag),
    Table(
        "imported_items",
        ("item_id",),
        "What an imported task or subtask looked like in its own format.",
        ImportedItem,
    ),
    Table(
        "file_texts",
        ("text_id",),
        "Text content of files in evidence, each stored once.",
        extra=(
            Column("text_id", pa.string(), "SHA-256 of the text."),
            Column("text", pa.string(), "The text."),
        ),
    ),
    Table(
        "control_lists",
        ("controls_id",),
        "Lists of the controls on a screen, each stored once.",
        extra=(
            Column("controls_id", pa.string(), "SHA-256 of the list."),
            Column("controls", CONTROL_LIST, "The controls, in reading order of the accessibility tree."),
        ),
    ),
)
"""All tables."""

TABLE_OF_RECORD: dict[type[Record], Table] = {table.record: table for table in TABLES if table.record}
"""The table of every record class that can be written or read."""
TABLE_NAMED: dict[str, Table] = {table.name: table for table in TABLES}
"""Tables by name."""
