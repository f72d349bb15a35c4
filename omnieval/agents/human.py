"""A person who acts in the viewer: `taskloom view`, page Play. Also records demonstrations.

One attempt at a time waits for the person, until its time limit.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.errors import AgentError
from taskloom.omnieval.brief import AgentBrief
from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.records.agent_run import MOVE, TURN, Move, Turn, place_of
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.trajectory import TrajectoryStep

PERSON = True
"""Attempts are made one at a time, and a decision may take as long as an attempt."""
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Person:
    """Writes each turn to a folder and waits for the move. Satisfies `taskloom.environments.agent.Agent`."""

    brief: AgentBrief
    folder: Path
    """The folder of the attempt."""
    began: float = field(default_factory=time.time)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The person's decision."""
        last = history[-1] if history else None
        turn = Turn(
            token=secrets.token_hex(16),
            attempt_id=self.brief.attempt_id,
            began=self.began,
            instruction=instruction,
            question=self.brief.task.question,
            step=len(history) + 1,
            step_limit=self.brief.task.step_limit,
            window_title=observation.window_title,
            screen_size=observation.screen_size,
            problem=last.problem if last else "",
            told=last.told if last else "",
            can_ask=self.brief.task.can_ask,
        )
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            write_whole(self.folder / f"{turn.token}.png", observation.screenshot.png)
            write_whole(self.folder / TURN, turn.model_dump_json())
            return await self._wait_for_move()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _wait_for_move(self) -> Decision:
        while True:
            with contextlib.suppress(FileNotFoundError, ValidationError):
                move = Move.model_validate_json((self.folder / MOVE).read_bytes())
                return Decision.model_validate(move.model_dump())
            os.utime(self.folder / TURN)
            await asyncio.sleep(_POLL_SECONDS)


def create(brief: AgentBrief) -> Agent:
    """The agent; an `AgentError` if there is no folder in which attempts wait for a person."""
    if brief.people is None:
        raise AgentError("The agent `human` works only in attempts of `taskloom evaluate`.")
    return Person(brief, brief.people / place_of(brief.attempt_id))
