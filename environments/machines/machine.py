"""The port of machines: where an environment's applications run.

A machine is one desktop with a small server in it. It is started clean, thrown away at a reset, and reached
through one connection; nothing else of it is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Document = dict[str, Any]
"""A message to or from the server of a machine, as JSON."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a command."""

    code: int
    """Exit code; 124 where it took too long, 127 where there is no such program."""
    output: str
    """What it printed."""
    errors: str
    """What it printed to standard error."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server of a machine answered."""

    document: Document
    """The answer."""
    content: bytes = b""
    """A picture or archive that belongs to it."""


class Machine(Protocol):
    """One machine. What goes wrong in it raises EnvironmentBrokenError, which is transient."""

    async def start(self) -> None:
        """Start it clean and wait until its server answers.

        Raises:
            MachineUnavailableError: no machine can be started here; the message says what to do.
            EnvironmentBrokenError: this one did not come up.
        """
        ...

    async def reset(self) -> None:
        """Throw away everything that happened in it, and start it again."""
        ...

    async def run(self, command: Sequence[str], *, seconds: float = 60) -> Finished:
        """Run a command in it as its user."""
        ...

    async def read(self, path: str) -> bytes:
        """The content of a file in it.

        Raises:
            FileNotFoundError: there is none that its user can read.
        """
        ...

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        """Write files below the home of its user; None stands for a folder."""
        ...

    async def forward(self, port: int) -> int:
        """A port of this machine that leads to a port of its loopback."""
        ...

    async def request(self, name: str, document: Document | None = None) -> Reply:
        """Ask the server in it.

        Raises:
            RequestRefusedError: it cannot do that; the message says why.
        """
        ...

    async def stop(self) -> None:
        """End everything that runs in it and remove what is left of it. May be called twice."""
        ...


MachineMaker = Callable[[Path], Machine]
"""Makes a machine that is not started yet; what it needs on this host is below the given folder."""
