"""The program that sandbox workers run: the interpreter, silenced, and inside bubblewrap where the machine has it."""

from __future__ import annotations

import shlex
import shutil
import stat
from functools import cache
from pathlib import Path

from pydantic_monty._binary import find_monty_binary

from environments.confinement import NAMESPACES, WITHOUT, Isolation, runs
from evaluators_api.errors import SandboxUnavailable

_INSIDE = "/sandbox/monty"
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


# The shell stays as the parent: bubblewrap asks to be killed when the *thread* that started it ends, and pools start
# workers from whichever thread needs one. When the shell is killed, everything below it dies with it.
_SCRIPT = """#!/bin/sh
ulimit -t 3600
ulimit -c 0
{command} "$@" 2>/dev/null
exit $?
"""


def write_worker_program(folder: Path, isolation: Isolation) -> tuple[Path, bool]:
    """Write the start script of the workers into `folder`; return its path and whether bubblewrap is in it.

    Raises:
        SandboxUnavailable: the interpreter is not installed, or bubblewrap was demanded and does not work here.
    """
    try:
        interpreter = Path(find_monty_binary()).resolve(strict=True)
    except OSError as error:
        raise SandboxUnavailable(
            "The sandbox's interpreter is missing; install the package pydantic-monty==1.4.0."
        ) from error
    confined = isolation != "none" and bubblewrap_works()
    if isolation == "bubblewrap" and not confined:
        raise SandboxUnavailable(f"{WITHOUT}; install it, or set the sandbox's isolation to 'automatic'.")
    command = (
        [*_BUBBLEWRAP, "--ro-bind", str(interpreter), _INSIDE, _INSIDE] if confined else [str(interpreter)]
    )
    script = folder / "worker"
    script.write_text(_SCRIPT.format(command=shlex.join(command)), encoding="utf-8")
    script.chmod(stat.S_IRWXU)
    return script, confined


@cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed and may create its namespaces here."""
    probe = shutil.which("true")
    return probe is not None and runs([*_BUBBLEWRAP, "--ro-bind", probe, "/sandbox/probe", "/sandbox/probe"])
