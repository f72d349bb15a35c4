"""Home of a fanned-out run: answers what its workers ask, so that one process alone pays, limits and
remembers.

Replies of models come from the run's own ledger, within its budget and its limits; verified subtasks and
applications are those that the run works with. A worker therefore needs no key, no ledger and no warehouse,
and nothing of theirs is left locked or half written when it is killed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar, cast

from pydantic import BaseModel

from taskloom.flows.fan_out.errors import RunUnreachableError
from taskloom.flows.fan_out.frames import Frames, portable
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import Run
from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.applications import Application
from taskloom.resources.reading.translation import WorldlyApplications
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask

_LOG = logging.getLogger(__name__)
R = TypeVar("R", bound=BaseModel)
_CONNECTING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class HomeAddress:
    """Where a run answers, and the secret by which it knows its workers."""

    host: str
    port: int
    secret: bytes = field(repr=False)
    """Signs everything that is said."""
    player: str = ""
    """Agent whose model is asked; empty for the players of the roles."""

    async def _asked(self, *request: object) -> object:
        try:
            async with asyncio.timeout(_CONNECTING_SECONDS):
                reader, writer = await asyncio.open_connection(self.host, self.port)
            try:
                frames = await Frames.called(reader, writer, self.secret)
                await frames.send(request)
                answer = await frames.receive()
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError) as error:
            raise RunUnreachableError(
                f"the run at {self.host}:{self.port} does not answer ({type(error).__name__}); if it still"
                " runs, set fan_out.host to an address of its machine that workers can reach"
            ) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        """The reply of whoever plays the question's role in the run, as if asked there.

        Raises:
            ModelClientError: as raised there.
            RunUnreachableError: the run does not answer.
        """
        return cast(R, await self._asked("ask", question, stage, item_id, attempt, self.player))

    async def settings(self) -> tuple[str, Settings]:
        """Id and settings of the run."""
        return cast(tuple[str, Settings], await self._asked("settings"))

    async def applications(self) -> WorldlyApplications:
        """The applications as the run knows them now."""
        return cast(WorldlyApplications, await self._asked("applications"))

    async def subtasks(self, names: Iterable[str]) -> Mapping[str, VerifiedSubtask]:
        """Verified subtasks by id.

        Raises:
            CommandError: one is not verified.
        """
        return cast(Mapping[str, VerifiedSubtask], await self._asked("subtasks", tuple(names)))


@dataclass(slots=True)
class Home:
    """Answers the workers of one run."""

    run: Run
    subtasks: Callable[[Sequence[str]], Awaitable[Mapping[str, VerifiedSubtask]]]
    edition: int = 0
    """Number of the present state of its applications, to which exploration adds what it finds."""
    _known: tuple[Application, ...] = ()

    def current_edition(self) -> int:
        """The number of the state that the applications have now."""
        now = tuple(self.run.applications.values())
        if len(now) != len(self._known) or any(a is not b for a, b in zip(now, self._known, strict=True)):
            self._known = now
            self.edition += 1
        return self.edition

    @asynccontextmanager
    async def answering(self, host: str) -> AsyncIterator[HomeAddress]:
        """Answer at `host`, on a port that is free, until the block ends.

        Raises:
            RunUnreachableError: this machine has no such address.
        """
        secret = secrets.token_bytes(32)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            leaving = (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, RunUnreachableError)
            with suppress(*leaving):  # a cancelled answer would be reported as a fault in a callback
                frames = await Frames.accepted(reader, writer, secret)
                await frames.send(await self._answer(await frames.receive()))
            writer.close()

        try:
            server = await asyncio.start_server(answer, host, 0)
        except OSError as error:
            raise RunUnreachableError(
                f"fan_out.host is {host}, at which this machine cannot be reached"
                f" ({error.strerror or error}); name one of its own addresses"
            ) from None
        try:
            yield HomeAddress(host, server.sockets[0].getsockname()[1], secret)
        finally:
            server.close()

    async def _answer(self, request: object) -> object:
        try:
            match request:
                case ("ask", PromptInput() as question, str(stage), str(item_id), int(attempt), str(player)):
                    models = self.run.player(player)
                    return await models.ask(question, stage=stage, item_id=item_id, attempt=attempt)
                case ("settings",):
                    return self.run.run_id, self.run.settings
                case ("applications",):
                    return self.run.applications
                case ("subtasks", tuple() as names):
                    return await self.subtasks(cast(Sequence[str], names))
            raise RunUnreachableError(f"a worker asked what this version does not know: {request!r:.200}")
        except Exception as error:
            return portable(error)
