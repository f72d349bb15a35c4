"""The process of a fanned-out run answers its workers' requests, so that it alone pays, limits and remembers,
and a worker needs no key, ledger or warehouse.

Both sides exchange frames over TCP, signed with the secret of the run; nothing else is unpickled, or read
beyond a few bytes. Frames are not encrypted: machines that share a run share a private network.
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
    async def accept(
        cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes
    ) -> Frames:
        """The side that accepts the connection.

        Raises:
            RunUnreachableError: the caller does not know the secret.
        """
        nonce = secrets.token_bytes(_NONCE)
        writer.write(nonce)
        frames = cls(reader, writer, _signature(secret, nonce))
        if await frames._receive_frame(len(_HELLO)) != _HELLO:
            raise RunUnreachableError("a caller did not send the greeting of a worker")
        return frames

    @classmethod
    async def connect(
        cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes
    ) -> Frames:
        """The side that opens the connection."""
        nonce = await reader.readexactly(_NONCE)
        frames = cls(reader, writer, _signature(secret, nonce))
        frames._send_frame(_HELLO)
        return frames

    async def send(self, value: object) -> None:
        """Send one value."""
        self._send_frame(pickle.dumps(value))
        await self.writer.drain()

    async def receive(self) -> object:
        """The next value.

        Raises:
            RunUnreachableError: a frame is not signed with the secret, or too large.
        """
        return pickle.loads(await self._receive_frame(_LARGEST))  # noqa: S301 - signed by a process of this run

    def _send_frame(self, content: bytes) -> None:
        self.writer.write(len(content).to_bytes(_LENGTH) + _signature(self.key, content) + content)

    async def _receive_frame(self, largest: int) -> bytes:
        length = int.from_bytes(await self.reader.readexactly(_LENGTH))
        if length > largest:
            raise RunUnreachableError(f"a frame of {length} bytes is larger than {largest}")
        signature = await self.reader.readexactly(_SIGNATURE)
        content = await self.reader.readexactly(length)
        if not hmac.compare_digest(signature, _signature(self.key, content)):
            raise RunUnreachableError("a frame is not signed with the secret of the run")
        return content


def picklable(error: Exception) -> Exception:
    """`error` itself if it survives pickling, otherwise an error with its message."""
    with suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled here
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    carried = CommandError(f"{type(error).__name__}: {error}", ExitCode.NEGATIVE_ANSWER)
    if isinstance(error, TaskloomError):
        carried.transient, carried.exit_code, carried.hint = error.transient, error.exit_code, error.hint
    return carried


def _signature(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


@dataclass(frozen=True, slots=True)
class RunAddress:
    """The address of a run, and the secret that identifies its workers."""

    host: str
    port: int
    secret: bytes = field(repr=False)
    player: str = ""
    """Agent whose model is asked; empty for the models of the roles."""

    async def _request(self, *request: object) -> object:
        try:
            async with asyncio.timeout(_CONNECTING_SECONDS):
                reader, writer = await asyncio.open_connection(self.host, self.port)
            try:
                frames = await Frames.connect(reader, writer, self.secret)
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
        """The reply of the model, or rule, that plays the question's role in the run.

        Raises:
            ModelClientError: as raised in the run.
            RunUnreachableError: the run does not answer.
        """
        return cast(R, await self._request("ask", question, stage, item_id, attempt, self.player))

    async def settings(self) -> tuple[str, Settings]:
        """Id and settings of the run."""
        return cast(tuple[str, Settings], await self._request("settings"))

    async def applications(self) -> WorldlyApplications:
        """The applications as the run knows them now."""
        return cast(WorldlyApplications, await self._request("applications"))

    async def subtasks(self, names: Iterable[str]) -> Mapping[str, VerifiedSubtask]:
        """Verified subtasks by id.

        Raises:
            CommandError: one is not verified.
        """
        return cast(Mapping[str, VerifiedSubtask], await self._request("subtasks", tuple(names)))


@dataclass(slots=True)
class RunServer:
    """Answers the workers of one run."""

    run: Run
    subtasks: KnownSubtasks
    edition: int = 0
    """Version of its applications, which changes when exploration adds to them."""
    _known: tuple[Application, ...] = ()

    def current_edition(self) -> int:
        """The current version of the applications."""
        now = tuple(self.run.applications.values())
        if len(now) != len(self._known) or any(a is not b for a, b in zip(now, self._known, strict=True)):
            self._known = now
            self.edition += 1
        return self.edition

    @asynccontextmanager
    async def serve(self, host: str) -> AsyncIterator[RunAddress]:
        """Answer at `host`, on a free port, until the block ends.

        Raises:
            RunUnreachableError: this machine has no such address.
        """
        secret = secrets.token_bytes(32)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            lost = (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, RunUnreachableError)
            with suppress(*lost):  # a cancelled answer would be reported as a fault in a callback
                frames = await Frames.accept(reader, writer, secret)
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
            yield RunAddress(host, server.sockets[0].getsockname()[1], secret)
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
            raise RunUnreachableError(f"a worker sent an unknown request: {request!r:.200}")
        except Exception as error:
            return picklable(error)
