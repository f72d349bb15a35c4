"""The composition root: creates the objects of a run from its settings and closes them again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol, TypeVar

from taskloom.environments import lookup
from taskloom.environments.environment import Environment
from taskloom.environments.lookup import missing_for_start
from taskloom.environments.machines.bubblewrap import REMEDY, WITHOUT, bubblewrap_works
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.flows.errors import CommandError
from taskloom.flows.pool import known_categories
from taskloom.flows.running.clock import timestamp
from taskloom.flows.running.core_seconds import CoreSeconds
from taskloom.flows.running.environment_pool import EnvironmentPool
from taskloom.flows.running.interruptions import orderly_termination
from taskloom.flows.running.progress import Progress
from taskloom.flows.running.recording import Recorder, begin_or_resume
from taskloom.flows.settings import Settings
from taskloom.flows.spare_capacity import SpareCapacity
from taskloom.model_clients.errors import BudgetExhaustedError, RunStoppedError
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.offline.models import OfflineModels, OfflineRules
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import ExitCode, UnknownCatalogEntryError
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.translation import WorldlyApplications, world_records
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.exploration.memory import with_records
from taskloom.synthesis.noise.noise import with_noise
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.exploration import FoundRecord
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse

Result = TypeVar("Result")

KnownSubtasks = Callable[[Sequence[str]], Awaitable[Mapping[str, VerifiedSubtask]]]
"""Returns verified subtasks by id."""


@dataclass(slots=True, kw_only=True)
class Workplace:
    """What the items of a run need wherever they run: in the process of the run or in a worker."""

    run_id: str
    settings: Settings
    applications: WorldlyApplications
    """Applications in use, by name: installed ones only."""
    models: Models
    environments: EnvironmentPool
    sandbox: EvaluationSandbox
    workers: Workers | None = None
    """Other processes that run jobs for this one; None if it runs all of them itself."""
    players: dict[str, Models] = field(default_factory=dict)
    """Models of agents that have one of their own, by the name of the agent."""
    remote_player: Callable[[str], Models] | None = None
    """In a worker: returns a proxy of an agent's model, which the run asks."""

    def player(self, agent: str) -> Models:
        """The model that `agent` asks: its own, or else that of the role."""
        if self.remote_player is not None:
            return self.remote_player(agent)
        return self.players.get(agent, self.models)

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the applications in use, by name."""
        return {name: application.title for name, application in self.applications.items()}

    @property
    def concurrency(self) -> int:
        """How many items run at a time, here or in workers."""
        return self.settings.first_environments * (self.workers.processes if self.workers else 1)

    def provenance(self, stage: str = "") -> Provenance:
        """The provenance of records that `stage` makes in this run; stages that call models add the model."""
        return Provenance(run_id=self.run_id, stage=stage, seed=self.settings.seed)


Job = Callable[[Workplace, KnownSubtasks], Awaitable[Result]]
"""Processes one item at a workplace, with verified subtasks by id; job and result can be pickled."""


class Workers(Protocol):
    """Processes that run jobs for a run."""

    @property
    def processes(self) -> int:
        """Number of worker processes."""
        ...

    async def run_job(self, job: Job[Result]) -> Result:
        """Run `job` in a worker; rerun it if the worker is lost.

        Raises:
            CommandError: the worker was lost too often.
        """
        ...


@dataclass(slots=True, kw_only=True)
class Run(Workplace):
    """Everything that the flows of one run share."""

    record: RunRecord
    missing: Mapping[str, str]
    """Requested applications that are not installed, with the reason."""
    categories: dict[str, ResourceCategory]
    """Resource categories by name; exploration adds those that models propose."""
    calls: RoleModels
    """Calls the models of the roles that models play."""
    ledger: Ledger
    warehouse: Warehouse
    recorder: Recorder
    progress: Progress
    examination_seconds: float = 0.0
    """Time spent examining evaluation functions, summed over concurrent examinations."""
    stage_seconds: dict[str, float] = field(default_factory=dict)
    """Wall time of the stages that have ended."""
    spent: CoreSeconds = field(default_factory=CoreSeconds)
    core_seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    """Processor time of the stages that have ended, by what it was spent on."""

    def ended(self, status: str, message: str = "") -> RunRecord:
        """The record of the run if it ended now."""
        return RunRecord.model_validate(
            {
                **self.record.model_dump(),
                "status": status,
                "message": message,
                "finished_at": timestamp(),
                "stage_seconds": {name: round(value, 2) for name, value in self.stage_seconds.items()},
                "core_seconds": self.core_seconds,
            }
        )


@asynccontextmanager
async def open_run(settings: Settings, flow: str, *, quiet: bool = False) -> AsyncIterator[Run]:
    """Open everything that a run of `flow` needs; an unfinished run with equal settings is resumed. On exit,
    store finished records and record how the run ended.

    Raises:
        CommandError: no requested application is installed, or one is unknown.
    """
    refuse_unconfined(settings)
    present, missing = choose_applications(settings)
    prepare_data_folder(settings.data)
    with Warehouse(settings.warehouse_location) as warehouse:
        record = begin_or_resume(warehouse, settings, flow)
        records = [item for item in warehouse.read(FoundRecord) if item.provenance.run_id != record.run_id]
        noise = list(warehouse.read(ApplicationNoise))
        applications = {
            name: with_noise(with_records(item, records), noise) for name, item in present.items()
        }
        with (
            Ledger(settings.data / "ledger.sqlite") as ledger,
            CoreSeconds() as spent,
            EvaluationSandbox(sandbox_settings(settings)) as sandbox,
        ):
            async with RoleModels(settings.models, ledger, run_id=record.run_id) as calls:
                roles = [role for role in ModelRole if settings.is_offline(role)]
                run = Run(
                    run_id=record.run_id,
                    record=record,
                    settings=settings,
                    applications=WorldlyApplications(applications, settings.worlds, settings.catalog),
                    missing=missing,
                    categories=known_categories(settings.catalog, warehouse),
                    models=OfflineModels(offline_rules(settings), calls.account, roles, calls)
                    if roles
                    else calls,
                    calls=calls,
                    ledger=ledger,
                    environments=environment_pool(settings, applications.values()),
                    sandbox=sandbox,
                    spent=spent,
                    warehouse=warehouse,
                    recorder=Recorder(warehouse),
                    progress=Progress(quiet=quiet, notes=lambda: _call_notes(calls.counters)),
                )
                status, message = "completed", ""
                try:
                    with orderly_termination(), run.progress:
                        await run.recorder.record(*world_records(run.applications), replace=True)
                        yield run
                except BaseException as error:
                    status, message = _status_and_message(error)
                    raise
                finally:
                    await run.environments.close()
                    await run.recorder.close()
                    warehouse.write([run.ended(status, message)], replace=True)


def _status_and_message(error: BaseException) -> tuple[str, str]:
    """The status and the message of a run that ends with `error`."""
    match error:
        case BudgetExhaustedError():
            return "budget_exhausted", str(error)
        case RunStoppedError():
            return "interrupted", str(error)
        case KeyboardInterrupt() | asyncio.CancelledError():
            return "interrupted", "interrupted by the user"
        case Exception():
            return "failed", f"{type(error).__name__}: {error}"
    return "interrupted", f"{type(error).__name__} {error}".strip()


def refuse_unconfined(settings: Settings, *, agent_acts: bool = False) -> None:
    """Make sure that a model or a foreign agent acts inside a sandbox, unless the settings waive it.

    Offline rules only do what the catalogue says, and platforms without the setting start no programs.

    Raises:
        CommandError: bubblewrap does not work here; the message says what to do.
    """
    acts = agent_acts or not settings.is_offline(ModelRole.ACTOR)
    starts_programs = any(
        "isolation" in lookup.platform(name).SETTINGS.model_fields
        for name in lookup.platforms_in(settings.platform)
    )
    if settings.isolation != "automatic" or not acts or not starts_programs or bubblewrap_works():
        return
    raise CommandError(
        "a model would act in applications that nothing confines: what it types could reach your files and"
        f" network. {WITHOUT}; {REMEDY}, or set isolation to 'never' to take the risk.",
        exit_code=ExitCode.MISSING_REQUIREMENT,
    )


def choose_applications(settings: Settings) -> tuple[dict[str, Application], dict[str, str]]:
    """The applications of a run by name, and those left out, with the reasons.

    Raises:
        CommandError: an application is unknown, none is installed, or one with a single state would be used
            by several environments.
    """
    known = catalogue(settings)
    for name in settings.applications:
        if name not in known:
            raise CommandError(str(UnknownCatalogEntryError("application", name, known)))
    requested = settings.applications or tuple(known)
    present, left_out = dict[str, Application](), dict[str, str]()
    for name in requested:
        try:
            reason = missing_for_start(known[name], settings.data)
        except OSError as error:
            reason = f"{error.filename or settings.data} cannot be read: {error.strerror or error}"
        if reason:
            left_out[name] = reason
        else:
            present[name] = known[name]
    if not present:
        reasons = "\n".join(f"  {name}: {reason}" for name, reason in left_out.items())
        raise CommandError(
            f"no application can be started with the data folder {settings.data}:\n{reasons}\nrun: taskloom"
            " install",
            exit_code=ExitCode.MISSING_REQUIREMENT,
        )
    shared = [name for name, application in present.items() if application.launch.address]
    if shared and (settings.environments > 1 or settings.fan_out.runner != "threads"):
        raise CommandError(
            f"{', '.join(shared)} already runs and has one state for all users, so several environments would"
            " disturb each other; set environments=1 and fan_out.runner=threads, or leave it out with"
            " --applications."
        )
    return present, left_out


def catalogue(settings: Settings) -> dict[str, Application]:
    """The applications of the platform by name: those in the catalogue and its built-in ones."""
    platforms = lookup.platforms_in(settings.platform)
    known = list(load_applications(settings.catalog).values())
    known += [item for name in platforms for item in lookup.platform(name).applications()]
    return {application.name: application for application in known if application.platform in platforms}


def prepare_data_folder(folder: Path) -> None:
    """Create the data folder and check that it is writable.

    Raises:
        CommandError: it is not writable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CommandError(
            f"the data folder {folder} cannot be written: {error.strerror or error}; name another one with"
            " --data or TASKLOOM_DATA, or free or unlock it."
        ) from None


def create_environment(settings: Settings, name: str) -> Environment:
    """A new, closed environment of the platform `name`."""
    return lookup.create_environment(
        name,
        {
            "data_folder": settings.data,
            "browser_executable": settings.browser,
            "isolation": settings.isolation,
        },
    )


def environment_pool(settings: Settings, applications: Iterable[Application]) -> EnvironmentPool:
    """The environments of one process; only one if an application has a single state for all users."""
    has_single_state = any(application.launch.address for application in applications)
    first = 1 if has_single_state else settings.first_environments
    machine = None if has_single_state or settings.environments else SpareCapacity(first)
    return EnvironmentPool(partial(create_environment, settings), first, machine=machine)


def sandbox_settings(settings: Settings) -> SandboxSettings:
    """How evaluation functions are run."""
    return SandboxSettings(ocr_folder=settings.data / "ocr", isolation=settings.isolation)


def offline_rules(settings: Settings) -> OfflineRules:
    """The rules that play roles without a model, for the catalogue of the run.

    Raises:
        CatalogError: a catalogue folder is missing or contains errors.
    """
    return OfflineRules(catalogue(settings), load_resource_categories(settings.catalog))


def _call_notes(counters: CallCounters) -> list[str]:
    total = counters.total
    notes = [
        f"model calls: {total.calls_made} made, {total.from_ledger} from the ledger, {counters.in_flight} in"
        f" flight, {total.retries} retries, ${total.cost_usd:.2f}"
    ]
    notes.extend(f"{name} pauses: {reason}" for name, reason in counters.pauses.items())
    return notes
