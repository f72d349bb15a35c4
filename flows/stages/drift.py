"""Performs verified subtasks again; those that no longer replay are retired, with their tasks."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import MappingProxyType

from taskloom.flows.nights.run_reports import NO_LONGER_REPLAYS, SUBTASK_RETIRED
from taskloom.flows.pool import load_verified
from taskloom.flows.running.together import together
from taskloom.flows.stages.replaying import replayer_of
from taskloom.flows.stages.results import draw, rejection
from taskloom.flows.wiring import Run
from taskloom.synthesis.cross_verification.verification_pool import VerificationPool
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.replay.order_facts import failed_prefix
from taskloom.synthesis.replay.replay import ReplayedTask
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, VerificationRound
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.warehouse.records import GateResult, Recheck

STAGE = "recheck"
_ORPHANED_TASKS = (
    "SELECT s.task_id, min(s.subtask_id) FROM task_subtasks AS s JOIN tasks AS t USING (task_id) WHERE"
    " t.status = 'validated' AND s.subtask_id IN (SELECT subtask_id FROM evaluation_functions GROUP BY"
    " subtask_id HAVING NOT bool_or(accepted)) GROUP BY s.task_id ORDER BY s.task_id"
)
"""Validated tasks with a subtask that no longer has an accepted evaluation function, and that subtask."""


@dataclass(slots=True)
class DriftCheck:
    """Performs subtasks again in one run, and retires those that fail."""

    run: Run
    known: dict[str, VerifiedSubtask] = field(default_factory=dict)
    done: dict[str, Recheck] = field(default_factory=dict)
    """Results of this run, by subtask."""

    async def recheck(self) -> None:
        """Perform a share of the subtasks again, and all of an application's if one of them fails."""
        run = self.run
        share = run.settings.nights.recheck_share
        self.known = await asyncio.to_thread(load_verified, run.warehouse, run.applications)
        if not self.known or not share:
            return
        self.done = {
            item.subtask_id: item for item in run.warehouse.read(Recheck, "run_id = ?", [run.run_id])
        }
        earlier = self._earlier_rechecks()
        order = sorted(
            self.known, key=lambda name: (earlier.get(name, ("", 0))[0], draw(f"recheck {name}"), name)
        )
        # Subtasks that an interrupted run retired are no longer known, but count towards its share.
        gone = [name for name in self.done if name not in self.known]
        most = math.ceil(share * (len(order) + len(gone)))
        chosen = [*gone, *(name for name in self.done if name in self.known)]
        chosen += [name for name in order if name not in self.done][: max(0, most - len(chosen))]
        pool = await self._verification_pool()
        wanted = [name for name in chosen if name not in self.done]
        while wanted:
            run.progress.begin(STAGE, len(wanted))
            await together(self._recheck(name, pool, earlier.get(name, ("", 0))[1]) for name in wanted)
            failed = {name.partition(".")[0] for name, item in self.done.items() if item.outcome == "retired"}
            wanted = [name for name in order if name.partition(".")[0] in failed and name not in self.done]
        run.progress.end(STAGE)
        retired = sorted(name for name, item in self.done.items() if item.outcome == "retired")
        await self._retire([name for name in retired if name in self.known])

    def _earlier_rechecks(self) -> dict[str, tuple[str, int]]:
        """By subtask, the last run that rechecked it and the number of rechecks, undecided ones included."""
        rows = self.run.warehouse.query(
            "SELECT subtask_id, max(run_id), count(*) FROM rechecks WHERE run_id <> ? GROUP BY subtask_id",
            [self.run.run_id],
        ).rows()
        return {str(name): (str(last), int(str(count))) for name, last, count in rows}

    async def _verification_pool(self) -> VerificationPool:
        run = self.run
        pool = VerificationPool(
            run.applications, run.categories, parameter_sets=run.settings.verification.parameter_sets
        )
        await pool.announce(item.subtask for _, item in sorted(self.known.items()))
        for name, item in sorted(self.known.items()):
            await pool.settle(name, item)
        await pool.complete()
        return pool

    async def _recheck(self, name: str, pool: VerificationPool, turn: int) -> None:
        """Perform one subtask again, with other parameters than last time, and record the outcome."""
        verified = self.known[name]
        instances = verified.instances(self.run.categories)
        instance = instances[turn % len(instances)]
        setup = await pool.setup_trajectory(instance)
        started = perf_counter()
        outcomes: list[str] = []
        message = "nothing verified makes what it reads"
        if setup is not None:
            nodes = [*{item.instance_id: item for item, _ in setup.performed}.values(), instance]
            while len(outcomes) < self.run.settings.nights.recheck_attempts and "holds" not in outcomes:
                replay_outcome, message = _verdict(await self._replay(nodes), instance)
                outcomes.append(replay_outcome)
        outcome = "retired" if set(outcomes) == {"retired"} else "undecided"
        if "holds" in outcomes:
            outcome = "holds"
        recorded = verified.trajectory(instance.instance_id)
        result = Recheck.model_validate(
            {
                "recheck_id": f"{self.run.run_id}/{name}",
                "subtask_id": name,
                "function_id": verified.function.function_id,
                "trajectory_id": recorded.trajectory_id if recorded else "",
                "outcome": outcome,
                "message": message,
                "attempts": len(outcomes),
                "seconds": round(perf_counter() - started, 3),
                "provenance": self.run.provenance(STAGE),
            }
        )
        self.done[name] = result
        await self.run.recorder.record(result, replace=True)
        (self.run.progress.rejected if result.outcome == "retired" else self.run.progress.done)(STAGE)

    async def _replay(self, nodes: Sequence[BoundSubtask]) -> ReplayedTask:
        names = tuple(node.instance_id for node in nodes)
        graph = TaskGraph(nodes=tuple(nodes))
        task = Task(
            task_id=f"recheck:{names[-1]}",
            graph=graph,
            world=nodes[-1].world,
            complexity=complexity_of(graph),
            successful_order_count=1,
            successful_orders=(names,),
        )
        return await replayer_of(self.run, self.known, STAGE, slip_share=0.0).replay(task, 1)

    async def _retire(self, names: Iterable[str]) -> None:
        """Retire these subtasks and all tasks that need them, with the reason."""
        run = self.run
        for name in names:
            message = f"its recording no longer does what it did: {self.done[name].message}"
            await run.recorder.record(rejection(run, STAGE, "subtask", name, NO_LONGER_REPLAYS, message))
            withdrawn = [
                item.model_copy(update={"accepted": False})
                for item in run.warehouse.read(EvaluationFunction, "accepted AND subtask_id = ?", [name])
            ]
            await run.recorder.record(*withdrawn, replace=True)
        await retire_tasks(run, {name: item.message for name, item in self.done.items()})


async def retire_tasks(run: Run, reasons: Mapping[str, str] = MappingProxyType({})) -> None:
    """Retire every validated task with a subtask that no longer counts as verified, with its reason."""
    await run.recorder.flush()
    rows = await asyncio.to_thread(lambda: list(run.warehouse.query(_ORPHANED_TASKS).rows()))
    lost = {str(task): str(subtask) for task, subtask in rows}
    among = "task_id IN (SELECT unnest(?::VARCHAR[]))"
    for task in await asyncio.to_thread(lambda: list(run.warehouse.read(Task, among, [list(lost)]))):
        subtask = lost[task.task_id]
        reason = f": {reasons[subtask]}" if reasons.get(subtask) else ""
        message = f"{subtask} no longer counts as verified{reason}"
        await run.recorder.record(
            rejection(run, STAGE, "task", task.task_id, SUBTASK_RETIRED, message, subtask=subtask)
        )
        await run.recorder.record(task.model_copy(update={"status": "retired"}), replace=True)
    await run.recorder.flush()


def has_changed_the_pool(run: Run) -> bool:
    """Whether `run`, a night, has changes to publish even without new tasks: it verified or retired
    something, or gates have held back changes since the newest version."""
    if not run.settings.nights.enabled:
        return False
    newest = next((item.name for item in reversed(run.warehouse.versions())), "")
    if run.warehouse.count(GateResult, f"NOT held AND NOT forced AND previous_version = '{newest}'"):
        return True
    retired = f"reason IN ('{NO_LONGER_REPLAYS}', '{SUBTASK_RETIRED}')"
    verified = run.warehouse.count(VerificationRound, f"accepted AND run_id = '{run.run_id}'")
    return bool(verified or run.warehouse.count(Rejection, f"{retired} AND run_id = '{run.run_id}'"))


def _verdict(replayed: ReplayedTask, instance: BoundSubtask) -> tuple[str, str]:
    """The outcome of a replay for its last subtask, and its message."""
    replay = replayed.replays[0]
    if replay.success:
        return "holds", ""
    if replay.failing_instance == instance.instance_id and failed_prefix(replayed.task, replay):
        return "retired", replay.message
    if replay.failing_instance in ("", instance.instance_id):
        return "undecided", replay.message
    return "undecided", f"{replay.failing_instance} before it: {replay.message}"
