"""Bringing an environment into the state a subtask starts from, when a reset does not provide its inputs.

Other subtasks that make them are performed first, from their verified trajectories.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.machines.sandbox import is_left_out
from taskloom.environments.starting_place import go_to_starting_place, needs_open_page
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource, provides
from taskloom.synthesis.trajectories.reperformance import perform_again
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Observation
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class SetupTrajectory:
    """What is performed before a subtask."""

    performed: tuple[tuple[BoundSubtask, Trajectory], ...] = ()
    """Verified instances with their trajectories, in order of performance."""

    @property
    def applications(self) -> tuple[str, ...]:
        """Applications it needs, each once."""
        return tuple(dict.fromkeys(instance.application for instance, _ in self.performed))


def made_files(instances: Sequence[BoundSubtask]) -> frozenset[str]:
    """Paths that `instances` write without reading them first: a run starts without these fixtures."""
    paths: set[str] = set()
    for instance in instances:
        read = {item.value for item in instance.inputs if item.kind is ResourceKind.FILE}
        paths |= {item.value for item in instance.outputs if item.kind is ResourceKind.FILE} - read
    return frozenset(paths)


def fixtures_laid(applications: Iterable[Application], without: Collection[str] = ()) -> dict[str, str]:
    """Hashes of the text files that a reset writes, by path, except those in `without` and below them."""
    hashes: dict[str, str] = {}
    for application in applications:
        for fixture in application.fixtures:
            if fixture.content and not is_left_out(fixture.value, without):
                content = content_of(fixture.content, application)
                if _is_text(content):
                    hashes[fixture.value] = hashlib.sha256(content).hexdigest()
    return hashes


def _is_text(content: bytes) -> bool:
    try:
        return b"\0" not in content and bool(content.decode())
    except UnicodeDecodeError:
        return False


class PreparedEnvironment:
    """An environment whose reset also performs a setup trajectory, of which its evidence holds no trace.

    Satisfies `taskloom.environments.environment.Environment`. Steps and inputs are counted from the end of
    the setup trajectory.
    """

    def __init__(
        self,
        environment: Environment,
        setup: SetupTrajectory,
        applications: Sequence[Application],
        *,
        first_page: bool = True,
    ) -> None:
        """Perform `setup` after each reset; `applications` are those it needs.

        Afterwards the subtask's application is taken to its first page, unless `first_page` is off because
        the subtask reads what the setup trajectory left open.
        """
        self.platform = environment.platform
        self.simulated = environment.simulated
        self._environment = environment
        self._setup = setup
        self._applications = applications
        self._first_page = first_page
        self._steps = 0
        self._inputs = 0
        self._titles: dict[str, str] = {}

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Reset, perform the setup trajectory and go to the first page of the first of `applications`.

        Raises:
            EnvironmentBrokenError: the setup trajectory could not be performed again.
            EnvironmentFailureError: as the environment's own reset.
        """
        names = {application.name for application in applications}
        extra = [application for application in self._applications if application.name not in names]
        self._steps = self._inputs = 0
        self._titles = {item.name: item.title for item in (*applications, *extra)}
        observation = await self._environment.reset([*applications, *extra], without=without)
        used: set[str] = set()
        for instance, trajectory in self._setup.performed:
            name = instance.application
            first_page = name in used and not needs_open_page(instance)
            observation = await self._go(name, observation, first_page=first_page)
            used.add(name)
            recording = await perform_again(self._environment, trajectory, observation)
            if recording.termination != "finished":
                raise EnvironmentBrokenError(
                    f"preparing with {instance.instance_id} failed: {recording.termination}:"
                    f" {recording.message}"
                )
            observation = recording.observation
        if self._setup.performed:
            name = applications[0].name
            observation = await self._go(name, observation, first_page=self._first_page and name in used)
            evidence = await self._environment.evidence()
            self._steps, self._inputs = evidence.step, len(evidence.inputs)
        return observation

    async def _go(self, application: str, observation: Observation, *, first_page: bool) -> Observation:
        recording = await go_to_starting_place(
            self._environment, application, self._titles[application], observation, first_page=first_page
        )
        if recording.termination != "finished":
            raise EnvironmentBrokenError(
                f"going to {self._titles[application]} failed: {recording.termination}: {recording.message}"
            )
        return recording.observation

    async def observe(self) -> Observation:
        """The screen now."""
        return await self._environment.observe()

    async def act(self, action: Action) -> Observation:
        """Carry out `action`."""
        return await self._environment.act(action)

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application in front."""
        return await self._environment.bring_to_front(application)

    async def evidence(self) -> Evidence:
        """The evidence since the end of the setup trajectory."""
        return since(await self._environment.evidence(), self._steps, self._inputs)

    async def rest(self) -> None:
        """Stop what the last reset started."""
        await self._environment.rest()

    async def close(self) -> None:
        """Close the environment."""
        await self._environment.close()


def since(evidence: Evidence, steps: int, inputs: int) -> Evidence:
    """The same state, without the first `steps` and `inputs`, and with those that follow counted anew."""
    if not steps and not inputs:
        return evidence
    kept = tuple(event.model_copy(update={"step": event.step - steps}) for event in evidence.inputs[inputs:])
    return evidence.model_copy(update={"step": evidence.step - steps, "inputs": kept})


def first_needs(nodes: Sequence[BoundSubtask]) -> list[Resource]:
    """What must exist at the start: everything that some of `nodes` read and none of them provides."""
    provided = [output for node in nodes for output in node.outputs]
    return [
        needed
        for node in nodes
        for needed in node.inputs
        if not any(provides(output, needed) for output in provided)
    ]
