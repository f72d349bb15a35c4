"""The sandbox: one temporary folder per environment, with the home that applications and agents see.

    <temporary>/taskloom-xxxxxxxx/home                    {home}: Documents, Downloads, Music, Pictures, Videos
    <temporary>/taskloom-xxxxxxxx/home/.applications/<a>  {state} of application <a>
    <temporary>/taskloom-xxxxxxxx/private                 caches and settings that are nobody's evidence
    <temporary>/taskloom-xxxxxxxx/logs                    what the servers print

All sandboxes have paths of equal length, so that a state recorded in one works in another after its old path has
been replaced by the new one byte for byte (see `template_state`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from environments.machines import reaper
from resources.applications import Application
from resources.assets import content_of

PERSONAL_FOLDERS = ("Documents", "Downloads", "Music", "Pictures", "Videos")
"""Folders that every home has."""
APPLICATIONS_FOLDER = ".applications"
"""Folder of the home that holds the state of applications."""
_DIRECTORY = "directory_path"


class Sandbox:
    """One sandbox, watched by a reaper process from the moment it exists."""

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
        self.home = self.root / "home"
        self.logs = self.root / "logs"
        self.private = self.root / "private"
        self.logs.mkdir()

    @property
    def mark(self) -> dict[str, str]:
        """Environment variable that every process of the sandbox must carry."""
        return {reaper.MARK: str(self.root)}

    def also_remove(self, folder: Path) -> None:
        """Have `folder`, outside the sandbox, removed together with it."""
        stream = self._reaper.stdin
        if stream is not None and not stream.closed:
            stream.write(os.fsencode(folder) + b"\n")
            stream.flush()

    def state_folder(self, application: str) -> Path:
        """Where the state of `application` lives."""
        return self.home / APPLICATIONS_FOLDER / application

    def clear(self) -> None:
        """Empty the home and lay out its folders anew."""
        for folder in (self.home, self.private):
            reaper.remove_folder(folder)
        for name in PERSONAL_FOLDERS:
            (self.home / name).mkdir(parents=True)
        (self.home / APPLICATIONS_FOLDER).mkdir()
        for name in ("config", "data", "cache", "run", "temporary"):
            (self.private / name).mkdir(parents=True, mode=0o700)

    def lay_fixtures(self, applications: Sequence[Application], without: Collection[str] = ()) -> None:
        """Write the file fixtures of `applications`, except those whose paths are in `without`.

        Fixtures without content are records, which the prepared states hold.
        """
        left_out = {PurePosixPath(path) for path in without}
        for application in applications:
            for fixture in application.fixtures:
                if not fixture.content and not fixture.category.endswith("_path"):
                    continue
                if PurePosixPath(fixture.value) in left_out:
                    continue
                path = (self.home / fixture.value).resolve()
                if not path.is_relative_to(self.home):
                    raise ValueError(
                        f"The fixture {fixture.value!r} of {application.name!r} lies outside the home."
                    )
                if fixture.category == _DIRECTORY:
                    path.mkdir(parents=True, exist_ok=True)
                elif fixture.content or not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content_of(fixture.content, application))

    def process_environment(self) -> dict[str, str]:
        """Variables for processes of the sandbox: a home of their own, the mark, and no way to a proxy of the caller.

        Programs that honour proxy variables are sent to a closed port, so that they fail at once where they try to
        reach another machine.
        """
        nowhere = "http://127.0.0.1:9"
        kept = {name: os.environ[name] for name in ("PATH", "TZ", "LD_LIBRARY_PATH") if name in os.environ}
        return {
            **kept,
            **self.mark,
            "HOME": str(self.home),
            "USER": "user",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(self.private / "temporary"),
            "XDG_CONFIG_HOME": str(self.private / "config"),
            "XDG_DATA_HOME": str(self.private / "data"),
            "XDG_CACHE_HOME": str(self.private / "cache"),
            "XDG_RUNTIME_DIR": str(self.private / "run"),
            "JUPYTER_CONFIG_DIR": str(self.private / "config" / "jupyter"),
            "JUPYTER_DATA_DIR": str(self.private / "data" / "jupyter"),
            "IPYTHONDIR": str(self.private / "config" / "ipython"),
            "http_proxy": nowhere,
            "https_proxy": nowhere,
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "no_proxy": "localhost,127.0.0.1,::1",
            "NO_PROXY": "localhost,127.0.0.1,::1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def close(self) -> None:
        """Kill every process of the sandbox and remove it; blocks until that is done. May be called twice."""
        if self._reaper.stdin is not None and not self._reaper.stdin.closed:
            self._reaper.stdin.close()
        try:
            self._reaper.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._reaper.send_signal(signal.SIGKILL)
            self._reaper.wait()
        if self.root.exists():
            reaper.kill_marked(f"{reaper.MARK}={self.root}")
            shutil.rmtree(self.root, ignore_errors=True)
