"""Where data is: two of the `Settings`, read without the others from the same options, variables and file;
and strict reading of the settings file: anything ambiguous is rejected."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskloom.flows.errors import CommandError

DEFAULT_FILE = Path("taskloom.yaml")
DEFAULT_DATA = Path("taskloom-data")
FORMER_DATA = Path("taskloom")
"""Name of the data folder before `taskloom` became the name of the Python package."""
_MOST_BYTES = 1 << 20
_LONGEST_REASON = 200
_CONTENTS = ("warehouse", "applications", "ledger.sqlite")
"""A folder that holds any of these is a data folder."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where data is kept."""

    data: Path
    """Folder for applications, ledger, warehouse and everything else that a run keeps."""
    warehouse: str
    """Where datasets are stored, as in the settings; empty for the data folder."""

    @property
    def warehouse_location(self) -> str:
        """Where the warehouse is."""
        return self.warehouse or str(self.data / "warehouse")


def load_places(*, data: Path | None = None, warehouse: str | None = None) -> Places:
    """The places given by options, else by variables, else by the settings file.

    Raises:
        CommandError: the file cannot be read, or the data is still in the folder of an earlier taskloom.
    """
    file = settings_file()
    stored: Mapping[str, object] = read_settings_file(file) if file is not None else {}
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
        CommandError: the named file does not exist.
    """
    variable = os.environ.get("TASKLOOM_SETTINGS")
    path = named or (Path(variable) if variable else None)
    if path is None:
        return DEFAULT_FILE if DEFAULT_FILE.is_file() else None
    if not path.is_file():
        raise CommandError(f"cannot read the settings file {path}: there is no such file")
    return path


def require_moved(data: Path) -> None:
    """Refuse to start an empty data folder next to data that an earlier taskloom kept in `taskloom/`.

    Raises:
        CommandError: there is such data; the message shows the command.
    """
    if data != DEFAULT_DATA or any((data / name).exists() for name in _CONTENTS) or not FORMER_DATA.is_dir():
        return
    entries = sorted(
        path
        for path in FORMER_DATA.iterdir()
        if not path.is_symlink() and path.suffix not in (".py", ".typed") and path.name != "__pycache__"
    )
    if not any(path.name in _CONTENTS for path in entries):
        return
    moved = shlex.join(str(path) for path in entries)
    raise CommandError(
        f"the data folder is now called {DEFAULT_DATA}, and {FORMER_DATA}/ holds data of an earlier"
        f" taskloom. Move it once:\n  mkdir -p {DEFAULT_DATA} && mv {moved} {DEFAULT_DATA}/\nor name another"
        " folder with --data or TASKLOOM_DATA."
    )


def read_settings_file(file: Path) -> dict[str, Any]:
    """The names and values in a settings file.

    Raises:
        CommandError: it cannot be read, or holds anything else.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"cannot read the settings file {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"the settings file {file} is not UTF-8 text") from None
    if len(content) > _MOST_BYTES:
        raise CommandError(f"the settings file {file} is larger than 1 MiB")
    values = parse_yaml(text, f"the settings file {file}")
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise CommandError(
            f"the settings file {file} must hold names and values, not a {type(values).__name__}"
        )
    return values


def parse_yaml(text: str, name: str) -> object:
    """The value of the YAML `text`; `name` is its name in messages.

    Raises:
        CommandError: it is not YAML, has a duplicate key, or uses aliases, which can expand a short text to a
            gigabyte.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.events import AliasEvent

    parser = YAML(typ="safe")
    try:
        if "*" in text:
            for event in parser.parse(text):
                if isinstance(event, AliasEvent):
                    line = event.start_mark.line + 1
                    raise CommandError(
                        f"{name}, line {line}: aliases (*{event.anchor}) are not allowed; write the value out"
                    )
        return YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise CommandError(f"{name}{place}: not valid YAML: {_shorten(error.problem)}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise CommandError(f"{name}: not valid YAML: {_shorten(str(error))}") from None


def _shorten(reason: str | None) -> str:
    text = " ".join((reason or "it cannot be parsed").split())
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"
