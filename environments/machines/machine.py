"""Machines, where the applications of an environment run: containers of podman or docker. A machine is a
desktop with a small server in it, started clean, thrown away after use, and reached through one
connection."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskloom.environments.errors import EnvironmentBrokenError, MachineUnavailableError
from taskloom.environments.machines.engine import Engine, new_name
from taskloom.environments.machines.server_client import Document, Reply, ServerClient

_START_SECONDS = 60.0
_POLL_SECONDS = 0.03
_FULL = "no space left"


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a command."""

    code: int
    """Exit code; 124 where it took too long, 127 where there is no such program."""
    output: str
    """What it printed."""
    errors: str
    """What it printed to standard error."""


class Machine:
    """One machine. What goes wrong in it raises EnvironmentBrokenError, which is transient."""

    def __init__(
        self, engine: Engine, image: str, folder: Path, screen_size: tuple[int, int], memory: str
    ) -> None:
        """A container of `image` that is not started yet; its socket will be below `folder`."""
        self._engine = engine
        self._image = image
        self._parent = folder
        self._screen = "{}x{}".format(*screen_size)
        self._memory = memory
        self._name = ""
        self._client: ServerClient | None = None

    async def start(self) -> None:
        """Start it clean and wait until its server answers.

        Raises:
            MachineUnavailableError: no machine can be started here; the message says what to do.
            EnvironmentBrokenError: this one did not come up.
        """
        self._name = new_name()
        folder = self._parent / self._name.rpartition("-")[2]
        folder.mkdir(mode=0o755, parents=True)
        try:
            await asyncio.to_thread(
                self._engine.start,
                self._image,
                folder,
                {"SCREEN": self._screen},
                memory=self._memory,
                name=self._name,
            )
            await asyncio.to_thread(self._wait, folder)
        except BaseException as error:
            await asyncio.to_thread(self._engine.kill, self._name)
            if isinstance(error, MachineUnavailableError) and _FULL in str(error).casefold():
                raise MachineUnavailableError(
                    "No desktop can be started: the disk is full. Free some space (podman system df shows"
                    " what images and containers take) and try again."
                ) from error
            raise

    async def run(self, command: Sequence[str], *, seconds: float = 60) -> Finished:
        """Run a command in it as its user."""
        told = (await self.request("run", {"command": list(command), "seconds": seconds})).document
        return Finished(told["code"], told["output"], told["errors"])

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of its user; None stands for a folder."""
        await self._server().write(files)

    async def forward(self, port: int) -> int:
        """A port of this host that leads to a port of its loopback."""
        return await self._server().forward(port)

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask the server in it.

        Raises:
            RequestRefusedError: it cannot do that; the message says why.
        """
        return await self._server().request(name, document)

    async def stop(self) -> None:
        """End everything that runs in it and remove what is left of it. May be called twice."""
        client, self._client = self._client, None
        name, self._name = self._name, ""
        if client is not None:
            await client.close()
        if name:
            await asyncio.to_thread(self._engine.kill, name)

    def _server(self) -> ServerClient:
        if self._client is None:
            raise EnvironmentBrokenError("The machine is not running.")
        return self._client

    def _wait(self, folder: Path) -> None:
        path = folder / "server.sock"
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if path.exists():
                client = ServerClient(path)
                try:
                    client.hold()
                    client.ask("ready", b"")
                except (OSError, EnvironmentBrokenError):
                    client.hang_up()
                else:
                    self._client = client
                    return
            time.sleep(_POLL_SECONDS)
        log = folder / "server.log"
        said = log.read_text(errors="replace")[-400:].strip() if log.exists() else "nothing"
        raise EnvironmentBrokenError(
            f"The server in the machine did not answer within {_START_SECONDS:.0f} seconds; it said: {said}"
        )


MachineMaker = Callable[[Path], Machine]
"""Makes a machine that is not started yet; what it needs on this host is below the given folder."""
