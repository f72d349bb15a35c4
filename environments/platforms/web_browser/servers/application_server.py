"""The server of an application, started here or already running, and the state that it reports."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from taskloom.environments.errors import ApplicationStartFailedError, ApplicationUnavailableError
from taskloom.environments.machines.bubblewrap import confined_command
from taskloom.environments.platforms.web_browser.servers.template_state import fill_placeholders, run_command
from taskloom.resources.applications import Application, ToldState

_POLL_SECONDS = 0.03
_PORT_FREE_SECONDS = 1.0
_PORT = b"{port}"
_NAMED_PORT = re.compile(
    r"(?:127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1?\]|\bport):? ?(\d{2,5})\b", re.IGNORECASE
)
_RELAY = files("taskloom.environments.platforms.web_browser.servers").joinpath("relay.py").read_text()


@dataclass(frozen=True)
class Confinement:
    """What a confined server may touch."""

    writable: Path
    """The sandbox: the only folder the server can change."""
    needed: tuple[Path, ...]
    """Folders that must stay visible even in the caller's home."""


class ApplicationServer:
    """One running server, in a process group of its own."""

    def __init__(
        self, application: Application, process: asyncio.subprocess.Process, port: int, log: Path
    ) -> None:
        self.application = application
        self.port = port
        self._process = process
        self._log = log
        self._processes_at_start: frozenset[int] = frozenset()

    @classmethod
    async def start(
        cls,
        application: Application,
        values: Mapping[str, str],
        environment: Mapping[str, str],
        log: Path,
        confinement: Confinement | None = None,
        port: int = 0,
    ) -> ApplicationServer:
        """Start the command on a loopback port, by default a free one, and wait until the port is open.

        `values` holds every placeholder except `port`. With a `confinement`, the server runs inside
        bubblewrap, in its own network that only this port leads into, and with the machine's files read-only.

        Raises:
            ApplicationUnavailableError: the command does not exist.
            ApplicationStartFailedError: it ended, or the port did not open in time; quotes its output.
        """
        try:
            listener = await _bind_socket(port)
        except OSError as error:
            raise ApplicationStartFailedError(
                f"{application.title} cannot use the port {port}: {error.strerror}"
            ) from error
        port = listener.getsockname()[1]
        if confinement is None:
            listener.close()
        filled = {**values, "port": str(port)}
        fill_port(Path(values["state"]), port)
        arguments = [fill_placeholders(argument, filled) for argument in application.launch.command]
        extra = {
            name: fill_placeholders(text, filled) for name, text in application.launch.environment.items()
        }
        inherited: tuple[int, ...] = ()
        if confinement is not None:
            inherited = (listener.fileno(),)
            arguments = _behind_relay(arguments, listener.fileno(), port, confinement)
        try:
            with log.open("wb") as output, listener:
                process = await asyncio.create_subprocess_exec(
                    *arguments,
                    cwd=values["state"],
                    env={**environment, **extra},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    pass_fds=inherited,
                )
        except OSError as error:
            raise ApplicationUnavailableError(f"{application.title} cannot be started: {error}") from error
        server = cls(application, process, port, log)
        try:
            await server._wait_until_open()
        except BaseException:
            await server.stop()
            raise
        if confinement is not None and application.launch.reads_files_anew:
            server._processes_at_start = await asyncio.to_thread(_process_tree, process.pid)
        return server

    @property
    def is_running(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    async def may_stay(self, application: Application, folders: Collection[Path]) -> bool:
        """Whether `folders` can be emptied and filled for `application` while the server runs.

        It must have been started the same way, its entry must allow it, and it must be idle, with no more
        processes than at its start. An unconfined one never stays: its processes could outlive it.
        """
        launched, wanted = self.application.launch, application.launch
        return (
            wanted.reads_files_anew
            and (launched.command, launched.environment) == (wanted.command, wanted.environment)
            and self.is_running
            and bool(self._processes_at_start)
            and await asyncio.to_thread(_is_idle, self._process.pid, self._processes_at_start, folders)
        )

    def printed(self) -> str:
        """The end of what the process printed."""
        try:
            return self._log.read_bytes()[-1200:].decode(errors="replace").strip()
        except OSError:
            return ""

    def _port_hint(self) -> str:
        named = {int(port) for port in _NAMED_PORT.findall(self.printed())} - {self.port}
        if not named:
            return ""
        return (
            f" (it was given port {self.port}, and its output names {', '.join(map(str, sorted(named)))}:"
            " does the command take {port} in the way that the server reads it?)"
        )

    async def stop(self) -> None:
        """Kill the process group and wait for its end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def _wait_until_open(self) -> None:
        limit = self.application.launch.start_timeout_seconds
        deadline = asyncio.get_running_loop().time() + limit
        while not await _is_open(self.port):
            if not self.is_running:
                raise ApplicationStartFailedError(
                    f"{self.application.title} ended with {self._process.returncode} before its port opened:"
                    f" {self.printed()}"
                )
            if asyncio.get_running_loop().time() > deadline:
                raise ApplicationStartFailedError(
                    f"{self.application.title} did not open its port within {limit:g} s{self._port_hint()}:"
                    f" {self.printed()}"
                )
            await asyncio.sleep(_POLL_SECONDS)


def _behind_relay(command: Sequence[str], listener: int, port: int, confinement: Confinement) -> list[str]:
    interpreter = str(Path(sys.executable).resolve())
    relay = [interpreter, "-I", "-S", "-c", _RELAY, str(listener), str(port), *command]
    return confined_command(relay, confinement.writable, (*confinement.needed, Path(command[0])))


async def _bind_socket(port: int) -> socket.socket:
    """A socket on a loopback port (0: a free one). A stopped server may keep its port for a moment."""
    deadline = asyncio.get_running_loop().time() + _PORT_FREE_SECONDS
    while True:
        listener = socket.socket()
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
        except OSError:
            listener.close()
            if not port or asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return listener


def fill_port(state: Path, port: int) -> None:
    """Write the port into the files of a state that have a placeholder for it."""
    for path, content in unfilled_files(state).items():
        path.write_bytes(content.replace(_PORT, str(port).encode()))


def unfilled_files(state: Path) -> dict[Path, bytes]:
    """Files directly in a state folder with a placeholder for the port, unknown when it is prepared."""
    return {
        path: content
        for path in (state.iterdir() if state.is_dir() else ())
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 100_000
        if _PORT in (content := path.read_bytes())
    }


async def _is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def reset_running_application(application: Application) -> int:
    """Run any reset command of an application that runs at an address; return its port once it responds.

    Raises:
        ApplicationStartFailedError: the command failed, or nothing responds at the address.
    """
    launch = application.launch
    limit = launch.start_timeout_seconds
    if launch.reset_command:
        what, failed = f"Resetting {application.title}", ApplicationStartFailedError
        await asyncio.to_thread(run_command, what, launch.reset_command, limit, failed)
    port = urlsplit(launch.address).port or 0
    deadline = asyncio.get_running_loop().time() + limit
    while not await _is_open(port):
        if asyncio.get_running_loop().time() > deadline:
            raise ApplicationStartFailedError(
                f"{application.title} does not answer at {launch.address}; start it, or change"
                " `launch.address` of its entry."
            )
        await asyncio.sleep(_POLL_SECONDS)
    return port


def data_folder(application: Application) -> Path | None:
    """The data folder of an application that runs at an address, if its entry names one.

    Raises:
        ApplicationStartFailedError: there is no such folder.
    """
    if not application.launch.data_folder:
        return None
    folder = Path(application.launch.data_folder).expanduser()
    if not folder.is_dir():
        raise ApplicationStartFailedError(
            f"{application.title} has no data folder {str(folder)!r}; change `launch.data_folder` of its"
            " entry."
        )
    return folder


_LONGEST_WAIT = 5.0
"""Seconds for connecting, and for each part of the answer."""
_MOST_BYTES = 1 << 20


def request_state(state: ToldState, port: int) -> str | None:
    """The reply of the server on a loopback port; None if there is none, or it is too long."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST_WAIT)
    try:
        if state.body:
            connection.request("POST", state.address, state.body.encode(), {"Content-Type": state.body_type})
        else:
            connection.request("GET", state.address)
        answer = connection.getresponse()
        content = answer.read(_MOST_BYTES + 1)
        if answer.status != http.HTTPStatus.OK or len(content) > _MOST_BYTES:
            return None
        return content.decode()
    except (OSError, http.client.HTTPException, UnicodeDecodeError):
        return None
    finally:
        connection.close()


# Whether a program keeps state in memory cannot be seen from outside, so its entry declares it. The functions
# below use what the kernel shows: further processes, open and watched files, work.
_MOST_LOOKS, _BETWEEN_LOOKS_SECONDS, _IDLE_LOOKS = 20, 0.02, 2


def _process_tree(process: int) -> frozenset[int]:
    """Ids of a process and its descendants, except for those that outlived their parents."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(_stat_fields(Path(entry.path, "stat"))[1])
            except OSError:
                continue  # it ended
            children.setdefault(parent, []).append(int(entry.name))
    found, pending = set(), [process]
    while pending:
        member = pending.pop()
        found.add(member)
        pending += children.get(member, [])
    return frozenset(found)


def _is_idle(process: int, at_start: Collection[int], folders: Collection[Path]) -> bool:
    """Whether a process has no descendants except those `at_start`, none is busy, and none watches files
    or has a file below `folders` open or mapped. Waits less than half a second for work to end."""
    idle = 0
    for _ in range(_MOST_LOOKS):
        now = _process_tree(process)
        if not now <= set(at_start):
            return False
        try:
            idle = 0 if any(map(_is_working, now)) else idle + 1
            if idle == _IDLE_LOOKS:
                return not any(_uses_files(member, folders) for member in now)
        except FileNotFoundError:
            idle = 0  # a process or thread ended meanwhile
        except OSError:
            return False  # one may not be inspected
        time.sleep(_BETWEEN_LOOKS_SECONDS)
    return False


def _is_working(process: int) -> bool:
    return any(
        _stat_fields(Path(task, "stat"))[0] in "RD" for task in Path("/proc", str(process), "task").iterdir()
    )


def _uses_files(process: int, folders: Collection[Path]) -> bool:
    for opened in Path("/proc", str(process), "fd").iterdir():
        target = opened.readlink()
        if "inotify" in target.name or any(target.is_relative_to(folder) for folder in folders):
            return True
    mapped = Path("/proc", str(process), "maps").read_text(errors="replace").splitlines()
    places = [Path(line.split(maxsplit=5)[5]) for line in mapped if "/" in line]
    return any(place.is_relative_to(folder) for place in places for folder in folders)


def _stat_fields(stat: Path) -> list[str]:
    """The fields of a `stat` file of a process or thread, from its state on."""
    return stat.read_text(errors="replace").rpartition(")")[2].split()
