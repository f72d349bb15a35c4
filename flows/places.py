"""Where data is: two of the `Settings`, from the same options, variables and file, read without the rest."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from taskloom.flows.errors import CommandError

DEFAULT_FILE = Path("taskloom.yaml")
DEFAULT_DATA = Path("taskloom-data")
FORMER_DATA = Path("taskloom")
"""What the data folder was called before `taskloom` became the name of the Python package."""
_PARTS = ("warehouse", "applications", "ledger.sqlite")
"""Any of these says that a folder holds data."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where data is kept."""

    data: Path
    """Folder for applications, ledger, warehouse and everything else that a run keeps."""
    warehouse: str
    """Where datasets are stored, as the settings say it; empty for the data folder."""

    @property
    def warehouse_location(self) -> str:
        """Where the warehouse is."""
        return self.warehouse or str(self.data / "warehouse")


def load_places(*, data: Path | None = None, warehouse: str | None = None) -> Places:
    """The places of the options, else of variables, else of the settings file.

    Raises:
        CommandError: the file cannot be read, or the data is still in the folder of an earlier taskloom.
    """
    named = settings_file()
    stored: Mapping[str, object] = {}
    if named is not None:
        from taskloom.flows.settings_file import read_settings_file

        stored = read_settings_file(named)
    places = Places(
        data or Path(os.environ.get("TASKLOOM_DATA") or str(stored.get("data") or DEFAULT_DATA)),
        warehouse or os.environ.get("TASKLOOM_WAREHOUSE") or str(stored.get("warehouse") or ""),
    )
    if not places.warehouse:
        require_moved(places.data)
    return places


def settings_file(named: Path | None = None) -> Path | None:
    """The settings file: the one named, else that of `TASKLOOM_SETTINGS`, else `taskloom.yaml` if it is here.

    Raises:
        CommandError: the named one is not there.
    """
    variable = os.environ.get("TASKLOOM_SETTINGS")
    found = named or (Path(variable) if variable else None)
    if found is None:
        return DEFAULT_FILE if DEFAULT_FILE.is_file() else None
    if not found.is_file():
        raise CommandError(f"cannot read the settings file {found}: there is no such file")
    return found


def require_moved(data: Path) -> None:
    """Refuse to begin an empty data folder beside data that an earlier taskloom kept in `taskloom/`.

    Raises:
        CommandError: with the command that moves the data.
    """
    if data != DEFAULT_DATA or any((data / name).exists() for name in _PARTS) or not FORMER_DATA.is_dir():
        return
    entries = sorted(
        path
        for path in FORMER_DATA.iterdir()
        if not path.is_symlink() and path.suffix not in (".py", ".typed") and path.name != "__pycache__"
    )
    if not any(path.name in _PARTS for path in entries):
        return
    moved = shlex.join(str(path) for path in entries)
    raise CommandError(
        f"the data folder is now called {DEFAULT_DATA}, and {FORMER_DATA}/ holds data of an earlier"
        f" taskloom. Move it once:\n  mkdir -p {DEFAULT_DATA} && mv {moved} {DEFAULT_DATA}/\nor name another"
        " folder with --data or TASKLOOM_DATA."
    )
