"""Container engines: podman or docker, whichever is installed and works. Plain calls are tried first; some
hosts need control groups without systemd, another runtime, or limits of their own, which is determined once
per process."""

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from taskloom.environments.errors import MachineUnavailableError

EngineName = Literal["automatic", "podman", "docker"]
"""Which engine to use; `automatic` takes the first that works."""

REMEDY = (
    "Install podman (Debian and Ubuntu: apt-get install podman runc; `taskloom install --platform"
    " linux_desktop` does it with root or sudo), or start docker."
)
"""What to do if no engine works."""

_PREFIX = "taskloom"
_CONTAINER_NAME = re.compile(rf"{_PREFIX}-(\d+)-(\d+)-[0-9a-f]+")
_LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")
_CGROUPS = ("--cgroup-manager", "cgroupfs")
_OPTIONS_TO_TRY: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = {
    "podman": (
        ((), ()),
        ((), _LIMITS),
        (_CGROUPS, _LIMITS),
        ((*_CGROUPS, "--runtime", "runc"), _LIMITS),
    ),
    "docker": (((), ()), ((), _LIMITS)),
}
"""Options before and after the subcommand `run`, in the order in which they are tried."""
_CAPABILITIES = ("SETUID", "SETGID", "CHOWN", "DAC_OVERRIDE", "KILL")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with the options that it needs on this host."""

    program: str
    """`podman` or `docker`."""
    program_options: tuple[str, ...] = ()
    """Options of the program itself."""
    run_options: tuple[str, ...] = ()
    """Options of `run`."""

    def call(self, *arguments: str, seconds: float = 60) -> str:
        """Call the engine; returns what it printed.

        Raises:
            MachineUnavailableError: it failed; the message ends with its last output.
        """
        try:
            finished = subprocess.run(
                [self.program, *self.program_options, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MachineUnavailableError(f"{self.program} {arguments[0]} failed: {error}") from error
        if finished.returncode != 0:
            raise MachineUnavailableError(
                f"{self.program} {arguments[0]} failed: {_last_lines(finished.stdout, finished.stderr)}"
            )
        return finished.stdout.strip()

    def start(self, image: str, folder: Path, variables: dict[str, str], *, memory: str, name: str) -> None:
        """Start a container of `image` without a network, with `folder` as its /run/machine."""
        self.call(
            *("run", "--detach", "--rm", "--name", name, "--network", "none", "--hostname", "machine"),
            *("--volume", f"{folder}:/run/machine"),
            *("--memory", memory, "--pids-limit", "2048", "--shm-size", "256m"),
            *("--security-opt", "no-new-privileges", "--cap-drop", "all"),
            *(f"--cap-add={capability}" for capability in _CAPABILITIES),
            *(f"--env={key}={value}" for key, value in variables.items()),
            *self.run_options,
            image,
        )

    def kill(self, name: str) -> None:
        """End and remove a container; a missing one is not an error."""
        try:
            self.call("rm", "--force", "--volumes", name)
        except MachineUnavailableError as error:
            _log.debug("container %s: %s", name, error)

    def has_image(self, image: str) -> bool:
        """Whether the engine has an image."""
        with suppress(MachineUnavailableError):
            self.call("image", "inspect", "--format", "{{.Id}}", image)
            return True
        return False


def new_name() -> str:
    """A new name for a container, which identifies the process that owns it."""
    return f"{_PREFIX}-{os.getpid()}-{_start_time(os.getpid())}-{os.urandom(4).hex()}"


def remove_orphans(engine: Engine) -> list[str]:
    """Remove containers whose processes on this host have ended; returns their names."""
    listed = engine.call("ps", "--all", "--filter", f"name={_PREFIX}-", "--format", "{{.Names}}").split()
    orphans = []
    for name in listed:
        owner = _CONTAINER_NAME.fullmatch(name)
        if owner and _start_time(int(owner[1])) != owner[2]:
            engine.kill(name)
            orphans.append(name)
    return orphans


def installed_engines(wanted: EngineName = "automatic") -> list[str]:
    """Engines that are installed, in the order in which they are tried."""
    return [name for name in _OPTIONS_TO_TRY if wanted in ("automatic", name) and shutil.which(name)]


@cache
def working_engine(image: str, wanted: EngineName = "automatic") -> Engine:
    """The first engine that starts a container of `image`, with the options that it needs.

    Raises:
        MachineUnavailableError: none does; the message says why each failed, and what to do.
    """
    reasons: list[str] = []
    for program in installed_engines(wanted):
        bare = Engine(program)
        if not bare.has_image(image):
            reasons.append(f"{program} does not have the image {image}")
            continue
        for program_options, run_options in _OPTIONS_TO_TRY[program]:
            engine = Engine(program, program_options, run_options)
            try:
                engine.call("run", "--rm", "--network", "none", *run_options, image, "true")
            except MachineUnavailableError as error:
                reasons.append(str(error))
                continue
            if program_options or run_options:
                options = " ".join((*program_options, *run_options))
                _log.info("%s works here with %s (%s)", program, options, reasons[-1])
            return engine
    raise MachineUnavailableError(no_engine(reasons, wanted))


def no_engine(reasons: Sequence[str], wanted: EngineName) -> str:
    """One line that says why there is no machine, and what to do."""
    text = "; ".join(dict.fromkeys(reasons)) or (
        "neither podman nor docker is installed" if wanted == "automatic" else f"{wanted} is not installed"
    )
    return f"No desktop can be started here: {text}. {REMEDY}"


def _last_lines(output: str, errors: str) -> str:
    """The last line of a failure, after the last error of a package manager."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    packages = [line.strip() for line in f"{output}\n{errors}".splitlines() if line.startswith("E: ")]
    return " | ".join([*packages[-1:], *lines[-1:]])[-500:] or "it printed nothing"


def _start_time(process: int) -> str:
    """When a process started, in the kernel's clock ticks; empty if there is none."""
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
