"""Records that the warehouse itself keeps: runs, model calls and dataset versions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from resources.record import Record


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
    message: str = ""
    """Why it ended other than completed."""


class ModelCallRecord(Record):
    """One call of a language model, or its answer from the ledger."""

    call_id: str
    """Opaque id: the ledger's key, and the run."""
    run_id: str
    """Run that asked."""
    stage: str
    """Stage of the method."""
    item_id: str
    """Subtask, task or application the call served."""
    role: str
    """Model role."""
    provider: str
    """Provider that answered."""
    model: str
    """Model that answered."""
    template: str = ""
    """Prompt template."""
    template_hash: str = ""
    """SHA-256 of the template's text."""
    request_hash: str = ""
    """SHA-256 of all that determines the reply: the ledger's key."""
    attempt: int = 0
    """Which of several equal requests this was."""
    input_tokens: int = 0
    """All input tokens, cached ones included."""
    cached_input_tokens: int = 0
    """Input tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input tokens written to the provider's cache."""
    output_tokens: int = 0
    """All output tokens, reasoning included."""
    reasoning_tokens: int = 0
    """Output tokens spent on reasoning."""
    cost_usd: float = 0.0
    """Price in US dollars; 0 when the answer came from the ledger."""
    latency_seconds: float = 0.0
    """Time from sending to the last byte."""
    retries: int = 0
    """Attempts before this one that failed transiently."""
    finish_reason: str = ""
    """Why the model stopped."""
    outcome: Literal["answered", "repaired", "malformed", "refused", "failed"] = "answered"
    """What became of the reply: used as it was, used after a repair round, or not used."""
    from_ledger: bool = False
    """Whether the reply was read from the ledger instead of paid for again."""
    called_at: str = ""
    """When, ISO 8601 in UTC."""


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
    """A further name of a dataset version, which can be moved to another one."""

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
    """Whether its makers declare that it cannot be done, which an agent should say; a state, not a success."""
    content: JsonValue = None
    """The original JSON value."""
