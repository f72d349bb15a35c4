"""Runs from Python: builds and evaluations, as the commands make them."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from taskloom.flows.errors import CommandError
from taskloom.flows.preflight import check_keys, check_settings
from taskloom.flows.running.interruptions import interruptible
from taskloom.flows.running.prefect_server import prefect_server, prepare_prefect, quiet_libraries
from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.stages.agents import check_agent, register_factory
from taskloom.omnieval.experiments import AgentEntry, ExperimentFile, Limits, TaskSet
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.sets.drawing import nothing_meets
from taskloom.warehouse.sets.selection import Selection, select
from taskloom.warehouse.store import Warehouse

if TYPE_CHECKING:
    from taskloom.environments.agent import Agent
    from taskloom.flows.experimenting.finishing import ExperimentReport
    from taskloom.flows.summary import RunSummary

Result = TypeVar("Result")


def build(settings: Settings | None = None) -> RunSummary:
    """Build or extend the dataset of the settings, as `taskloom build` does; finished work is kept.

    Raises:
        TaskloomError: no application can be started, a key is missing, the budget is used up.
    """
    chosen = settings or load_settings()
    check_settings(chosen)
    check_keys(chosen)

    def start() -> Coroutine[object, object, RunSummary]:
        from taskloom.flows.build_dataset import build_dataset

        return build_dataset(settings=chosen)

    return _run(chosen, start)


def evaluate(
    agent: str | Callable[[], Agent],
    selection: Selection | None = None,
    *,
    settings: Settings | None = None,
    patience: int = 0,
    repeats: int = 1,
) -> ExperimentReport:
    """Have an agent attempt the selected tasks, as `taskloom evaluate` does; every attempt is stored.

    Args:
        agent: A function or class that makes an agent, or a name that `--agent` takes.
        selection: Tasks to attempt; all validated ones by default.
        settings: Settings of the run; `load_settings()` by default.
        patience: Steps without a newly completed subtask after which an attempt ends; 0 for the protocol's.
        repeats: Attempts at each task, each with its own seed.

    Raises:
        TaskloomError: there is no such agent, or no task to attempt.
    """
    chosen = settings or load_settings()
    name = agent if isinstance(agent, str) else register_factory(agent)
    check_agent(name)
    check_settings(chosen)
    check_keys(chosen, (ModelRole.ACTOR,) if name == "model" else ())
    with Warehouse(chosen.warehouse_location, read_only=True) as warehouse:
        ids = select(warehouse, selection or Selection())
        if not ids:
            raise CommandError(nothing_meets(warehouse, selection or Selection()))
    experiment = ExperimentFile(
        agents=(AgentEntry(agent=name),),
        tasks=TaskSet(ids=ids),
        repeats=repeats,
        seed=chosen.seed,
        limits=Limits(patience=patience),
    )

    def start() -> Coroutine[object, object, ExperimentReport]:
        from taskloom.flows.run_experiment import run_experiment

        return run_experiment(experiment, settings=chosen)

    return _run(chosen, start)


def _run(settings: Settings, start: Callable[[], Coroutine[object, object, Result]]) -> Result:
    """Run a flow to its end, even if an event loop is already running, as in a notebook."""
    prepare_prefect(settings.data)
    _keep_server()
    with interruptible("finished work is kept."):
        flow = start()
        quiet_libraries()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(flow)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, flow).result()


@cache
def _keep_server() -> None:
    """Start Prefect's server for as long as this process lives: its client remembers the first address."""
    server = ExitStack()
    server.enter_context(prefect_server())
    atexit.register(server.close)
