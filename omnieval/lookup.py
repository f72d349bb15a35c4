"""Finds metrics, agents and protocols by the names of their modules."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Protocol, cast

from taskloom.environments.agent import Agent
from taskloom.omnieval import agents, metrics
from taskloom.omnieval.attempt import Attempt
from taskloom.omnieval.brief import AgentBrief

PAPER = ("coverage_rate", "logical_consistency")
"""Metrics of the paper; records have a field for each of them, and keep the others by name."""


class Metric(Protocol):
    """What a metric's module offers."""

    @staticmethod
    def measure(attempt: Attempt) -> float | None:
        """The value for an attempt; None where it is undefined."""


class AgentModule(Protocol):
    """What an agent's module offers; `MODEL = True` where it asks a model."""

    @staticmethod
    def create(brief: AgentBrief) -> Agent:
        """A new agent for one attempt."""


def agent_names() -> tuple[str, ...]:
    """Names of the agents that taskloom brings, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(agents.__path__)))


def agent_module(name: str) -> AgentModule:
    """The module of the agent `name`, one of `agent_names()`."""
    return cast(AgentModule, import_module(f"taskloom.omnieval.agents.{name}"))


def metric_names() -> tuple[str, ...]:
    """Names of all metrics, sorted.

    >>> metric_names()
    ('coverage_rate', 'logical_consistency')
    """
    return tuple(sorted(module.name for module in pkgutil.iter_modules(metrics.__path__)))


def measured(attempt: Attempt) -> dict[str, float | None]:
    """The value of every metric for `attempt`, by name.

    >>> from taskloom.taskgraph.records.graph import TaskGraph
    >>> measured(Attempt(TaskGraph(nodes=()), ()))
    {'coverage_rate': 1.0, 'logical_consistency': None}
    """
    return {name: _metric(name).measure(attempt) for name in metric_names()}


def further(values: dict[str, float | None]) -> dict[str, float]:
    """The defined values of metrics that are not the paper's.

    >>> further({"coverage_rate": 0.5, "speed": 2.0, "tact": None})
    {'speed': 2.0}
    """
    return {name: value for name, value in values.items() if name not in PAPER and value is not None}


def _metric(name: str) -> Metric:
    return cast(Metric, import_module(f"taskloom.omnieval.metrics.{name}"))
