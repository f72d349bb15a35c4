"""Performing a recorded trajectory again, each action grounded anew on the live controls (method section
8)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from taskloom.environments.agent import Agent
from taskloom.environments.agents.recorded_agent import RecordedAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import Recording, record_steps
from taskloom.synthesis.trajectories.slips import MOST_SLIP_STEPS, SlippingAgent
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep


async def perform_again(
    environment: Environment,
    trajectory: Trajectory,
    observation: Observation,
    *,
    history: Sequence[TrajectoryStep] = (),
    slips: Random | None = None,
) -> Recording:
    """Do the steps of `trajectory` from `observation` on, without a reset; steps are numbered on from
    `history`.

    `slips` chooses where the player makes a harmless mistake and takes it back; by default it makes none.
    """
    recorded = RecordedAgent(trajectory)
    agent: Agent = recorded
    if slips is not None:
        agent = SlippingAgent(recorded, slips, await environment.evidence())
    return await record_steps(
        environment,
        agent,
        trajectory.instruction,
        observation,
        step_limit=recorded.step_limit + MOST_SLIP_STEPS,
        history=history,
    )
