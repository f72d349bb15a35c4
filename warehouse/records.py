"""Records that the warehouse itself keeps: runs, model calls and dataset versions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, field_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelCall


class RunRecord(Record):
    """One run of a flow. Written at its start and replaced at its end."""

    run_id: str
    """Opaque id."""
    flow: str
    """Flow, such as `build_dataset`."""
    status: Literal["running", "completed", "failed", "interrupted", "budget_exhausted"] = "running"
    """How far it got."""
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
    """One call of a language model that a run paid for or gave up."""

    call_id: str
    """Opaque id: the ledger's key, and the run."""

    @field_validator("outcome", mode="before")
    @classmethod
    def _of_earlier_rows(cls, outcome: object) -> object:
        """Rows of earlier versions named outcomes differently."""
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
    """Price of all model calls in it, in US dollars."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the run that published it."""


class VersionTag(Record):
    """An additional, movable name for a dataset version."""

    tag: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name, such as `stable`."""
    version: str
    """The version it stands for."""


class ImportedItem(Record):
    """What an imported task or subtask looked like in its own format, whole, unknown fields included."""

    item_id: str
    """Id of the task or subtask here."""
    format: str
    """Format it came in."""
    item_kind: Literal["task", "subtask", "trajectory", "file", "rejected"]
    """What it became; `rejected` items became a row of `rejections`, which names this one."""
    place: str
    """File and position it came from."""
    infeasible: bool = False
    """Whether its makers declare that it cannot be done, which an agent should say; a state, not a
    success."""
    content: JsonValue = None
    """The original JSON value."""
