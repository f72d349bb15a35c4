"""One temporary folder per environment, which is removed however its creator ends: `home`, with the state of
application <a> in `.applications/<a>`; `private`, caches and settings that are not evidence; `logs`. All
sandbox paths have the same length, so that an old path in a recorded state can be replaced byte for byte (see
`template_state`)."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from taskloom.environments.machines import reaper
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of

_LONGEST_CLEANING_SECONDS = 10


class WatchedFolder:
    """One folder, watched by a reaper process from the moment it exists."""

    def __init__(self, temporary_folder: Path | None = None) -> None:
        """Create the folder under `temporary_folder`, by default the system's, and start its reaper."""
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


PERSONAL_FOLDERS = ("Documents", "Downloads", "Music", "Pictures", "Videos")
"""Folders that every home has."""
APPLICATIONS_FOLDER = ".applications"
"""Folder of the home that holds the state of applications."""
_PRIVATE_FOLDERS = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "run",
    "TMPDIR": "temporary",
}
"""Folders of programs that are not evidence, by the variables that name them."""


def is_left_out(path: str, without: Collection[str]) -> bool:
    """Whether a fixture's path is one of `without`, or lies below one."""
    place = PurePosixPath(path)
    return any(place.is_relative_to(other) for other in without)


class Sandbox(WatchedFolder):
    """One sandbox, watched by a reaper process from the moment it exists."""

    def __init__(self, temporary_folder: Path | None = None) -> None:
        super().__init__(temporary_folder)
        self.home = self.root / "home"
        self.logs = self.root / "logs"
        self.private = self.root / "private"
        self.logs.mkdir()

    def state_folder(self, application: str) -> Path:
        """The folder with the state of `application`."""
        return self.home / APPLICATIONS_FOLDER / application

    def clear(self, running: Collection[str] = ()) -> None:
        """Empty the home and create its folders anew.

        The state folders of the applications `running` are emptied in place, for servers that run in them;
        private folders that these servers made when they started are kept, without their files.
        """
        if running:
            _remove_files(self.private)
        else:
            reaper.remove_folder(self.private)
        states = [self.state_folder(name) for name in running]
        _empty(self.home, {*states, *(state.parent for state in states)})
        for folder in (*PERSONAL_FOLDERS, APPLICATIONS_FOLDER):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        for name in _PRIVATE_FOLDERS.values():
            (self.private / name).mkdir(parents=True, mode=0o700, exist_ok=True)

    def lay_fixtures(self, applications: Sequence[Application], without: Collection[str] = ()) -> None:
        """Write the file fixtures of `applications`, except those at the paths in `without` and below them.

        Fixtures without content are records, which belong to the prepared states.

        Raises:
            ValueError: a fixture's path leads out of the home.
        """
        for application in applications:
            for fixture in application.fixtures:
                is_record = not fixture.content and not fixture.category.endswith("_path")
                if is_record or is_left_out(fixture.value, without):
                    continue
                path = (self.home / fixture.value).resolve()
                if not path.is_relative_to(self.home):
                    raise ValueError(
                        f"The fixture {fixture.value!r} of {application.name!r} lies outside the home."
                    )
                if fixture.category == "directory_path":
                    path.mkdir(parents=True, exist_ok=True)
                elif fixture.content or not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content_of(fixture.content, application))

    def visible(self) -> dict[str, bytes | None]:
        """The files of the home that are not hidden, by path (None for a folder); links are left out."""
        return {
            str(path.relative_to(self.home)): None if path.is_dir() else path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if not path.is_symlink()
            and (path.is_dir() or path.is_file())
            and not any(part.startswith(".") for part in path.relative_to(self.home).parts)
        }

    def put(self, files: Mapping[str, bytes | None], gone: Collection[str] = ()) -> None:
        """Write files of the home (None stands for a folder) and remove those that are `gone`.

        Raises:
            ValueError: a path leads out of the home.
        """
        for name in (*gone, *files):
            place = self.home / name
            if not place.resolve().is_relative_to(self.home.resolve()) or place == self.home:
                raise ValueError(f"The file {name!r} lies outside the home.")
            if name in files and files[name] is None:
                place.mkdir(parents=True, exist_ok=True)
            elif name in files:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files[name] or b"")
            elif place.is_dir():
                reaper.remove_folder(place)
            else:
                place.unlink(missing_ok=True)

    def process_environment(self) -> dict[str, str]:
        """Variables for processes in the sandbox: their own home, the mark, and a closed port as proxy, so
        that attempts to reach another machine fail at once."""
        nowhere = "http://127.0.0.1:9"
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        return {
            **kept,
            **self.mark,
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
            **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
            **{variable: str(self.private / folder) for variable, folder in _PRIVATE_FOLDERS.items()},
            "HOME": str(self.home),
            "TZ": "UTC",  # as in the browser
            "USER": "user",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }


def _remove_files(folder: Path) -> None:
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*files, *links):
            Path(place, name).unlink(missing_ok=True)


def _empty(folder: Path, kept: Collection[Path]) -> None:
    """Remove the content of `folder`, except for the folders `kept`, which are emptied in turn."""
    for entry in list(folder.iterdir()) if folder.is_dir() else ():
        if entry in kept and not entry.is_symlink():
            _empty(entry, kept)
        elif entry.is_dir() and not entry.is_symlink():
            reaper.remove_folder(entry)
        else:
            entry.unlink(missing_ok=True)
