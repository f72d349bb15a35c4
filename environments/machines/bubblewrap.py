"""Isolates programs with bubblewrap: their own network, and only the files of the machine that they need.
Kernel namespaces enforce what environment variables only request: a program that ignores them cannot reach
other machines, see the machine's processes, or write outside its sandbox."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

Isolation = Literal["automatic", "always", "never"]
"""`automatic` uses bubblewrap if it works; if not, a run in which a model acts refuses to start."""

NAMESPACES = ("bwrap", "--unshare-all", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev")
"""Options for every confined program: own namespaces, no capabilities, no network but its own loopback."""

WITHOUT = "bubblewrap (bwrap) is not installed or not permitted on this machine"
"""Why nothing can be confined."""

REMEDY = (
    "install it (Debian and Ubuntu: apt-get install bubblewrap) and let it create user namespaces"
    " (sysctl kernel.unprivileged_userns_clone=1, or run as root)"
)
"""What to do about that."""

# Homes hold keys, temporary folders hold other sandboxes, and /run holds the sockets of the machine's
# services.
_HIDDEN = tuple(Path(name) for name in ("/home", "/run", "/tmp", "/var/tmp"))  # noqa: S108 - hidden, not used
_SYSTEM = frozenset(
    {Path(name) for name in ("/", "/bin", "/etc", "/lib", "/lib64", "/opt", "/sbin", "/usr", "/var")}
)


def confined_command(command: Sequence[str], writable: Path, needed: Sequence[Path]) -> list[str]:
    """`command` inside bubblewrap: the machine's files read-only, without homes and temporary files.

    Only changes in `writable` are kept. Folders in `needed` stay visible even in the caller's home or among
    temporary files, as does the interpreter that runs taskloom.
    """
    program = shutil.which(command[0]) or command[0]
    hidden = [
        folder for folder in (*_HIDDEN, Path.home()) if folder.is_dir() and folder.resolve() not in _SYSTEM
    ]
    visible = dict.fromkeys(
        place.resolve()
        for place in (*needed, Path(sys.base_prefix), Path(sys.prefix), _prefix(Path(program)))
        if place.exists()
    )
    arguments = [*NAMESPACES[:1], "--ro-bind", "/", "/", *NAMESPACES[1:]]
    for folder in hidden:
        arguments += ["--tmpfs", str(folder)]
    for place in visible:
        if any(place.is_relative_to(folder) for folder in hidden):
            arguments += ["--ro-bind", str(place), str(place)]
    return [*arguments, "--bind", str(writable), str(writable), "--", *command]


@cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed and may create its namespaces here."""
    probe = shutil.which("true")
    return probe is not None and runs(
        [*NAMESPACES[:1], "--ro-bind", "/", "/", *NAMESPACES[1:], *("--tmpfs", "/tmp"), "--", probe]  # noqa: S108
    )


def is_confined(isolation: Isolation) -> bool:
    """Whether programs started with this setting run inside bubblewrap here."""
    return isolation != "never" and bubblewrap_works()


def runs(command: Sequence[str]) -> bool:
    """Whether a command can be started here and succeeds within ten seconds."""
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _prefix(program: Path) -> Path:
    """Installation folder of a program: the one above its `bin`, or the program itself."""
    real = program.resolve()
    return real.parent.parent if real.parent.name in ("bin", "Scripts") else real
