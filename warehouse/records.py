"""Records that the warehouse itself keeps: runs (scheduled ones too), model calls, dataset versions."""

from typing import Literal

from pydantic import Field, JsonValue, field_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelCall
from taskloom.taskgraph.records.provenance import Provenance


class RunRecord(Record):
    """One run of a flow. Written at its start and replaced at its end."""

    run_id: str
    """Opaque id."""
    flow: str
    """Flow, such as `build_dataset`."""
    status: Literal["running", "completed", "failed", "interrupted", "budget_exhausted"] = "running"
    """Whether it is running, or how it ended."""
    started_at: str
    """Start, ISO 8601 in UTC."""
    finished_at: str = ""
    """End, ISO 8601 in UTC; empty while it runs."""
    seed: int = 0
    """Seed of all random choices."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the run, without secrets."""
    software_version: str = ""
    """Version of taskloom."""
    stage_seconds: dict[str, float] = Field(default_factory=dict)
    """Wall time per stage, in seconds."""
    core_seconds: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Processor time per stage, in seconds, by what it was spent on: `browsers`, `applications`,
    `orchestration`, `sandbox`, or `taskloom` itself."""
    message: str = ""
    """Why it did not complete."""


class ModelCallRecord(ModelCall):
    """One call of a language model that a run paid for or abandoned."""

    call_id: str
    """Opaque id: the ledger's key, and the run."""

    @field_validator("outcome", mode="before")
    @classmethod
    def _rename_earlier_outcome(cls, outcome: object) -> object:
        return {"repaired": "answered", "malformed": "truncated"}.get(str(outcome), outcome)


class DatasetVersion(Record):
    """A named, immutable state of the whole warehouse."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name, such as `v1` or `2026-11-nightly`."""
    snapshot_id: int
    """Snapshot of the catalogue that holds exactly this version."""
    parent: str = ""
    """Version published before it."""
    run_id: str = ""
    """Run that published it."""
    created_at: str
    """When it was published, ISO 8601 in UTC."""
    description: str = ""
    """What it is, for people."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Rows per table."""
    funnel: dict[str, int] = Field(default_factory=dict)
    """Items per step of the funnel."""
    models: tuple[str, ...] = ()
    """Models that took part, as `provider/model`."""
    cost_usd: float = 0.0
    """Cost of all model calls in it, in US dollars."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the run that published it."""


class VersionTag(Record):
    """An additional, movable name for a dataset version."""

    tag: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name, such as `stable`."""
    version: str
    """The version that it names."""


class ImportedItem(Record):
    """The original of an imported task or subtask, including unknown fields."""

    item_id: str
    """Id of the task or subtask here."""
    format: str
    """Format it came in."""
    item_kind: Literal["task", "subtask", "trajectory", "file", "rejected"]
    """What it became; a row of `rejections` refers to each `rejected` item."""
    place: str
    """File and position it came from."""
    infeasible: bool = False
    """Whether its authors declare it infeasible, which an agent should report; a state, not a success."""
    content: JsonValue = None
    """The original JSON value."""


class ExplorationChoice(Record):
    """Whether a run explored an application, and why."""

    choice_id: str
    """Run and application."""
    application: str
    """The application."""
    explored: bool
    """Whether it was explored."""
    reason: str
    """Why, or why not."""
    fingerprint: dict[str, str] = Field(default_factory=dict)
    """What the exploration depends on: version, manual, catalogue entry, prompts, models, settings,
    shortage."""
    complete: bool = False
    """Whether exploration and verification finished; only then is the application fully known."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class Recheck(Record):
    """A verified subtask performed again, to see whether it still replays."""

    recheck_id: str
    """Run and subtask."""
    subtask_id: str
    """The subtask."""
    function_id: str
    """The evaluation function that judged it."""
    trajectory_id: str
    """The recording that was performed again."""
    outcome: Literal["holds", "retired", "undecided"]
    """Still replays; no longer replays, so it is retired; or undecided, because it could not be started."""
    message: str = ""
    """What went wrong."""
    attempts: int = 1
    """How often it was performed."""
    seconds: float = 0.0
    """Wall time."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class GateResult(Record):
    """Whether one gate of a publication held."""

    gate_id: str
    """Run, or time of a publication by hand, and gate."""
    gate: str
    """The gate, named as its setting."""
    held: bool
    """Whether it held."""
    forced: bool = False
    """Whether the version was published although it did not hold."""
    value: float | None = None
    """Its figure in the state to be published; None where too little is known."""
    previous: float | None = None
    """The same figure of the previous version; None without one."""
    previous_version: str = ""
    """That version."""
    limit: float
    """What the settings allow."""
    explanation: str
    """Both figures in words."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
