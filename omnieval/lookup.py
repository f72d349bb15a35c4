"""Metrics, agents and protocols, found by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from taskloom.environments.agent import Agent
from taskloom.omnieval.action_metrics import Example
from taskloom.omnieval.answers import ProtocolLimits
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.errors import UnknownAgentError, UnknownMetricError, UnknownProtocolError
from taskloom.resources.plugins import PluginKind, report
from taskloom.taskgraph.records.graph import TaskGraph

METRICS: PluginKind["Metric"] = PluginKind(
    "metric", UnknownMetricError, "taskloom.omnieval.metrics", "taskloom.metrics", needs=("measure",)
)
ACTION_METRICS: PluginKind["ActionMetric"] = PluginKind(
    "action metric",
    UnknownMetricError,
    group="taskloom.action_metrics",
    needs=("measure",),
    table="taskloom.omnieval.action_metrics",
)
AGENTS: PluginKind["AgentModule"] = PluginKind(
    "agent",
    UnknownAgentError,
    "taskloom.omnieval.agents",
    "taskloom.agents",
    needs=("create",),
    table="taskloom.omnieval.asking.model_agents",
)
PROTOCOLS: PluginKind["EvaluationProtocol"] = PluginKind(
    "protocol",
    UnknownProtocolError,
    folder="taskloom.omnieval.protocols",
    group="taskloom.protocols",
    needs=("LIMITS", "instruction", "answer"),
)
PAPER = ("coverage_rate", "logical_consistency")
"""Metrics of the paper; records have a field for each of them, and store other metrics by name."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An agent's work on one task graph, from which metrics are computed."""

    graph: TaskGraph
    completed: tuple[str, ...]
    """Completed subtasks, as instance ids, in the order of their completion."""
    steps: int | None = None
    """Number of the agent's steps; None if unknown."""


class Metric(Protocol):
    """Interface of a metric's module."""

    @staticmethod
    def measure(attempt: Attempt) -> float | None:
        """The value for an attempt; None if it is undefined."""


class ActionMetric(Protocol):
    """Interface of the module of a metric of actions."""

    @staticmethod
    def measure(examples: Sequence[Example]) -> float | None:
        """The value over the examples; None if it is undefined."""


class AgentModule(Protocol):
    """Interface of an agent's module; also `MODEL = True` if it asks a model, and `check(settings)` if it has
    settings to check."""

    @staticmethod
    def create(brief: AgentBrief) -> Agent:
        """A new agent for one attempt."""


class EvaluationProtocol(Protocol):
    """Interface of a protocol's module."""

    LIMITS: ProtocolLimits
    """Limits of attempts."""

    @staticmethod
    def instruction(task: AgentTask) -> str:
        """The instruction that the agent is given."""

    @staticmethod
    def answer(said: str) -> str:
        """The answer in the agent's last message; empty for none."""


def check_agent_settings(name: str, settings: Mapping[str, JsonValue]) -> None:
    """Check the settings of the agent `name` before any attempt.

    >>> check_agent_settings("recorded", {"fault": "sleeps"})
    Traceback (most recent call last):
    taskloom.environments.errors.AgentError: The fault 'sleeps' is unknown; known: forgets_branch, ...

    Raises:
        AgentError: one of them has a value that the agent does not accept.
        UnknownAgentError: there is no such agent, or a setting names an unknown one.
    """
    check = getattr(AGENTS.load(name), "check", None)
    if check is not None:
        check(settings)


def measured(attempt: Attempt) -> dict[str, float | None]:
    """The value of every metric for `attempt`, by name; None if a package's metric fails.

    >>> from taskloom.taskgraph.records.graph import TaskGraph
    >>> [measured(Attempt(TaskGraph(nodes=()), ()))[name] for name in PAPER]
    [1.0, None]
    """
    return {name: _value(name, metric, attempt) for name, metric in METRICS.each()}


def action_measures(examples: Sequence[Example]) -> dict[str, float | None]:
    """The value of every metric of actions for `examples`, by name.

    >>> action_measures([])["sequence_score"] is None
    True
    """
    return {name: metric.measure(examples) for name, metric in ACTION_METRICS.each()}


def further(values: dict[str, float | None]) -> dict[str, float]:
    """The defined values of the metrics that are not in the paper.

    >>> further({"coverage_rate": 0.5, "speed": 2.0, "tact": None})
    {'speed': 2.0}
    """
    return {name: value for name, value in values.items() if name not in PAPER and value is not None}


def _value(name: str, metric: Metric, attempt: Attempt) -> float | None:
    try:
        return metric.measure(attempt)
    except Exception as error:
        if name in METRICS.built_in():
            raise
        package, kind = METRICS.package_of(name), type(error).__name__
        report(f"The metric {name!r} of the package {package} failed: {kind}: {error}")
        return None
