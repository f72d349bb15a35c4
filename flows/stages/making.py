"""Makes tasks from the pool: intents, composition, validation, critic and replay, item by item."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from taskloom.flows.errors import CommandError
from taskloom.flows.nights.choices import request_for_run
from taskloom.flows.nights.gates import gate_results
from taskloom.flows.pool import MISSING_LINK, NOT_COMPOSED, load_verified
from taskloom.flows.running.together import together
from taskloom.flows.stages.replaying import COMPOSITION, TaskReplays
from taskloom.flows.stages.results import ValidatedBatch, draw, number_repetitions, rejection
from taskloom.flows.summary import model_call_rows
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.model_clients.errors import CallFailedError
from taskloom.resources.errors import ExitCode
from taskloom.resources.reading.catalog import load_capabilities, load_scenarios
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import applications_in, worlds_of
from taskloom.resources.scenarios import scenario_of
from taskloom.synthesis.composition.building import identity
from taskloom.synthesis.composition.composition import Composer, compose
from taskloom.synthesis.composition.pool.compiled_pool import fixture_key
from taskloom.synthesis.composition.pool.linking import linked
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionAccount, CompositionRequest
from taskloom.synthesis.criticism import STAGE as CRITICISM
from taskloom.synthesis.criticism import criticise_task, doubt_about_tasks, rejection_by
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask, instances_in_worlds
from taskloom.synthesis.intents import PooledSubtask, extract_intents
from taskloom.synthesis.replay.components import component_keys
from taskloom.synthesis.replay.order_facts import Pair
from taskloom.synthesis.validation.calibration import doubt_about, try_judge
from taskloom.synthesis.validation.validation import ValidatedTask, validate_task
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Rejection, Task
from taskloom.warehouse.task_quality import critic_scores, judge_rates

INTENTS = "intents"
VALIDATION = "validation"
BATCH = 100
"""Tasks validated in one step."""
_COMPOSITIONS = 3
"""Maximum rounds of composition; each replaces tasks that contradict what is known about orders."""


async def _validate_job(task: Task, place: Workplace, _: KnownSubtasks) -> ValidatedTask:
    return await validate_task(
        task,
        place.titles,
        models=place.models,
        settings=place.settings.validation,
        provenance=place.provenance(VALIDATION),
    )


@dataclass(slots=True)
class TaskMaking:
    """Makes the tasks of one run."""

    run: Run
    verified: dict[str, VerifiedSubtask]
    """Verified subtasks by id, as far as this process has seen them."""
    replays: TaskReplays = field(init=False)
    """Replays of this run's tasks, which share its environments and its pool."""
    _instances: dict[str, tuple[BoundSubtask, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.replays = TaskReplays(self.run, self.subtasks)

    async def extract(self, subtask_ids: Sequence[str]) -> tuple[Intent, ...]:
        """Find goals in the pool of these verified subtasks."""
        run = self.run
        run.progress.begin(INTENTS)
        pool = await self.subtasks(subtask_ids)
        earlier = [
            intent
            for intent in run.warehouse.read(Intent, "run_id <> ?", [run.run_id])
            if pool.keys() >= set(intent.subtask_ids)
        ]
        extraction = await extract_intents(
            [
                PooledSubtask(
                    subtask=item.subtask,
                    instances=self.instances(item),
                    application_title=run.applications[item.subtask.application].title,
                )
                for item in pool.values()
            ],
            models=run.models,
            scenarios=load_scenarios(),
            settings=run.settings.intents,
            known=earlier,
            provenance=self.run.provenance(INTENTS),
        )
        await run.recorder.record(*extraction.intents, *number_repetitions(extraction.rejections))
        run.progress.done(INTENTS, len(extraction.intents))
        run.progress.rejected(INTENTS, len(extraction.rejections))
        run.progress.end(INTENTS)
        return (*earlier, *extraction.intents)

    async def compose(
        self, subtask_ids: Sequence[str], intents: Sequence[Intent], rejected: Collection[str] = ()
    ) -> list[list[Task]]:
        """Compose tasks from the pool of these subtasks, in batches, without blocking the event loop.

        Tasks with the ids `rejected` are replaced, as are those that contradict what is known about orders.
        Tasks that were composed earlier, perhaps by a stopped run, and are still waiting come first.
        """
        run = self.run
        request = await asyncio.to_thread(request_for_run, run) or run.settings.composition
        if not rejected:
            run.progress.begin(COMPOSITION, request.wanted)
        pool = await self.subtasks(subtask_ids)
        known = await self.replays.known_clashes()
        left_out = set(rejected)
        for _ in range(_COMPOSITIONS):
            result = self._compose(request, pool, intents, left_out, known)
            iterator: Iterator[Task] = iter(result)
            batches: list[list[Task]] = []
            clashing: set[str] = set()
            while batch := await asyncio.to_thread(list, islice(iterator, BATCH)):
                fit = await self.replays.without_clashes([self._annotated(task) for task in batch], known)
                batches.append(fit)
                clashing |= {task.task_id for task in batch} - {task.task_id for task in fit}
            if not clashing:
                break
            left_out |= clashing
        await run.recorder.record(*(task for batch in batches for task in batch))
        if not rejected:
            composed = sum(len(batch) for batch in batches)
            run.progress.done(COMPOSITION, composed)
            for item in result.account.shortfalls:
                missing = f"{item.missing} missing{f' of {item.wanted}' if item.wanted else ''}"
                wanted = result.account.wanted
                run.progress.say(f"{composed} of {wanted} tasks can be composed; {missing}: {item.reason}")
            await run.recorder.record(*self._shortfalls(result.account))
        run.progress.end(COMPOSITION)
        return batches

    async def subtasks(self, subtask_ids: Iterable[str]) -> dict[str, VerifiedSubtask]:
        """The verified subtasks with these ids, read from the warehouse if another process verified them.

        Raises:
            CommandError: one is not verified for the applications installed here.
        """
        wanted = list(dict.fromkeys(subtask_ids))
        if not self.verified.keys() >= set(wanted):
            stored = await asyncio.to_thread(load_verified, self.run.warehouse, self.run.applications)
            self.verified.update({name: item for name, item in stored.items() if name not in self.verified})
        missing = [name for name in wanted if name not in self.verified]
        if missing:
            raise CommandError(
                f"{missing[0]} is not verified with the applications installed here; run: taskloom verify",
                ExitCode.MISSING_REQUIREMENT,
            )
        return {name: self.verified[name] for name in wanted}

    def instances(self, item: VerifiedSubtask) -> tuple[BoundSubtask, ...]:
        """The instances of a verified subtask in all worlds of the run."""
        if item.subtask.subtask_id not in self._instances:
            instances = instances_in_worlds(item, self.run.applications, self.run.categories)
            self._instances[item.subtask.subtask_id] = instances
        return self._instances[item.subtask.subtask_id]

    def _compose(
        self,
        request: CompositionRequest,
        pool: Mapping[str, VerifiedSubtask],
        intents: Sequence[Intent],
        left_out: Collection[str],
        clashes: Collection[Pair],
    ) -> Composer:
        """Tasks, generated lazily, starting with composed ones that still wait. Of other runs' tasks, only
        retired ones are made again, and none of `left_out`. Subtasks that clash do not feed each other."""
        run = self.run
        waiting = run.warehouse.read(Task, "status = 'composed'")
        graphs = [task.graph for task in waiting if identity(task.graph) == task.task_id and not task.twin_of]
        earlier = run.warehouse.query(
            "SELECT task_id FROM tasks WHERE run_id <> ? AND status IN ('validated', 'rejected')",
            [run.run_id],
        ).rows()
        scenarios = load_scenarios()
        sense = replace(
            Sense.of([item.subtask for item in pool.values()], run.applications), clashes=frozenset(clashes)
        )
        instances = [instance for _, item in sorted(pool.items()) for instance in self.instances(item)]
        return compose(
            [*instances, *self._linked_instances(pool, instances, request, sense, graphs)],
            intents,
            request,
            fixtures={
                fixture_key(name, world): frozenset(fixtures_of(application, run.categories))
                for world in worlds_of(run.applications)
                for name, application in applications_in(run.applications, world).items()
            },
            capabilities=load_capabilities(),
            scenario_of=lambda categories, ends: scenario_of(categories, scenarios, ends).name,
            sense=sense,
            provenance=self.run.provenance(COMPOSITION),
            known={*left_out, *(str(row[0]) for row in earlier)},
            unfinished=graphs,
            seed=run.settings.seed,
        )

    def _linked_instances(
        self,
        pool: Mapping[str, VerifiedSubtask],
        instances: Sequence[BoundSubtask],
        request: CompositionRequest,
        sense: Sense,
        waiting: Sequence[TaskGraph],
    ) -> list[BoundSubtask]:
        """Further instances that read what other subtasks make, if their performances show how, and those of
        the graphs `waiting`."""
        examples = {instance.subtask_id: instance for instance in instances}
        subtasks = {
            name: item.subtask
            for name, item in pool.items()
            if name in examples and item.tells_how(examples[name])
            if sense.accepts_other_inputs(item.subtask)
        }
        most = request.links // len(worlds_of(self.run.applications))
        linked_instances = linked(
            instances,
            subtasks,
            self.run.categories,
            most=most,
            seed=self.run.settings.seed,
            worlds=sense.worlds,
        )
        known = {item.instance_id for item in (*instances, *linked_instances)}
        nodes = (node for graph in waiting for node in graph.nodes if node.subtask_id in subtasks)
        return [*linked_instances, *(node for node in nodes if node.instance_id not in known)]

    async def validate(self, tasks: Sequence[Task]) -> ValidatedBatch:
        """Write and judge the instructions of a batch, and let the critic score some of its tasks."""
        self.run.progress.begin(VALIDATION, len(tasks))
        judged = await together(self._validate(task) for task in tasks)
        passed = [task for task in judged if task is not None]
        await self._try_judge(passed)
        kept = await criticise(self.run, passed)
        drawn = [task for task in kept if draw(task.task_id) < self.run.settings.replay_share]
        replayed = await self.replays.replayed_before(drawn)
        return ValidatedBatch(
            passed=len(kept),
            to_replay=tuple(task for task in drawn if task.task_id not in replayed),
        )

    async def publish(self) -> str:
        """Publish all records as a dataset version, in which this run counts as completed; returns its name.

        If judge, critic or gates prevent it, nothing is published and the name is empty; rejections say why.
        """
        run = self.run
        await run.recorder.flush()
        rates = await asyncio.to_thread(judge_rates, run.warehouse, run.run_id)
        doubts = {
            "judge_not_good_enough": doubt_about(rates, run.settings.validation),
            "critic": await doubt_of_critic(run),
        }
        gates = await asyncio.to_thread(
            gate_results, run.warehouse, run.settings.gates, run.run_id, run.provenance("publishing")
        )
        await run.recorder.record(*gates, replace=True)
        doubts |= {f"gate_{gate.gate}": f"{gate.explanation}." for gate in gates if not gate.held}
        rejections = [
            rejection(run, VALIDATION, "dataset_version", run.run_id, reason, doubt)
            for reason, doubt in doubts.items()
            if doubt
        ]
        if rejections:
            await run.recorder.record(*rejections)
            return ""
        await run.recorder.record(*model_call_rows(run.ledger, run.run_id), replace=True)
        await run.recorder.record(run.ended("completed"), replace=True)
        await run.recorder.flush()
        version = await asyncio.to_thread(
            run.warehouse.publish, run_id=run.run_id, settings=run.record.settings
        )
        return version.name

    async def _try_judge(self, tasks: Sequence[Task]) -> None:
        """Test the judge with spoilt instructions among the others, and record what it noticed."""
        run = self.run
        trials = await together(
            try_judge(
                task,
                run.titles,
                [other for other in tasks if other.task_id != task.task_id],
                models=run.models,
                attempt=run.settings.validation.rounds,
                provenance=run.provenance(VALIDATION),
            )
            for task in tasks
            if draw(f"spoilt {task.task_id}") < run.settings.validation.spoilt_share
        )
        await run.recorder.record(*(item for item in trials if item is not None))

    async def _validate(self, task: Task) -> Task | None:
        """The validated task; None if it is rejected."""
        run = self.run
        job = partial(_validate_job, task)
        outcome = await (run.workers.run_job(job) if run.workers else job(run, self.subtasks))
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

    def _annotated(self, task: Task) -> Task:
        """The task with the keys of its components, and whether any subtask runs on a simulated platform."""
        verified = {node.subtask_id: self.verified[node.subtask_id] for node in task.graph.nodes}
        simulated = any(item.subtask.simulated for item in verified.values())
        functions = {name: item.function.function_id for name, item in verified.items()}
        keys = component_keys(task.graph, functions)
        return task.model_copy(update={"simulated": simulated or task.simulated, "components": keys})

    def _shortfalls(self, account: CompositionAccount) -> list[Rejection]:
        """The shortages of composition; `wishes_of` passes the first of them to explorers."""
        record = partial(rejection, self.run, COMPOSITION, "composition")
        return [
            *(
                record(f"{item.application}/{item.category}", MISSING_LINK, item.advice)
                for item in account.missing_links
            ),
            *(
                record(item.intent_id, NOT_COMPOSED, f"no task serves the goal '{item.goal}': {item.reason}")
                for item in account.not_composed
            ),
            *(
                record(
                    item.wanted or "all cells",
                    item.kind,
                    item.reason,
                    missing=str(item.missing),
                    bottleneck=item.bottleneck,
                )
                for item in account.shortfalls
            ),
        ]


async def criticise(run: Run, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Let the critic, if a model plays it, score its share of `tasks`; returns those not rejected."""
    settings = run.settings.critic
    chosen = [task for task in tasks if draw(f"critic {task.task_id}") < settings.share]
    if run.settings.is_offline(ModelRole.CRITIC) or not chosen:
        return tuple(tasks)
    rejected = set(await together(_criticise(run, task) for task in chosen))
    return tuple(task for task in tasks if task.task_id not in rejected)


async def doubt_of_critic(run: Run) -> str:
    """Why the scores of this run's tasks prevent publication; empty if they do not."""
    if not run.settings.critic.minimum_mean:
        return ""
    await run.recorder.flush()
    report = await asyncio.to_thread(critic_scores, run.warehouse, run.run_id)
    return doubt_about_tasks(report, run.settings.critic)


async def _criticise(run: Run, task: Task) -> str:
    """The id of the task if the critic rejects it; empty if it is kept or could not be scored."""
    model = run.settings.models.role(ModelRole.CRITIC).model
    try:
        criticism = await criticise_task(
            task,
            run.titles,
            models=run.models,
            critic=f"{model.provider}/{model.model}",
            provenance=run.provenance(CRITICISM),
        )
    except CallFailedError:
        return ""
    await run.recorder.record(criticism, replace=True)
    rejected = rejection_by(criticism, run.settings.critic)
    if rejected is None:
        return ""
    await run.recorder.record(rejected)
    await run.recorder.record(task.model_copy(update={"status": "rejected"}), replace=True)
    return task.task_id
