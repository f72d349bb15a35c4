"""Signed frames over TCP, by which the processes of a run talk.

What is signed with the secret of the run was sent by one of its processes; nothing else is unpickled, or read
beyond a few bytes. Frames are not encrypted: machines that share a run share a private network.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import pickle
import secrets
from dataclasses import dataclass

from taskloom.flows.fan_out.errors import CarriedError, RunUnreachableError
from taskloom.resources.errors import TaskloomError

_NONCE = 32
_SIGNATURE = 32
_LENGTH = 8
_LARGEST = 1 << 30
_HELLO = b"taskloom"


@dataclass(slots=True)
class Frames:
    """One connection between two processes that know the same secret."""

    reader: asyncio.StreamReader
    """What the other side sends."""
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
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - just made here
        if type(again) is type(error) and str(again) == str(error):
            return error
    except Exception:
        error.__notes__ = [*getattr(error, "__notes__", []), "rebuilt from its message"]
    carried = CarriedError(f"{type(error).__name__}: {error}")
    if isinstance(error, TaskloomError):
        carried.transient, carried.exit_code, carried.hint = error.transient, error.exit_code, error.hint
    return carried


def _signature(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()
