"""Experiments: agents, tasks and repeats, and what came of them."""

from typing import Literal

from pydantic import Field, JsonValue

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

ExperimentStatus = Literal["running", "completed", "interrupted", "budget_exhausted"]
"""How far an experiment got."""
_SMALLEST = 0.0005
"""Smallest p-value that three digits tell."""


class Standing(Record):
    """A figure of one agent with its interval."""

    agent: str
    """The agent."""
    metric: str
    """What was measured, such as `coverage_rate` or `pass@4`."""
    group: str = "all"
    """Over which attempts: `all`, a capability, or a level such as `knowledge hard`."""
    value: float | None = None
    """The figure; None where it is undefined."""
    low: float | None = None
    """Lower end of its 95 % bootstrap interval over tasks."""
    high: float | None = None
    """Upper end."""
    tasks: int = 0
    """Tasks it is over."""


class Comparison(Record):
    """Two agents on the same tasks and seeds."""

    first: str
    """One agent."""
    second: str
    """The other."""
    metric: str
    """What was measured."""
    difference: float
    """Mean of the first minus mean of the second, over the tasks that both attempted."""
    low: float
    """Lower end of its 95 % bootstrap interval."""
    high: float
    """Upper end."""
    p_value: float
    """Of a two-sided paired permutation test."""
    tasks: int
    """Tasks that both attempted."""

    @property
    def probability(self) -> str:
        """The p-value in words; it is never nought: the observed signs are among those that are tried."""
        return f"{self.p_value:.3f}" if self.p_value >= _SMALLEST else "< 0.001"


class Experiment(Record):
    """Agents × tasks × repeats, as they were fixed before the first attempt."""

    experiment_id: str
    """Opaque id, made from all that decides what is attempted."""
    name: str
    """Name, and that of its folder."""
    protocol: str
    """Module of `omnieval/protocols` that it follows."""
    specification: dict[str, JsonValue] = Field(default_factory=dict)
    """All of it, as written in its file, with defaults."""
    agents: tuple[str, ...] = ()
    """Names of its agents."""
    task_ids: tuple[str, ...] = ()
    """Its tasks."""
    seeds: tuple[int, ...] = ()
    """Seeds of the repeats."""
    attempts: int = 0
    """Attempts it asks for."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of what it rests on: tasks, functions, applications, questions to agents, specification."""
    software_version: str = ""
    """Version of taskloom."""
    status: ExperimentStatus = "running"
    """How far it got."""
    holds: bool | None = None
    """Whether few enough attempts are invalid for its figures to hold; None before it is complete."""
    standings: tuple[Standing, ...] = ()
    """Its figures."""
    comparisons: tuple[Comparison, ...] = ()
    """Agents side by side."""
    started_at: str = ""
    """Start, ISO 8601 in UTC."""
    finished_at: str = ""
    """End; empty while it runs."""
    folder: str = ""
    """Where its files are."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
