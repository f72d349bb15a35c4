"""Home of a fanned-out run: answers what its workers ask, so that one process alone pays, limits and
remembers, and a worker needs no key, no ledger and no warehouse.

They talk in frames over TCP, signed with the secret of the run; nothing else is unpickled, or read beyond a
few bytes. Frames are not encrypted: machines that share a run share a private network.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import pickle
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar, cast

from pydantic import BaseModel

from taskloom.flows.errors import CommandError
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import KnownSubtasks, Run
from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.applications import Application
from taskloom.resources.errors import ExitCode, TaskloomError
from taskloom.resources.reading.translation import WorldlyApplications
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask

_NONCE = 32
_SIGNATURE = 32
_LENGTH = 8
_LARGEST = 1 << 30
_HELLO = b"taskloom"
_CONNECTING_SECONDS = 30.0
R = TypeVar("R", bound=BaseModel)


class RunUnreachableError(TaskloomError):
    """A worker cannot reach the run that it works for."""

    transient = True


@dataclass(slots=True)
class Frames:
    """One connection between two processes that know the same secret."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    key: bytes
    """Signs the frames of this connection."""

    @classmethod
    async def accepted(
        cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes
    ) -> Frames:
        """The side that is called.

        Raises:
            RunUnreachableError: the caller does not know the secret.
        """
        nonce = secrets.token_bytes(_NONCE)
        writer.write(nonce)
        frames = cls(reader, writer, _signature(secret, nonce))
        if await frames._received(len(_HELLO)) != _HELLO:
            raise RunUnreachableError("a caller did not greet as workers do")
        return frames

    @classmethod
    async def called(
        cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes
    ) -> Frames:
        """The side that calls."""
        nonce = await reader.readexactly(_NONCE)
        frames = cls(reader, writer, _signature(secret, nonce))
        frames._send(_HELLO)
        return frames

    async def send(self, value: object) -> None:
        """Send one value."""
        self._send(pickle.dumps(value))
        await self.writer.drain()

    async def receive(self) -> object:
        """The next value.

        Raises:
            RunUnreachableError: a frame is not signed with the secret, or too large.
        """
        return pickle.loads(await self._received(_LARGEST))  # noqa: S301 - signed by a process of this run

    def _send(self, content: bytes) -> None:
        self.writer.write(len(content).to_bytes(_LENGTH) + _signature(self.key, content) + content)

    async def _received(self, largest: int) -> bytes:
        length = int.from_bytes(await self.reader.readexactly(_LENGTH))
        if length > largest:
            raise RunUnreachableError(f"a frame of {length} bytes is larger than {largest}")
        signature = await self.reader.readexactly(_SIGNATURE)
        content = await self.reader.readexactly(length)
        if not hmac.compare_digest(signature, _signature(self.key, content)):
            raise RunUnreachableError("a frame is not signed with the secret of the run")
        return content


def portable(error: Exception) -> Exception:
    """The error as it can travel: itself if it can be rebuilt from a pickle, otherwise its message."""
    with suppress(Exception):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - just made here
        if type(again) is type(error) and str(again) == str(error):
            return error
    carried = CommandError(f"{type(error).__name__}: {error}", ExitCode.NEGATIVE_ANSWER)
    if isinstance(error, TaskloomError):
        carried.transient, carried.exit_code, carried.hint = error.transient, error.exit_code, error.hint
    return carried


def _signature(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


@dataclass(frozen=True, slots=True)
class HomeAddress:
    """Where a run answers, and the secret by which it knows its workers."""

    host: str
    port: int
    secret: bytes = field(repr=False)
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
    subtasks: KnownSubtasks
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
