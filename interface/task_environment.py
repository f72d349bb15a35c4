"""A task in its environment, with the methods of Gymnasium's environments; plain calls, no `await`.

Attempts are those of `taskloom evaluate`, with the same start, loop, evaluation functions and record. Here
the decisions come from the caller, one `step` at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import ExitStack
from random import Random
from typing import Self, TypeVar

from anyio.from_thread import start_blocking_portal
from pydantic import BaseModel, TypeAdapter, ValidationError

from taskloom.environments.agent import Decision
from taskloom.environments.environment import Environment
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.errors import CommandError
from taskloom.flows.pool import load_verified
from taskloom.flows.running.environment_pool import EnvironmentPool
from taskloom.flows.settings import Settings, describe_problems
from taskloom.flows.stages.agent_evaluation import AgentAttempt, attempt_task
from taskloom.flows.wiring import (
    Workplace,
    choose_applications,
    create_environment,
    refuse_unconfined,
    sandbox_settings,
)
from taskloom.omnieval.lookup import Attempt, measured
from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.applications import Application
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.reading.translation import WorldlyApplications
from taskloom.synthesis.exploration.memory import with_records
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.exploration import FoundRecord
from taskloom.taskgraph.records.interaction import Action, Observation
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.store import Warehouse

Info = dict[str, object]
"""As in Gymnasium: `task_id`, `instruction`, `completed` (ids of subtasks, in order), `problem`."""
R = TypeVar("R", bound=BaseModel)
_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_TRUNCATED = ("stalled", "step_limit")


class TaskEnvironment:
    """Attempts at tasks, one after the other; created by `Dataset.environment`.

    The reward of a step is the increase in the coverage rate, so an attempt's rewards add up to that rate.
    Evaluation functions are deterministic: nothing but the choice of the task depends on a seed.
    """

    def __init__(
        self, warehouse: Warehouse, tasks: Sequence[Task], settings: Settings, step_limit: int, patience: int
    ) -> None:
        """Open what attempts need; applications start with the first `reset`."""
        refuse_unconfined(settings, agent_acts=True)
        present, absent = choose_applications(settings)
        records = list(warehouse.read(FoundRecord))
        present = {name: with_records(item, records) for name, item in present.items()}
        applications = WorldlyApplications(present, settings.worlds, settings.catalog)
        self._verified = load_verified(warehouse, applications)
        self._tasks = {task.task_id: task for task in tasks}
        for task in tasks:
            missing = [node for node in task.graph.nodes if node.subtask_id not in self._verified]
            if missing:
                reason = absent.get(missing[0].application, "its version differs, or it was not verified")
                raise CommandError(
                    f"the task {task.task_id} cannot be attempted here: {missing[0].subtask_id} needs"
                    f" {missing[0].application} ({reason})."
                )
        self._settings, self._step_limit, self._patience = settings, step_limit, patience
        self._resources = ExitStack()
        self._portal = self._resources.enter_context(start_blocking_portal())
        sandbox = self._resources.enter_context(EvaluationSandbox(sandbox_settings(settings)))
        self._environment: _RememberingEnvironment | None = None
        environments = EnvironmentPool(self._create_environment, 1)
        self._resources.callback(lambda: self._portal.call(environments.close))
        self._place = Workplace(
            run_id="python",
            settings=settings,
            applications=applications,
            models=_NoModels(),
            environments=environments,
            sandbox=sandbox,
        )
        self._caller = _Caller()
        self._attempt: asyncio.Task[AgentAttempt] | None = None
        self._random = Random(settings.seed)
        self._task: Task | None = None
        self._coverage, self._closed = 0.0, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def task(self) -> Task:
        """The task of the last `reset`.

        Raises:
            TaskloomError: there was no `reset`.
        """
        if self._task is None:
            raise CommandError("call reset() first: it chooses the task and starts its applications.")
        return self._task

    def reset(self, *, seed: int | None = None, task: str | None = None) -> tuple[Observation, Info]:
        """Begin an attempt at the task with the id `task`, or else at one drawn with `seed`.

        Raises:
            TaskloomError: there is no such task, or its environment cannot be set up as the task needs it.
        """
        if self._closed:
            raise CommandError("this environment is closed; open another with dataset.environment().")
        if seed is not None:
            self._random = Random(seed)
        if task is not None and task not in self._tasks:
            raise UnknownCatalogEntryError("task", task, self._tasks)
        chosen = self._tasks[task] if task is not None else self._random.choice(list(self._tasks.values()))
        self._portal.call(self._end, "give_up")
        self._task, self._coverage = chosen, 0.0
        observation = self._portal.call(self._begin, chosen)
        if observation is None:
            record = self.judge()
            raise CommandError(f"the attempt at {chosen.task_id} has no valid start: {record.message}")
        return observation, self._info()

    def observe(self) -> Observation:
        """The screen and its controls after the last action."""
        if self._environment is None or self._environment.last_observation is None:
            raise CommandError("call reset() first: there is no observation yet.")
        return self._environment.last_observation

    def step(
        self, action: Action | Mapping[str, object] | Decision
    ) -> tuple[Observation, float, bool, bool, Info]:
        """Carry out an action; returns observation, reward, terminated, truncated and info.

        An action may be a mapping, such as `{"operation": "click_input", "control_label": "3"}`; a decision
        may also end the attempt. An action that cannot be carried out counts as a step, and
        `info["problem"]` says why.

        Raises:
            TaskloomError: it is not an action, or the attempt has ended.
        """
        task = self.task
        if self._attempt is None or self._attempt.done():
            raise CommandError(f"the attempt at {task.task_id} has ended; call reset() to begin another.")
        observation = self._portal.call(self._decide, _parse_decision(action))
        before = self._coverage
        attempt = Attempt(task.graph, tuple(self._caller.completed))
        self._coverage = measured(attempt)["coverage_rate"] or 0.0
        truncated = observation is None and self.judge().outcome in _TRUNCATED
        terminated = observation is None and not truncated
        return observation or self.observe(), self._coverage - before, terminated, truncated, self._info()

    def judge(self) -> AgentRun:
        """End the attempt and judge it; the result is its row of `agent_runs`: success, coverage and more.

        Raises:
            TaskloomError: there was no `reset`.
        """
        return self._finished_attempt().record

    @property
    def recording(self) -> Trajectory:
        """The recording of the attempt; reading it ends the attempt."""
        return self._finished_attempt().trajectory

    def close(self) -> None:
        """Stop every process and remove every file of the environment. May be called twice."""
        if self._attempt is not None and not self._attempt.done():
            self._portal.call(self._end, "give_up")
        self._closed = True
        self._resources.close()

    def _finished_attempt(self) -> AgentAttempt:
        if self._attempt is None:
            raise CommandError("call reset() first: there is no attempt to judge.")
        self._portal.call(self._end, "finish")
        return self._attempt.result()

    def _info(self) -> Info:
        ended = self._attempt is not None and self._attempt.done()
        steps = self._finished_attempt().trajectory.steps if ended else self._caller.history
        return {
            "task_id": self.task.task_id,
            "instruction": self.task.instruction,
            "completed": list(self._caller.completed),
            "problem": steps[-1].problem if steps else "",
        }

    def _create_environment(self, platform: str) -> Environment:
        self._environment = _RememberingEnvironment(create_environment(self._settings, platform))
        return self._environment

    async def _begin(self, task: Task) -> Observation | None:
        self._caller = caller = _Caller()
        default_limit = self._settings.trajectories.step_limit * len(task.graph.nodes)
        attempt = attempt_task(
            self._place,
            task,
            caller,
            self._verified,
            step_limit=self._step_limit or default_limit,
            patience=self._patience,
            on_completed=caller.completed.append,
        )
        self._attempt = asyncio.create_task(attempt)
        return await self._next_observation()

    async def _decide(self, decision: Decision) -> Observation | None:
        self._caller.decisions.put_nowait(decision)
        return await self._next_observation()

    async def _next_observation(self) -> Observation | None:
        """The next observation of the attempt; None once it has ended."""
        assert self._attempt is not None
        observation = asyncio.create_task(self._caller.observations.get())
        await asyncio.wait({observation, self._attempt}, return_when=asyncio.FIRST_COMPLETED)
        if observation.done():
            return observation.result()
        observation.cancel()
        self._attempt.result()  # raises its error, if any
        return None

    async def _end(self, status: str) -> None:
        if self._attempt is None:
            return
        if not self._attempt.done():
            self._caller.decisions.put_nowait(Decision(status="finish" if status == "finish" else "give_up"))
        await asyncio.wait({self._attempt})


class _Caller:
    """The agent whose decisions are the calls of `step`."""

    def __init__(self) -> None:
        self.observations: asyncio.Queue[Observation] = asyncio.Queue()
        self.decisions: asyncio.Queue[Decision] = asyncio.Queue()
        self.completed: list[str] = []
        self.history: Sequence[TrajectoryStep] = ()

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        self.history = history
        self.observations.put_nowait(observation)
        return await self.decisions.get()


class _RememberingEnvironment:
    """An environment that remembers its last observation."""

    def __init__(self, environment: Environment) -> None:
        self.inner = environment
        self.platform, self.simulated = environment.platform, environment.simulated
        self.last_observation: Observation | None = None

    async def _remember(self, observation: Awaitable[Observation]) -> Observation:
        self.last_observation = await observation
        return self.last_observation

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        return await self._remember(self.inner.reset(applications, without=without))

    async def observe(self) -> Observation:
        return await self._remember(self.inner.observe())

    async def act(self, action: Action) -> Observation:
        return await self._remember(self.inner.act(action))

    async def bring_to_front(self, application: str) -> Observation:
        return await self._remember(self.inner.bring_to_front(application))

    async def evidence(self) -> Evidence:
        return await self.inner.evidence()

    async def rest(self) -> None:
        await self.inner.rest()

    async def close(self) -> None:
        await self.inner.close()


class _NoModels:
    """Refuses every question: an attempt whose decisions come from a caller asks no model."""

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        raise CommandError(f"{stage} would ask a model, but an environment of a task has none.")


def _parse_decision(action: Action | Mapping[str, object] | Decision) -> Decision:
    if isinstance(action, Decision):
        return action
    try:
        parsed = _ACTION.validate_python(dict(action) if isinstance(action, Mapping) else action)
    except ValidationError as error:
        raise CommandError(f"this is not an action:\n{describe_problems(error)}") from None
    return Decision(status="continue", action=parsed)
