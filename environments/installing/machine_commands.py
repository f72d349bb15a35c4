"""Running the programs that installation needs: pip, npm, apt."""

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from taskloom.environments.errors import InstallationFailedError

_REPORTED_CHARACTERS = 600
_DISK_FULL_SIGNS = ("no space left on device", "enospc", "disk quota exceeded")


class CommandRunner:
    """Runs programs, several at a time from several threads, and can stop them all.

    Guarantees that all started programs have ended once `stop` returns, that no program waits for input, and
    that a full disk is reported as such.
    """

    def __init__(self, inherited_descriptors: Sequence[int] = ()) -> None:
        """Let programs inherit descriptors, so that a lock outlives a killed parent until they end."""
        self._inherited = tuple(inherited_descriptors)
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = threading.Lock()
        self._stopped = False

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = 900.0,
    ) -> str:
        """Run one program to its end and return what it printed.

        Raises:
            InstallationFailedError: it is missing, fails, takes too long, or the runner was stopped.
        """
        command = [str(argument) for argument in arguments]
        with self._guard:
            if self._stopped:
                raise InstallationFailedError(f"{command[0]} was not started: the installation was stopped.")
            try:
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env={**os.environ, **(environment or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    pass_fds=self._inherited,
                )
            except OSError as error:
                raise InstallationFailedError(f"{command[0]} cannot be started: {error.strerror}.") from error
            self._running.add(process)
        try:
            output, _ = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise InstallationFailedError(
                f"{' '.join(command[:4])} … took longer than {timeout_seconds:.0f} seconds and was stopped."
            ) from None
        finally:
            with self._guard:
                self._running.discard(process)
        if process.returncode != 0:
            raise InstallationFailedError(_failure_message(command, process.returncode, output))
        return output

    def stop(self) -> None:
        """End all running programs and start no more."""
        with self._guard:
            self._stopped = True
            running = tuple(self._running)
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _failure_message(command: Sequence[str], exit_code: int, output: str) -> str:
    said = output.strip()
    name = Path(command[0]).name
    if any(sign in said.casefold() for sign in _DISK_FULL_SIGNS):
        return f"The disk is full ({name} said so). Free some space and install again."
    lines = [line for line in said.splitlines() if "error" in line.casefold()] or said.splitlines()
    reported = " | ".join(line.strip() for line in lines[-4:])[-_REPORTED_CHARACTERS:]
    return f"{name} failed with exit code {exit_code}: {reported or 'it said nothing'}"


def administrator_prefix() -> tuple[str, ...] | None:
    """Prefix for a command that needs root: nothing as root, `sudo -n` if it needs no password, else None."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        return None
    allowed = subprocess.run(
        ["sudo", "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    return ("sudo", "-n") if allowed.returncode == 0 else None
