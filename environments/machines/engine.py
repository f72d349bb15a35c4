"""Container engines: podman or docker, whichever is there and works. The plain call comes first; some hosts
need control groups without systemd, another runtime, or limits of their own, which is found out once per
process."""

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
"""What to do where no engine works."""

_PREFIX = "taskloom"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-(\d+)-[0-9a-f]+")
_LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")
_CGROUPS = ("--cgroup-manager", "cgroupfs")
_WAYS: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = {
    "podman": (
        ((), ()),
        ((), _LIMITS),
        (_CGROUPS, _LIMITS),
        ((*_CGROUPS, "--runtime", "runc"), _LIMITS),
    ),
    "docker": (((), ()), ((), _LIMITS)),
}
"""Options before and behind `run`, in the order in which they are tried."""
_CAPABILITIES = ("SETUID", "SETGID", "CHOWN", "DAC_OVERRIDE", "KILL")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine and how it is called on this host."""

    program: str
    """`podman` or `docker`."""
    before: tuple[str, ...] = ()
    """Options of the program."""
    behind: tuple[str, ...] = ()
    """Options of `run`."""

    def call(self, *arguments: str, seconds: float = 60) -> str:
        """Call the engine; what it printed.

        Raises:
            MachineUnavailableError: it failed; the message is the last thing it said.
        """
        try:
            done = subprocess.run(
                [self.program, *self.before, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MachineUnavailableError(f"{self.program} {arguments[0]} failed: {error}") from error
        if done.returncode != 0:
            raise MachineUnavailableError(
                f"{self.program} {arguments[0]} failed: {_last_words(done.stdout, done.stderr)}"
            )
        return done.stdout.strip()

    def start(self, image: str, folder: Path, variables: dict[str, str], *, memory: str, name: str) -> None:
        """Start a container of `image` without a network, with `folder` as its /run/machine."""
        self.call(
            *("run", "--detach", "--rm", "--name", name, "--network", "none", "--hostname", "machine"),
            *("--volume", f"{folder}:/run/machine"),
            *("--memory", memory, "--pids-limit", "2048", "--shm-size", "256m"),
            *("--security-opt", "no-new-privileges", "--cap-drop", "all"),
            *(f"--cap-add={capability}" for capability in _CAPABILITIES),
            *(f"--env={key}={value}" for key, value in variables.items()),
            *self.behind,
            image,
        )

    def kill(self, name: str) -> None:
        """End a container and remove it; one that is gone is no error."""
        try:
            self.call("rm", "--force", "--volumes", name)
        except MachineUnavailableError as error:
            _log.debug("container %s: %s", name, error)

    def has_image(self, image: str) -> bool:
        """Whether an image is there."""
        with suppress(MachineUnavailableError):
            self.call("image", "inspect", "--format", "{{.Id}}", image)
            return True
        return False


def new_name() -> str:
    """A name for a container that tells which process it belongs to."""
    return f"{_PREFIX}-{os.getpid()}-{_started(os.getpid())}-{os.urandom(4).hex()}"


def remove_orphans(engine: Engine) -> list[str]:
    """Remove the containers of processes of this host that are gone; their names."""
    listed = engine.call("ps", "--all", "--filter", f"name={_PREFIX}-", "--format", "{{.Names}}").split()
    orphans = []
    for name in listed:
        owner = _NAME.fullmatch(name)
        if owner and _started(int(owner[1])) != owner[2]:
            engine.kill(name)
            orphans.append(name)
    return orphans


def installed_engines(wanted: EngineName = "automatic") -> list[str]:
    """Engines that are installed, in the order in which they are tried."""
    return [name for name in _WAYS if wanted in ("automatic", name) and shutil.which(name)]


@cache
def working_engine(image: str, wanted: EngineName = "automatic") -> Engine:
    """The first engine that starts a container of `image`, and the way in which it does.

    Raises:
        MachineUnavailableError: none does; the message says what each said, and what to do.
    """
    said: list[str] = []
    for program in installed_engines(wanted):
        bare = Engine(program)
        if not bare.has_image(image):
            said.append(f"{program} does not have the image {image}")
            continue
        for before, behind in _WAYS[program]:
            engine = Engine(program, before, behind)
            try:
                engine.call("run", "--rm", "--network", "none", *behind, image, "true")
            except MachineUnavailableError as error:
                said.append(str(error))
                continue
            if before or behind:
                _log.info("%s works here with %s (%s)", program, " ".join((*before, *behind)), said[-1])
            return engine
    raise MachineUnavailableError(no_engine(said, wanted))


def no_engine(said: Sequence[str], wanted: EngineName) -> str:
    """One line on why there is no machine, and what to do."""
    reasons = "; ".join(dict.fromkeys(said)) or (
        "neither podman nor docker is installed" if wanted == "automatic" else f"{wanted} is not installed"
    )
    return f"No desktop can be started here: {reasons}. {REMEDY}"


def _last_words(output: str, errors: str) -> str:
    """The last line of a failure, behind what a package manager said of it."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    packages = [line.strip() for line in f"{output}\n{errors}".splitlines() if line.startswith("E: ")]
    return " | ".join([*packages[-1:], *lines[-1:]])[-500:] or "it said nothing"


def _started(process: int) -> str:
    """When a process started, in the kernel's clock; empty where there is none."""
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
