"""A temporary folder that is removed, together with the processes that carry its mark, however its creator
ends."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from taskloom.environments.machines import reaper

_LONGEST_CLEANING_SECONDS = 10


class WatchedFolder:
    """One folder, watched by a reaper process from the moment it exists."""

    def __init__(self, temporary_folder: Path | None = None) -> None:
        """Make the folder under `temporary_folder`, or under the system's, and start its reaper."""
        parent = (temporary_folder or Path(tempfile.gettempdir())).resolve()
        self.root = parent / f"taskloom-{secrets.token_hex(4)}"
        self.root.mkdir(mode=0o700, parents=True)
        self._reaper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(reaper.__file__)), str(self.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def mark(self) -> dict[str, str]:
        """Environment variable that every process of the folder must carry."""
        return {reaper.MARK: str(self.root)}

    def also_remove(self, folder: Path) -> None:
        """Have `folder`, outside of this one, removed together with it."""
        stream = self._reaper.stdin
        if stream is not None and not stream.closed:
            stream.write(os.fsencode(folder) + b"\n")
            stream.flush()

    def close(self) -> None:
        """Kill every marked process and remove the folder; blocks until that is done. May be called twice."""
        if self._reaper.stdin is not None and not self._reaper.stdin.closed:
            self._reaper.stdin.close()
        try:
            self._reaper.wait(timeout=_LONGEST_CLEANING_SECONDS)
        except subprocess.TimeoutExpired:
            self._reaper.send_signal(signal.SIGKILL)
            self._reaper.wait()
        if self.root.exists():
            reaper.kill_marked(f"{reaper.MARK}={self.root}")
            shutil.rmtree(self.root, ignore_errors=True)
