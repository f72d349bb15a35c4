"""Programs of the machine: applications, identified by a mark in their environment, and commands."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "MACHINE_APPLICATION"
"""Environment variable that holds the application a process belongs to; children inherit it."""
HOME = Path("/home/user")
_LOGS = Path("/tmp/applications")  # noqa: S108 - in the machine, which is thrown away
_MOST_OUTPUT = 1_000_000


@dataclass(slots=True)
class _StartedApplication:
    """A started application; other processes may run its program after this one has ended."""

    process: subprocess.Popen[bytes]
    last_program: str

    def program(self) -> str:
        """The program that it runs or ran last; a script may replace itself with another."""
        if self.process.poll() is None:
            self.last_program = _program(self.process.pid) or self.last_program
        return self.last_program


class Programs:
    """The applications that were started."""

    def __init__(self) -> None:
        self._started: dict[str, _StartedApplication] = {}
        _LOGS.mkdir(exist_ok=True)

    def start(self, application: str, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start an application.

        Raises:
            OSError: there is no such program.
        """
        with (_LOGS / f"{application}.log").open("wb") as log:
            process = subprocess.Popen(
                list(command),
                cwd=HOME,
                env={**user_variables(), **variables, MARK: application},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        # The kernel shows a program before its arguments, which name the script of an interpreter.
        while process.poll() is None and not _command_line(process.pid):
            time.sleep(0.001)
        self._started[application] = _StartedApplication(
            process, str(Path(shutil.which(command[0]) or command[0]).resolve())
        )
        self._started[application].program()

    def stop(self, application: str) -> None:
        """End all processes of an application, first by SIGTERM, then by SIGKILL."""
        for number, seconds in ((signal.SIGTERM, 1.5), (signal.SIGKILL, 3.0)):
            deadline = time.monotonic() + seconds
            while left := self.processes(application):
                for process in left:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(process, number)
                if time.monotonic() > deadline:
                    break
                time.sleep(0.03)
                self._reap()
        started = self._started.pop(application, None)
        if started is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.process.wait(1)

    def printed(self, application: str) -> str:
        """The end of the application's output."""
        try:
            return (_LOGS / f"{application}.log").read_text(errors="replace")[-800:].strip()
        except OSError:
            return ""

    def runs(self, application: str) -> bool:
        """Whether a process of the application is left, even one that is ending and unidentifiable."""
        self._reap()
        started = self._started.get(application)
        if started is not None and started.process.returncode is None:
            return True
        return bool(self.processes(application))

    def ended_well(self, application: str) -> bool:
        """Whether the started process ended without an error, as after handing over to another."""
        started = self._started.get(application)
        return started is not None and started.process.poll() == 0

    def processes(self, application: str) -> list[int]:
        """Ids of the processes of an application, whoever started them."""
        return [process for process in _other_processes() if self.owner(process) == application]

    def owner(self, process: int) -> str:
        """The application of a process: the one whose program it runs, or the one that started it."""
        program = _program(process)
        for name, started in self._started.items():
            if program and program == started.program():
                return name
        return mark_of(process)

    def _reap(self) -> None:
        for started in self._started.values():
            started.process.poll()


def user_variables() -> dict[str, str]:
    """The environment variables of the machine's user, without those of the server."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def mark_of(process: int) -> str:
    """The application named in the environment of a process; empty if there is none."""
    place, wanted = Path("/proc", str(process)), f"{MARK}=".encode()
    try:
        variables = (place / "environ").read_bytes().split(b"\0")
        ended = _state(place) in "ZX"
    except OSError:
        return ""
    found = (item.removeprefix(wanted).decode() for item in variables if item.startswith(wanted))
    return "" if ended else next(found, "")


def at_work(processes: Iterable[int] | None = None) -> frozenset[int]:
    """Processes (all others by default) with a thread running or waiting for processor or disk."""
    checked = _other_processes() if processes is None else processes
    return frozenset(process for process in checked if _is_working(process))


def _is_working(process: int) -> bool:
    try:
        return any(_state(thread) in "RD" for thread in Path("/proc", str(process), "task").iterdir())
    except OSError:  # it has ended
        return False


def _state(place: Path) -> str:
    """The letter for the state of a process or thread."""
    return (place / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]


def running_programs() -> list[tuple[str, str]]:
    """Program and arguments of every process that belongs to an application, sorted."""
    commands = (_command_line(process) for process in _other_processes() if mark_of(process))
    return sorted((Path(words[0]).name, " ".join(words[1:])) for words in commands if words)


def run(
    command: Sequence[str] | str,
    *,
    shell: bool = False,
    seconds: float = 120,
    folder: str = "",
    variables: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Run a command to its end; return exit code (124 if it takes too long, 127 if there is no such
    program), output and errors."""
    try:
        process = subprocess.Popen(
            command,
            shell=shell,
            cwd=folder or HOME,
            env={**user_variables(), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return 127, "", str(error)
    late = False
    try:
        streams = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        streams = process.communicate()
    output, errors = (text[:_MOST_OUTPUT].decode(errors="replace") for text in streams)
    return 124 if late else process.returncode, output, errors


def _other_processes() -> list[int]:
    found = (int(place.name) for place in Path("/proc").iterdir() if place.name.isdigit())
    return [process for process in found if process != os.getpid()]


def _command_line(process: int) -> list[str]:
    try:
        return Path("/proc", str(process), "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def _program(process: int) -> str:
    """The program of a process; for an interpreter, followed by its script."""
    try:
        program = str(Path("/proc", str(process), "exe").readlink())
    except OSError:
        return ""
    words = _command_line(process)
    interprets = Path(program).name.startswith(("python", "perl", "bash", "dash", "gjs"))
    return " ".join((program, *words[1:2])) if interprets else program
