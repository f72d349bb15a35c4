"""A small process that cleans up after its parent, run as a script with the path of a sandbox. When its
standard input closes, however the parent ended, it kills every process with the sandbox's mark, and removes
the sandbox and the folders named in its input, one per line. It needs only the standard library, so it starts
at once."""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

MARK = "TASKLOOM_SANDBOX"
"""Environment variable that identifies the processes of a sandbox; children inherit it."""


def marked_processes(mark: str) -> list[int]:
    """Ids of the other processes of this user whose environment carries `mark` (a `NAME=value` text)."""
    wanted = b"\0" + mark.encode() + b"\0"
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = Path("/proc", entry.name, "environ").read_bytes()
        except OSError:
            continue
        if wanted in b"\0" + environment + b"\0":
            found.append(int(entry.name))
    return found


def kill_marked(mark: str) -> None:
    """Kill the processes that carry `mark` until none is left, for at most a second."""
    for _ in range(40):
        remaining = [process for process in marked_processes(mark) if not _is_dead(process)]
        if not remaining:
            return
        for process in remaining:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.025)


def remove_folder(folder: Path) -> None:
    """Remove `folder`; retries for a second while something still writes into it."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def _is_dead(process: int) -> bool:
    """Whether the process is gone or only waits for its parent to notice."""
    try:
        status = Path("/proc", str(process), "stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] in ("Z", "X")


def main(sandbox: Path) -> None:
    """Clean up once the parent has ended."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    input_lines = b""
    while part := os.read(0, 4096):
        input_lines += part
    kill_marked(f"{MARK}={sandbox}")
    for folder in (sandbox, *(Path(os.fsdecode(line)) for line in input_lines.splitlines())):
        remove_folder(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
