"""The program of sandbox workers: the interpreter without error output, in bubblewrap if available."""

import os
import shlex
import shutil
import stat
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from pydantic_monty._binary import find_monty_binary

from taskloom.environments.machines.bubblewrap import NAMESPACES, WITHOUT, Isolation, runs
from taskloom.evaluators_api.errors import SandboxUnavailableError

_INNER_PATH = "/sandbox/monty"
_BUBBLEWRAP = (
    *NAMESPACES,
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    *("--tmpfs", "/tmp"),  # noqa: S108 - a path inside the sandbox's own file system
    *("--ro-bind-try", "/lib", "/lib"),
    *("--ro-bind-try", "/lib64", "/lib64"),
    *("--ro-bind-try", "/usr/lib", "/usr/lib"),
    *("--ro-bind-try", "/usr/lib64", "/usr/lib64"),
)


# The shell stays as the parent: bubblewrap asks to be killed when the *thread* that started it ends, and
# pools start workers from whichever thread needs one. When the shell is killed, everything below it dies.
_SCRIPT = """#!/bin/sh
ulimit -t 3600
ulimit -c 0
{command} "$@" 2>/dev/null
exit $?
"""


class WorkerProgram:
    """The workers' start script, which exists until `close`; in memory if the system supports that, so that
    nothing remains when this process is killed."""

    def __init__(self, isolation: Isolation) -> None:
        """Write the script.

        Raises:
            SandboxUnavailableError: the interpreter is not installed, or bubblewrap is required and does not
                work here.
        """
        try:
            interpreter = Path(find_monty_binary()).resolve(strict=True)
        except OSError as error:
            raise SandboxUnavailableError(
                "The sandbox's interpreter is missing; install the package pydantic-monty==1.4.0."
            ) from error
        self.confined = isolation != "never" and bubblewrap_works()
        """Whether it runs bubblewrap."""
        if isolation == "always" and not self.confined:
            raise SandboxUnavailableError(
                f"{WITHOUT}; install it, or set the sandbox's isolation to 'automatic'."
            )
        command = [str(interpreter)]
        if self.confined:
            command = [*_BUBBLEWRAP, "--ro-bind", str(interpreter), _INNER_PATH, _INNER_PATH]
        self._release = ExitStack()
        self.path = self._write(_SCRIPT.format(command=shlex.join(command)))
        """The file to execute."""

    def close(self) -> None:
        """Remove the script; running workers are not affected."""
        self._release.close()

    def _write(self, script: str) -> Path:
        if not hasattr(os, "memfd_create"):
            folder = self._release.enter_context(tempfile.TemporaryDirectory(prefix="taskloom-worker-"))
            path = Path(folder) / "worker"
            path.write_text(script, encoding="utf-8")
            path.chmod(stat.S_IRWXU)
            return path
        writable = os.memfd_create("taskloom-worker")
        try:
            os.write(writable, script.encode())
            os.fchmod(writable, stat.S_IRWXU)
            # A file that is open for writing cannot be executed, so it is opened once more.
            readable = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(writable)
        self._release.callback(os.close, readable)
        return Path(f"/proc/{os.getpid()}/fd/{readable}")


@cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed and may create its namespaces here."""
    probe = shutil.which("true")
    return probe is not None and runs([*_BUBBLEWRAP, "--ro-bind", probe, "/sandbox/probe", "/sandbox/probe"])
