"""Performances of one subtask until enough of them agree: the trajectories' side of cross-verification."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.evaluators_api.state.essential import is_unsure
from taskloom.resources.applications import Application
from taskloom.resources.reading.translation import applications_in
from taskloom.synthesis.cross_verification.agreement import Result, agreeing, by_instance, difference, results
from taskloom.synthesis.cross_verification.verification_pool import VerificationPool
from taskloom.synthesis.ports import Environments, Models
from taskloom.synthesis.trajectories.generalisation import performed_with
from taskloom.synthesis.trajectories.settled_ends import ask_to_settle, doubt, unsettled
from taskloom.synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskloom.synthesis.trajectories.trajectories import Picture, TrajectorySettings, perform_subtask
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_QUORUM = 2
_MOST_GIVEN_UP = 2
"""After this many performances that gave up or did not end, and none that finished, no more are tried."""
_GIVEN_UP = frozenset({"gave_up", "step_limit"})
_MOST_UNUSABLE = 2
"""How often an instance is tried while replies are unusable; the second time, the model is told why."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """What one performance needs, the same for all subtasks."""

    models: Models
    environments: Environments
    applications: Mapping[str, Application]
    settings: TrajectorySettings
    picture: Picture
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class TriedBefore:
    """How often earlier runs tried what is tried again, so that models are not asked the same again."""

    performances: Mapping[str, int] = field(default_factory=dict)
    functions: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Stage(Scene):
    """What verification needs to perform subtasks that build on each other."""

    pool: VerificationPool
    delegate: Callable[[Performance], Awaitable[Trajectory]] | None = None
    """Performs in another process; None if all is performed in this one."""
    tried: TriedBefore = TriedBefore()
    """What earlier runs tried of the subtasks that are tried again."""


@dataclass(frozen=True, slots=True)
class Performance:
    """One requested performance."""

    instance: BoundSubtask
    setup: SetupTrajectory
    attempt: int
    """Its number among the performances of the instance."""
    feedback: tuple[str, ...]
    another_way: bool
    original: Trajectory | None = None
    """A trajectory to repeat exactly, without asking a model."""

    async def do(self, stage: Scene) -> Trajectory:
        """Perform it in the scene `stage`."""
        return await perform_subtask(
            self.instance,
            applications_in(stage.applications, self.instance.world),
            models=stage.models,
            environments=stage.environments,
            settings=stage.settings,
            setup=self.setup,
            attempt=self.attempt,
            feedback=self.feedback,
            another_way=self.another_way,
            original=self.original,
            picture=stage.picture,
            provenance=stage.provenance,
        )


@dataclass(slots=True)
class Performances:
    """All performances of a subtask so far."""

    stage: Stage
    recorded: list[Trajectory] = field(default_factory=list)
    """Every trajectory, in the order in which they started."""
    discarded: set[str] = field(default_factory=set)
    """Ids of those that no longer count."""
    attempts: Counter[str] = field(default_factory=Counter)
    feedback: dict[str, list[str]] = field(default_factory=dict)
    doubted: bool = False
    """Whether performances that agreed have been doubted, which happens only once."""
    _compared: tuple[tuple[str, ...], dict[str, Result]] = ((), {})
    """Ids of the usable performances compared last, and their results."""

    @property
    def usable(self) -> list[Trajectory]:
        """Performances that claimed success, ended settled, and have not been discarded."""
        return [
            item
            for item in self.recorded
            if item.termination == "finished" and item.steps and item.trajectory_id not in self.discarded
        ]

    def _results(self) -> Mapping[str, Result]:
        ids = tuple(item.trajectory_id for item in self.usable)
        if ids != self._compared[0]:
            self._compared = (ids, results(self.usable))
        return self._compared[1]

    def agreeing_with(self, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Further usable performances that agree with `trajectories`."""
        found = self._results()
        wanted = {found[item.trajectory_id] for item in trajectories if item.trajectory_id in found}
        return [
            item for item in self.usable if item not in trajectories and found[item.trajectory_id] in wanted
        ]

    @property
    def reasons_to_stop(self) -> tuple[str, ...]:
        """Unique reasons why further performances are not worth their cost; empty if they are.

        The actor gave up or ran out of steps often enough and never finished; or the state at the start lacks
        what the subtask reads; or each set of parameters leads to the same result whenever it is performed,
        but different sets lead to different ones. Unusable replies say nothing about the subtask.
        """
        counted = [item for item in self.recorded if item.trajectory_id not in self.discarded]
        missing = [item.message for item in counted if item.termination == "invalid_start"]
        if missing:
            return tuple(dict.fromkeys(f"at the start {message}" for message in missing))
        conflict = self._conflict()
        if conflict:
            return (f"each set of parameters leads to its own result, whenever it is performed: {conflict}",)
        reasons = [item.message for item in counted if item.termination in _GIVEN_UP and item.message]
        if len(reasons) < _MOST_GIVEN_UP or any(item.termination == "finished" for item in counted):
            return ()
        return tuple(dict.fromkeys(reasons))

    def _conflict(self) -> str:
        """How the results of parameter sets differ if each set alone is stable; otherwise empty."""
        stable = self._stable_instances()
        counted = {item.instance_id for item in self.recorded if item.trajectory_id not in self.discarded}
        return difference(self.usable, self._results()) if len(stable) > 1 and stable == counted else ""

    def _unusable_count(self, instance: BoundSubtask) -> int:
        ends = [(item.instance_id, item.termination) for item in self.recorded]
        return ends.count((instance.instance_id, "model_error"))

    def _stable_instances(self) -> set[str]:
        """Instances whose usable performances, at least two, all have the same result."""
        found = self._results()
        groups = by_instance(self.usable, (found[item.trajectory_id] for item in self.usable))
        return {name for name, group in groups.items() if len(group) >= _QUORUM and len(set(group)) == 1}

    @property
    def none_started(self) -> bool:
        """Whether no performance says anything about the subtask: no valid start, or a failed environment."""
        ends = {item.termination for item in self.recorded}
        return bool(ends) and ends <= {"invalid_start", "environment_error"}

    def discard(self, trajectories: list[Trajectory], message: str = "") -> None:
        """Discard `trajectories`, and tell the actor why if there is a `message`."""
        for item in trajectories:
            self.discarded.add(item.trajectory_id)
            if message:
                self.feedback.setdefault(item.instance_id, []).append(message)

    async def agreed(
        self, instances: list[BoundSubtask], setups: Mapping[str, SetupTrajectory], most_attempts: int
    ) -> list[Trajectory]:
        """One trajectory per instance, all in agreement, performing as often as needed; else an empty list.

        A single instance is performed twice: agreement takes two. Performances that agree but all omit a
        control that the instruction ends with are doubted once, and performed again. If one of them took
        another route in another world, its instance is also performed the usual way, and a trajectory that
        agrees comes last: only two trajectories of one route show how other instances are performed. If it is
        unclear which values are essential, the first one is repeated exactly. What these performances show
        may contradict the agreement.
        """
        while True:
            group = agreeing(self.usable, _QUORUM, self._results())
            chosen = {item.instance_id: item for item in reversed(group)}
            missing = [item for item in instances if item.instance_id not in chosen]
            if group and not missing:
                agreed = [chosen[item.instance_id] for item in instances]
                if not self._doubts(agreed, most_attempts):
                    repeated = await self._repeat_first(agreed, instances, setups, most_attempts)
                    usual = await self._usual_way(agreed, instances, setups, most_attempts)
                    if len({self._results()[item.trajectory_id] for item in agreed}) == 1:
                        return [*agreed, *repeated, *usual]
                    continue
                missing = instances
            wanted = missing if group else self._to_compare(instances)
            stable = self._stable_instances()
            wanted = [
                item
                for item in wanted
                if self.attempts[item.instance_id] < most_attempts
                and item.instance_id not in stable
                and (self.usable or self._unusable_count(item) < _MOST_UNUSABLE)
            ]
            if not wanted or self.reasons_to_stop:
                return []
            ways = [(item, self._goes_another_way(item, instances)) for item in wanted]
            performing = (self._perform(item, setups, another_way=second) for item, second in ways)
            self.recorded += await asyncio.gather(*performing)

    async def _repeat_first(
        self,
        agreed: Sequence[Trajectory],
        instances: Sequence[BoundSubtask],
        setups: Mapping[str, SetupTrajectory],
        most_attempts: int,
    ) -> list[Trajectory]:
        """Another performance with the parameters of the first, if only that shows which values are
        essential: an existing one, or the first one repeated."""
        first = agreed[0]
        if not is_unsure(agreed):
            return []
        performed = [item for item in self.usable if item.instance_id == first.instance_id]
        if len(performed) == 1 and self.attempts[first.instance_id] < most_attempts:
            self.recorded.append(await self._perform(instances[0], setups, original=first))
        matching = self.agreeing_with([first])
        return [item for item in matching if item.instance_id == first.instance_id][:1]

    async def _usual_way(
        self,
        agreed: Sequence[Trajectory],
        instances: Sequence[BoundSubtask],
        setups: Mapping[str, SetupTrajectory],
        most_attempts: int,
    ) -> list[Trajectory]:
        """The second instance performed the usual way, if it took another route and more worlds follow."""
        if len({item.world for item in instances}) < 2 or not self.stage.settings.another_way:
            return []
        second = instances[1]
        known = [item for item in self.usable if item.instance_id == second.instance_id]
        if performed_with([agreed[0], *known], instances[0]) is None:
            if self.attempts[second.instance_id] >= most_attempts:
                return []
            self.recorded.append(await self._perform(second, setups))
        return [
            item
            for item in self.agreeing_with(agreed[:1])
            if item.instance_id == second.instance_id
            and item is not agreed[1]
            and performed_with([agreed[0], item], instances[0]) is not None
        ][:1]

    def _doubts(self, agreed: list[Trajectory], most_attempts: int) -> bool:
        """Whether to discard performances that agree, once, because all of them overlooked a control."""
        if self.doubted or any(most_attempts - self.attempts[item.instance_id] < _QUORUM for item in agreed):
            return False
        message = doubt(agreed)
        if message:
            self.doubted = True
            self.discard(agreed, message)
        return bool(message)

    def _to_compare(self, instances: list[BoundSubtask]) -> list[BoundSubtask]:
        """The instances without a usable performance, or all of them if the performances do not agree."""
        done = {item.instance_id for item in self.usable}
        return [item for item in instances if item.instance_id not in done] or instances

    def _goes_another_way(self, instance: BoundSubtask, instances: list[BoundSubtask]) -> bool:
        """Whether the next performance of `instance` is the subtask's second one, which may take another
        route.

        If that fails or leads to another result, later performances take the usual route again.
        """
        if not self.stage.settings.another_way:
            return False
        number = self.attempts[instance.instance_id]
        if len(instances) > 1:
            return number == 0 and instance == instances[1]
        return number == 1 and bool(self.usable)

    async def _perform(
        self,
        instance: BoundSubtask,
        setups: Mapping[str, SetupTrajectory],
        *,
        another_way: bool = False,
        original: Trajectory | None = None,
    ) -> Trajectory:
        stage, name = self.stage, instance.instance_id
        attempt = self.attempts[name] + stage.tried.performances.get(name, 0)
        self.attempts[name] += 1
        feedback = tuple(self.feedback.get(name, ()))
        wanted = Performance(instance, setups[name], attempt, feedback, another_way, original)
        trajectory = await (stage.delegate(wanted) if stage.delegate else wanted.do(stage))
        if trajectory.termination != "finished":
            message = f"ended with {trajectory.termination}: {trajectory.message}"
            self.feedback.setdefault(name, []).append(message)
        elif left_open := unsettled(trajectory):
            self.discard([trajectory], ask_to_settle(left_open))
        else:
            await stage.pool.record(trajectory)
        return trajectory

    def explain(self) -> str:
        """Why the performances do not agree, in one sentence."""
        ends = Counter(item.termination for item in self.recorded)
        messages = list(dict.fromkeys(item.message for item in self.recorded if item.message))
        summary = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
        conflict = difference([item for item in self.recorded if item.termination == "finished"])
        reasons = [*messages[:3], *([conflict] if conflict else [])]
        problem = "its sets of parameters disagree" if self._conflict() else "no two performances agree"
        if self.none_started:
            problem = "no performance had a valid start"
        return f"{problem} ({summary}){': ' if reasons else ''}{'; '.join(reasons)}"
