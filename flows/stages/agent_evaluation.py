"""Agents at work on tasks: every attempt is recorded, judged subtask by subtask and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.guarding import GuardedAgent, Patience
from taskloom.environments.episode import Assignment, Quiet, run_episode
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.lookup import platform_of
from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.flows.running.together import together
from taskloom.flows.stages.agents import guarded_agent, is_own_code, is_person, recorded_parts, work_beside
from taskloom.flows.stages.attempt_judging import AttemptJudge, Judgement
from taskloom.flows.stages.attempt_records import attempt_record, scores_of, step_records
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.omnieval.brief import AgentBrief, AgentTask, ApplicationBrief
from taskloom.omnieval.experiments.plan import INVALID, AgentOrder, PlannedAttempt, ScriptedUser
from taskloom.omnieval.experiments.specification import AgentEntry, Limits
from taskloom.omnieval.lookup import protocol
from taskloom.resources.reading.translation import applications_in
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.replay.side_effects import SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import first_needs, fixtures_laid, made_files
from taskloom.taskgraph.records.agent_run import FOLDER as PEOPLE
from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

EVALUATION = "evaluation"
_FOREVER = 1e9
_SPENT = (
    "SELECT count(*), total(input_tokens), total(output_tokens), total(cost_usd) FROM calls WHERE item_id = ?"
)


class AgentResults(Record):
    """What one agent's attempts came to, in this run."""

    attempts: int
    """Attempts made."""
    invalid: int
    """Of these, invalid ones."""


@dataclass(frozen=True, slots=True)
class AgentAttempt:
    """How an agent did in one task."""

    trajectory: Trajectory
    """Its recording."""
    record: AgentRun
    """The attempt as it is kept."""
    steps: tuple[AgentStep, ...]
    """Its decisions."""


async def evaluate_tasks(
    run: Run,
    order: AgentOrder,
    planned: Sequence[tuple[PlannedAttempt, Task]],
    verified: Mapping[str, VerifiedSubtask],
    hashes: Mapping[str, str],
) -> AgentResults:
    """Have an agent make the attempts that are `planned` and not stored; each is kept as soon as it ends.

    Raises:
        CommandError: there is no such agent.
        RunStoppedError: model calls cannot go on at all, as when the budget is used up.
    """
    here = AttemptPlace(run, order, SideEffectAccount(verified), verified)

    alone = asyncio.Semaphore(1) if is_person(order.entry.agent) else nullcontext()

    async def attempted(attempt: PlannedAttempt, task: Task) -> AgentAttempt:
        async with alone:
            if run.elsewhere is None:
                done = await here.attempt(attempt, task)
            else:
                beside = None if is_own_code(order.entry.agent) else work_beside(task, run, verified)
                also = () if beside is None else (beside.trajectory.subtask_id,)
                done = await run.elsewhere.do(AttemptErrand(order, attempt, task, also))
        done = replace(done, record=_with_calls(run, done.record))
        scores = scores_of(done.record, task, hashes.get(task.task_id, ""))
        await run.recorder.record(done.trajectory, done.record, *done.steps, *scores, replace=True)
        run.progress.done(EVALUATION)
        return done

    done = await together(attempted(*item) for item in planned)
    await run.recorder.flush()
    return AgentResults(attempts=len(done), invalid=sum(item.record.end == "invalid" for item in done))


@dataclass(frozen=True, slots=True)
class AttemptErrand:
    """One attempt, in any process that has the agent's module."""

    order: AgentOrder
    """The agent and how it is measured."""
    planned: PlannedAttempt
    """The attempt."""
    task: Task
    """Its task."""
    beside: tuple[str, ...] = ()
    """The subtask that an agent may do although the task does not ask for it, if there is one."""

    async def do(self, place: Workplace, subtasks: KnownSubtasks) -> AgentAttempt:
        """Let a new agent make the attempt."""
        verified = await subtasks([*(node.subtask_id for node in self.task.graph.nodes), *self.beside])
        there = AttemptPlace(place, self.order, SideEffectAccount(verified), verified)
        return await there.attempt(self.planned, self.task)


async def attempt_task(
    place: Workplace,
    task: Task,
    agent: Agent,
    verified: Mapping[str, VerifiedSubtask],
    *,
    step_limit: int,
    patience: int,
    on_completed: Callable[[str], object],
) -> AgentAttempt:
    """One attempt at `task` by an agent that takes its time; nothing is stored.

    `on_completed` is called with the id of each subtask once it is completed.
    """
    unhurried = Limits(decision_seconds=_FOREVER, attempt_seconds=_FOREVER, refused_actions=step_limit + 1)
    order = AgentOrder(
        experiment_id="",
        entry=AgentEntry(agent="python"),
        protocol="paper",
        limits=unhurried,
        step_limit=step_limit,
        patience=patience,
        quiet_seconds=0,
        quiet_limit_seconds=0,
        invalid_tries=1,
    )
    planned = PlannedAttempt(
        attempt_id=f"{place.run_id}:{task.task_id}",
        task_id=task.task_id,
        variant="high",
        instruction=task.instruction,
        repeat=0,
        seed=place.settings.seed,
        number=0,
    )
    account = SideEffectAccount(verified)
    return await AttemptPlace(place, order, account, verified, agent, on_completed).attempt(planned, task)


@dataclass(slots=True)
class AttemptPlace:
    """The attempts of one agent in one process."""

    place: Workplace
    """What they work with."""
    order: AgentOrder
    """The agent and how it is measured."""
    account: SideEffectAccount
    """Tells what was changed beyond a task."""
    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id."""
    given: Agent | None = None
    """An agent that is there already, instead of the one that the order names."""
    on_completed: Callable[[str], object] | None = None
    """Called with the id of each subtask once it is completed."""

    async def attempt(self, planned: PlannedAttempt, task: Task) -> AgentAttempt:
        """A new agent at work on `task`; begun again in a fresh environment where it was invalid."""
        invalid: list[str] = []
        self.place.environments.make_ahead(self.order.ahead)
        while True:
            judge = AttemptJudge.of(
                task,
                self.verified,
                self.place.sandbox,
                self.account,
                patience=self.order.patience,
                step_limit=self.order.step_limit,
                on_completed=self.on_completed,
            )
            trajectory, agent = await self._perform(planned, task, judge)
            if trajectory.termination in INVALID:
                invalid.append(trajectory.message)
                if len(invalid) < self.order.invalid_tries:
                    continue
            judgement = await asyncio.to_thread(judge.end, trajectory)
            return self._kept(planned, task, trajectory, judgement, agent, tuple(invalid))

    def _kept(
        self,
        planned: PlannedAttempt,
        task: Task,
        trajectory: Trajectory,
        judgement: Judgement,
        agent: GuardedAgent,
        invalid: tuple[str, ...],
    ) -> AgentAttempt:
        record = attempt_record(self.order, planned, task, trajectory, judgement, agent.decided)
        counted = invalid[:-1] if record.end == "invalid" else invalid
        record = record.model_copy(update={"invalid_before": counted})
        return AgentAttempt(trajectory, record, step_records(record, trajectory, judgement, agent.decided))

    async def _perform(
        self, planned: PlannedAttempt, task: Task, judge: AttemptJudge
    ) -> tuple[Trajectory, GuardedAgent]:
        place, order = self.place, self.order
        there = applications_in(place.applications, task.world)
        names = list(dict.fromkeys(node.application for node in task.graph.nodes))
        opened = [there[name] for name in names]
        gone = frozenset(task.lack.paths if task.lack else ())
        made = made_files(task.graph.nodes) | gone
        told = AgentTask(
            task_id=task.task_id,
            instruction=planned.instruction,
            applications=tuple(
                ApplicationBrief(name=item.name, title=item.title, manual=item.manual) for item in opened
            ),
            step_limit=order.step_limit,
            question=task.question.text if task.question else "",
            can_ask=bool(planned.reply),
        )
        told = told.model_copy(update={"instruction": protocol(order.protocol).instruction(told)})
        own = self.given is None and is_own_code(order.entry.agent)
        models = place.player(order.entry.title)
        brief = AgentBrief(
            task=told,
            seed=planned.seed,
            number=planned.number,
            settings=order.entry.settings,
            prompt=order.entry.prompt,
            models=models,
            stage=EVALUATION,
            attempt_id=planned.attempt_id,
            people=None if own else place.settings.data / PEOPLE,
            recorded=() if own else recorded_parts(task, place, self.verified),
            answer="" if own or task.question is None else task.question.right_answer,
            impossible="" if own or task.lack is None else task.lack.proof or "not tried yet",
            beside=(lambda: None) if own else (lambda: work_beside(task, place, self.verified)),
            orders=() if own else task.successful_orders,
        )
        person = is_person(order.entry.agent)
        patience = Patience(
            decision_seconds=order.limits.attempt_seconds if person else order.limits.decision_seconds,
            attempt_seconds=order.limits.attempt_seconds,
            unusable_replies=order.limits.unusable_replies,
            refused_actions=order.limits.refused_actions,
        )
        if self.given is not None:
            given = self.given
            agent = GuardedAgent(lambda: given, patience)
        else:
            agent = guarded_agent(order.entry, task, brief, place, models, patience)
        needs = [item for item in first_needs(task.graph.nodes) if item.value not in gone]
        trajectory: Trajectory | None = None
        try:
            async with place.environments.lease(platform_of(opened), names) as environment:
                trajectory = await run_episode(
                    environment,
                    _Stopped(agent, judge, asks=task.question is not None or task.lack is not None),
                    assignment=Assignment.of_task(task, planned.attempt_id, told.instruction),
                    applications=opened,
                    step_limit=order.step_limit,
                    without=made,
                    trajectory_id=planned.attempt_id,
                    provenance=place.provenance(EVALUATION),
                    check_start=lambda evidence: missing_at_start(
                        needs, evidence, fixtures_laid(opened, made)
                    ),
                    on_start=judge.beginning,
                    on_step=judge.seeing,
                    turn=place.environments.turn(),
                    companion=(
                        ScriptedUser(planned.reply, planned.news) if planned.reply or planned.news else None
                    ),
                    quiet=Quiet(order.quiet_seconds, order.quiet_limit_seconds),
                )
                if trajectory.termination in INVALID:
                    raise EnvironmentBrokenError(trajectory.message)  # so that nobody gets this one again
        except EnvironmentBrokenError:
            if trajectory is None:
                raise
        finally:
            await agent.close()
        return trajectory, agent


def _with_calls(run: Run, record: AgentRun) -> AgentRun:
    """The attempt with what its model calls took, by the ledger."""
    row = run.ledger.select(_SPENT, (record.agent_run_id,))[0]
    calls, given, said, usd = (float(str(value or 0)) for value in row)
    provenance = record.provenance.model_copy(update={"cost_usd": round(record.provenance.cost_usd + usd, 6)})
    return record.model_copy(
        update={
            "calls": record.calls + int(calls),
            "input_tokens": record.input_tokens + int(given),
            "output_tokens": record.output_tokens + int(said),
            "provenance": provenance,
        }
    )


@dataclass(slots=True)
class _Stopped:
    """An agent that is asked no more once the evaluator has seen the end, unless it is to answer as well."""

    agent: Agent
    judge: AttemptJudge
    asks: bool = False

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        over = self.judge.evaluator.outcome
        if over in ("stalled", "step_limit") or (over == "completed" and not self.asks):
            return Decision(status="finish")
        return await self.agent.decide(instruction, observation, history)
