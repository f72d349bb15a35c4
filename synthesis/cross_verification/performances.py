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
"""After so many performances that gave up or did not end, and none that finished, no more are tried."""
_GIVEN_UP = frozenset({"gave_up", "step_limit"})
_MOST_UNUSABLE = 2
"""How often one instance is tried while no reply can be used: the second time the model is told why."""


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
    """How often earlier runs tried what is tried again, so that nobody is asked what was answered already."""

    performances: Mapping[str, int] = field(default_factory=dict)
    functions: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Stage(Scene):
    """What verification needs to perform subtasks that build on each other."""

    pool: VerificationPool
    elsewhere: Callable[[Performance], Awaitable[Trajectory]] | None = None
    """Has a performance done in another process; None where all are done here."""
    tried: TriedBefore = TriedBefore()
    """What earlier runs tried of the subtasks that are tried again."""


@dataclass(frozen=True, slots=True)
class Performance:
    """One performance that is wanted."""

    instance: BoundSubtask
    setup: SetupTrajectory
    attempt: int
    """Its number among the performances of the instance."""
    feedback: tuple[str, ...]
    another_way: bool
    again: Trajectory | None = None
    """What is done once more, exactly; no model is asked."""

    async def do(self, stage: Scene) -> Trajectory:
        """Perform it with what `stage` has."""
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
            again=self.again,
            picture=stage.picture,
            provenance=stage.provenance,
        )


@dataclass(slots=True)
class Performances:
    """All performances of a subtask so far."""

    stage: Stage
    recorded: list[Trajectory] = field(default_factory=list)
    """Every trajectory, in the order of their starts."""
    discarded: set[str] = field(default_factory=set)
    """Ids of those that no longer count."""
    attempts: Counter[str] = field(default_factory=Counter)
    feedback: dict[str, list[str]] = field(default_factory=dict)
    doubted: bool = False
    """Whether performances that agreed were doubted already, which happens once."""
    _compared: tuple[tuple[str, ...], dict[str, Result]] = ((), {})
    """Ids of the usable performances that were compared last, and their results."""

    @property
    def usable(self) -> list[Trajectory]:
        """Performances that ended settled, claimed success, and have not been discarded."""
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

    def with_the_result_of(self, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Further usable performances that agree with `trajectories`."""
        found = self._results()
        wanted = {found[item.trajectory_id] for item in trajectories if item.trajectory_id in found}
        return [
            item for item in self.usable if item not in trajectories and found[item.trajectory_id] in wanted
        ]

    @property
    def hopeless(self) -> tuple[str, ...]:
        """Unique reasons why further performances are not worth their cost; empty if they are.

        The actor gave up or ran out of steps often enough and never finished, or the state at the start lacks
        what the subtask reads; or every set of parameters leads to the same result whenever it is performed,
        and the sets to different ones. That no answer could be used says nothing of the subtask.
        """
        counted = [item for item in self.recorded if item.trajectory_id not in self.discarded]
        invalid = [item.message for item in counted if item.termination == "invalid_start"]
        if invalid:
            return tuple(dict.fromkeys(f"at the start {message}" for message in invalid))
        apart = self._apart()
        if apart:
            return (f"each set of parameters leads to its own result, whenever it is performed: {apart}",)
        reasons = [item.message for item in counted if item.termination in _GIVEN_UP and item.message]
        if len(reasons) < _MOST_GIVEN_UP or any(item.termination == "finished" for item in counted):
            return ()
        return tuple(dict.fromkeys(reasons))

    def _apart(self) -> str:
        """How the results of sets of parameters differ that all agree with themselves; empty if not so."""
        settled = self._settled()
        counted = {item.instance_id for item in self.recorded if item.trajectory_id not in self.discarded}
        return difference(self.usable, self._results()) if len(settled) > 1 and settled == counted else ""

    def _unusable(self, instance: BoundSubtask) -> int:
        ends = [(item.instance_id, item.termination) for item in self.recorded]
        return ends.count((instance.instance_id, "model_error"))

    def _settled(self) -> set[str]:
        """Instances of which two performances, and all that are usable, have the same result."""
        found = self._results()
        each = by_instance(self.usable, (found[item.trajectory_id] for item in self.usable))
        return {name for name, same in each.items() if len(same) >= _QUORUM and len(set(same)) == 1}

    @property
    def none_began(self) -> bool:
        """Whether no performance says anything of the subtask: no valid start, or a failed environment."""
        ends = {item.termination for item in self.recorded}
        return bool(ends) and ends <= {"invalid_start", "environment_error"}

    def discard(self, trajectories: list[Trajectory], message: str = "") -> None:
        """Discard `trajectories`, and tell the actor why if `message` concerns it."""
        for item in trajectories:
            self.discarded.add(item.trajectory_id)
            if message:
                self.feedback.setdefault(item.instance_id, []).append(message)

    async def agreed(
        self, instances: list[BoundSubtask], setups: Mapping[str, SetupTrajectory], most_attempts: int
    ) -> list[Trajectory]:
        """One trajectory per instance that agree with each other, performing until there are; else an empty
        list.

        One instance alone is performed twice: agreement takes two. Performances that agree but all leave out
        a control that the instruction ends with are doubted once, and performed again. Where one of them went
        another way in another world, that instance is performed the usual way too, and a trajectory that
        agrees comes last: only two trajectories of one route tell how other instances are performed. Where it
        cannot be told which values are essential, the first one is done again, exactly. What these show may
        speak against the agreement.
        """
        while True:
            group = agreeing(self.usable, _QUORUM, self._results())
            chosen = {item.instance_id: item for item in reversed(group)}
            missing = [item for item in instances if item.instance_id not in chosen]
            if group and not missing:
                agreed = [chosen[item.instance_id] for item in instances]
                if not self._doubts(agreed, most_attempts):
                    again = await self._again(agreed, instances, setups, most_attempts)
                    usual = await self._usual_way(agreed, instances, setups, most_attempts)
                    if len({self._results()[item.trajectory_id] for item in agreed}) == 1:
                        return [*agreed, *again, *usual]
                    continue
                missing = instances
            wanted = missing if group else self._to_compare(instances)
            known = self._settled()
            wanted = [
                item
                for item in wanted
                if self.attempts[item.instance_id] < most_attempts
                and item.instance_id not in known
                and (self.usable or self._unusable(item) < _MOST_UNUSABLE)
            ]
            if not wanted or self.hopeless:
                return []
            ways = [(item, self._second(item, instances)) for item in wanted]
            performing = (self._perform(item, setups, another_way=second) for item, second in ways)
            self.recorded += await asyncio.gather(*performing)

    async def _again(
        self,
        agreed: Sequence[Trajectory],
        instances: Sequence[BoundSubtask],
        setups: Mapping[str, SetupTrajectory],
        most_attempts: int,
    ) -> list[Trajectory]:
        """Another performance with the parameters of the first, where only that tells which values are
        essential: one that there is, or the first one done once more."""
        first = agreed[0]
        if not is_unsure(agreed):
            return []
        performed = [item for item in self.usable if item.instance_id == first.instance_id]
        if len(performed) == 1 and self.attempts[first.instance_id] < most_attempts:
            self.recorded.append(await self._perform(instances[0], setups, again=first))
        alike = self.with_the_result_of([first])
        return [item for item in alike if item.instance_id == first.instance_id][:1]

    async def _usual_way(
        self,
        agreed: Sequence[Trajectory],
        instances: Sequence[BoundSubtask],
        setups: Mapping[str, SetupTrajectory],
        most_attempts: int,
    ) -> list[Trajectory]:
        """The second instance performed the usual way, if it went another one and further worlds follow."""
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
            for item in self.with_the_result_of(agreed[:1])
            if item.instance_id == second.instance_id
            and item is not agreed[1]
            and performed_with([agreed[0], item], instances[0]) is not None
        ][:1]

    def _doubts(self, agreed: list[Trajectory], most_attempts: int) -> bool:
        """Whether performances that agree are set aside, once, because all of them overlooked a control."""
        if self.doubted or any(most_attempts - self.attempts[item.instance_id] < _QUORUM for item in agreed):
            return False
        message = doubt(agreed)
        if message:
            self.doubted = True
            self.discard(agreed, message)
        return bool(message)

    def _to_compare(self, instances: list[BoundSubtask]) -> list[BoundSubtask]:
        """The instances without a usable performance, or all of them when those there are do not agree."""
        done = {item.instance_id for item in self.usable}
        return [item for item in instances if item.instance_id not in done] or instances

    def _second(self, instance: BoundSubtask, instances: list[BoundSubtask]) -> bool:
        """Whether the next performance of `instance` is the second one of the subtask, which may go another
        way.

        Where it does not succeed, or leads elsewhere, the performances after it go the usual way again.
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
        again: Trajectory | None = None,
    ) -> Trajectory:
        stage, name = self.stage, instance.instance_id
        attempt = self.attempts[name] + stage.tried.performances.get(name, 0)
        self.attempts[name] += 1
        told = tuple(self.feedback.get(name, ()))
        wanted = Performance(instance, setups[name], attempt, told, another_way, again)
        trajectory = await (stage.elsewhere(wanted) if stage.elsewhere else wanted.do(stage))
        if trajectory.termination != "finished":
            message = f"ended with {trajectory.termination}: {trajectory.message}"
            self.feedback.setdefault(name, []).append(message)
        elif open_now := unsettled(trajectory):
            self.discard([trajectory], ask_to_settle(open_now))
        else:
            await stage.pool.record(trajectory)
        return trajectory

    def explain(self) -> str:
        """Why the performances do not agree, in one sentence."""
        ends = Counter(item.termination for item in self.recorded)
        messages = list(dict.fromkeys(item.message for item in self.recorded if item.message))
        summary = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
        apart = difference([item for item in self.recorded if item.termination == "finished"])
        reasons = [*messages[:3], *([apart] if apart else [])]
        what = "its sets of parameters disagree" if self._apart() else "no two performances agree"
        if self.none_began:
            what = "no performance had a valid start"
        return f"{what} ({summary}){': ' if reasons else ''}{'; '.join(reasons)}"
