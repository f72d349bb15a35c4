"""Making tasks from the pool: intents, composition, instructions, validation and replay, item by item."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from flows.summaries.model_call_rows import model_call_rows
from flows.wiring import Run
from model_clients.errors import BatchPendingError
from resources.reading.catalog import load_capabilities, load_scenarios
from resources.reading.catalog_links import fixtures_of
from resources.scenarios import scenario_of
from synthesis.composition.composition import compose
from synthesis.composition.request import CompositionAccount, CompositionResult
from synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from synthesis.intents.intents import PooledSubtask, extract_intents
from synthesis.replay.replay import Replayer
from synthesis.validation.validation import validate_task
from taskgraph.records.provenance import Provenance
from taskgraph.records.task import Intent, Rejection, Task

INTENTS = "intents"
COMPOSITION = "composition"
VALIDATION = "validation"
REPLAY = "replay"
BATCH = 100
"""Tasks validated in one step."""


@dataclass(slots=True)
class TaskMaking:
    """The making of tasks in one run."""

    run: Run
    """The run."""
    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id; complete before `extract` is called."""
    intents: list[Intent] = field(default_factory=list)
    """Intents of this and earlier runs."""
    account: CompositionAccount | None = None
    """What came of the composition."""
    batches: list[list[Task]] = field(default_factory=list)
    """Composed tasks."""
    chosen: dict[int, list[Task]] = field(default_factory=dict)
    """Validated tasks that are to be replayed, by batch."""
    validated: int = 0
    """Tasks that passed validation."""
    waiting: int = 0
    """Tasks whose calls wait for answers from elsewhere; a later run goes on with them."""
    version: str = ""
    """Dataset version published."""

    def provenance(self, stage: str) -> Provenance:
        """Provenance of what `stage` makes in this run."""
        return Provenance(run_id=self.run.run_id, stage=stage, seed=self.run.settings.seed)

    async def extract(self) -> int:
        """Find goals in the pool; the number of intents there are now."""
        run = self.run
        run.progress.begin(INTENTS)
        present = set(self.verified)
        earlier = [
            intent
            for intent in run.warehouse.read(Intent, "run_id <> ?", [run.run_id])
            if present.issuperset(intent.subtask_ids)
        ]
        try:
            found = await extract_intents(
                [self._pooled(item) for item in self.verified.values()],
                models=run.models,
                scenarios=load_scenarios(),
                settings=run.settings.intents,
                known=earlier,
                provenance=self.provenance(INTENTS),
            )
        except BatchPendingError:
            self.waiting += 1
            return 0
        self.intents = [*earlier, *found.intents]
        await run.recorder.record(*found.intents, *found.rejections)
        run.progress.done(INTENTS, len(found.intents))
        run.progress.rejected(INTENTS, len(found.rejections))
        run.progress.end(INTENTS)
        return len(self.intents)

    async def compose(self) -> int:
        """Compose tasks from the pool, beside the event loop; the number of batches."""
        run = self.run
        run.progress.begin(COMPOSITION, run.settings.composition.wanted)
        result = self._compose()
        iterator: Iterator[Task] = iter(result)
        while batch := await asyncio.to_thread(lambda: list(islice(iterator, BATCH))):
            self.batches.append([self._marked(task) for task in batch])
            run.progress.done(COMPOSITION, len(batch))
        self.account = result.account
        await run.recorder.record(*self._shortfalls(self.account))
        run.progress.end(COMPOSITION)
        return len(self.batches)

    def _compose(self) -> CompositionResult:
        """Tasks made while they are taken; tasks of other runs are not made again."""
        run = self.run
        earlier = run.warehouse.query(
            "SELECT task_id FROM tasks WHERE run_id <> ? AND status <> 'imported'", [run.run_id]
        ).rows()
        request = run.settings.composition.model_copy(
            update={
                "seed": run.settings.seed,
                "known_task_ids": (
                    *run.settings.composition.known_task_ids,
                    *sorted(str(row[0]) for row in earlier),
                ),
            }
        )
        scenarios = load_scenarios()
        return compose(
            [
                instance
                for _, item in sorted(self.verified.items())
                for instance in item.instances(run.categories)
            ],
            self.intents,
            request,
            fixtures={
                name: frozenset(fixtures_of(application, run.categories))
                for name, application in run.applications.items()
            },
            capabilities=load_capabilities(),
            scenario_of=lambda categories: scenario_of(categories, scenarios).name,
            provenance=self.provenance(COMPOSITION),
        )

    async def validate(self, batch: int) -> int:
        """Have the instructions of one batch written and judged; the number of tasks that passed."""
        tasks = self.batches[batch]
        self.run.progress.begin(VALIDATION, len(tasks))
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(self._validate(task)) for task in tasks]
        passed = [task for job in jobs if (task := job.result()) is not None]
        self.validated += len(passed)
        share = self.run.settings.replay_share
        self.chosen[batch] = [task for task in passed if _draw(task.task_id) < share]
        return len(passed)

    async def replay(self, batch: int) -> int:
        """Perform the chosen tasks of one batch; the number that worked in at least one order."""
        run, tasks = self.run, [] if self.waiting else self.chosen.get(batch, [])
        if not tasks:
            return 0
        replayer = Replayer(
            environments=run.environments,
            sandbox=run.sandbox,
            applications=run.applications,
            verified=self.verified,
            settings=run.settings.replay,
            provenance=self.provenance(REPLAY),
        )
        run.progress.begin(REPLAY, len(tasks))
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(self._replay(replayer, task)) for task in tasks]
        return sum(job.result() for job in jobs)

    async def publish(self) -> str:
        """Publish everything recorded as a dataset version; its name."""
        run = self.run
        await run.recorder.record(*model_call_rows(run.ledger, run.run_id), replace=True)
        await run.recorder.flush()
        version = await asyncio.to_thread(
            run.warehouse.publish, run_id=run.run_id, settings=run.record.settings
        )
        self.version = version.name
        return version.name

    async def _replay(self, replayer: Replayer, task: Task) -> bool:
        run = self.run
        replayed = await replayer.replay(task)
        await run.recorder.record(*replayed.trajectories, *replayed.replays)
        if replayed.rejection is None:
            run.progress.done(REPLAY)
            return True
        run.progress.rejected(REPLAY)
        await run.recorder.record(replayed.rejection)
        await run.recorder.record(task.model_copy(update={"status": "rejected"}), replace=True)
        return False

    async def _validate(self, task: Task) -> Task | None:
        run = self.run
        titles = {name: application.title for name, application in run.applications.items()}
        try:
            outcome = await validate_task(
                task,
                titles,
                models=run.models,
                settings=run.settings.validation,
                provenance=self.provenance(VALIDATION),
            )
        except BatchPendingError:
            self.waiting += 1
            return None
        await run.recorder.record(*outcome.rounds)
        if outcome.rejection is not None:
            await run.recorder.record(outcome.rejection)
            await run.recorder.record(task.model_copy(update={"status": "rejected"}), replace=True)
            run.progress.rejected(VALIDATION)
            return None
        validated = outcome.task.model_copy(update={"status": "validated"})
        await run.recorder.record(validated, replace=True)
        run.progress.done(VALIDATION)
        return validated

    def can_replay(self, task: Task) -> bool:
        """Whether every node has a verified trajectory in the pool."""
        return all(
            node.subtask_id in self.verified and self.verified[node.subtask_id].trajectory(node.instance_id)
            for node in task.graph.nodes
        )

    def _marked(self, task: Task) -> Task:
        """The task, saying so if any of its subtasks runs on a simulated platform."""
        simulated = any(self.verified[node.subtask_id].subtask.simulated for node in task.graph.nodes)
        return task.model_copy(update={"simulated": True}) if simulated else task

    def _pooled(self, item: VerifiedSubtask) -> PooledSubtask:
        return PooledSubtask(
            subtask=item.subtask,
            instances=item.instances(self.run.categories),
            application_title=self.run.applications[item.subtask.application].title,
        )

    def _shortfalls(self, account: CompositionAccount) -> list[Rejection]:
        return [
            Rejection(
                item_kind="composition",
                item_id=shortfall.wanted or "all cells",
                stage=COMPOSITION,
                reason=shortfall.kind,
                message=shortfall.reason,
                details={"missing": str(shortfall.missing), "bottleneck": shortfall.bottleneck},
                provenance=self.provenance(COMPOSITION),
            )
            for shortfall in account.shortfalls
        ]


def _draw(task_id: str) -> float:
    """A number from 0 to 1 that belongs to the task, so that the same tasks are replayed in every run."""
    return int.from_bytes(hashlib.sha256(task_id.encode()).digest()[:8], "big") / 2**64
