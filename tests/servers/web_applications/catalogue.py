"""A user's catalogue folder that holds the small applications, without curated subtasks."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

from taskloom.resources.applications import Application

_HERE = Path(__file__).parent
_PYTHON = str(Path(sys.executable).resolve())
_ONLY_HERE = ("from tests.", "from __future__")
_MANUALS = {
    "watches": (
        "A list of watched web pages. The form above it adds one. Each row has buttons to pause and mute it,"
        " to edit and to delete it. Groups are added on the page Groups; Settings holds the time between"
        " checks."
    ),
    "library": (
        "A lending library. Books lists all books, each with buttons to lend, return and remove it. New book"
        " adds one; Members adds people who may borrow."
    ),
}


def write_catalogue(folder: Path) -> Path:
    """Write the catalogue folder; the applications run on this Python and need no installation."""
    (folder / "applications").mkdir(parents=True)
    for name in _MANUALS:
        entry = {**_entry(name), "launch": {"command": [_PYTHON, "-c", _source(name), "{port}", "{state}"]}}
        (folder / "applications" / f"{name}.yaml").write_text(json.dumps(entry))
    return folder


def small_applications() -> tuple[Application, ...]:
    """The entries without a way to start them."""
    return tuple(Application.model_validate(_entry(name)) for name in _MANUALS)


def _entry(name: str) -> dict[str, object]:
    manual = _MANUALS[name]
    return {
        "name": name,
        "title": name.capitalize(),
        "category": "Office",
        "version": "1.0",
        "licence": "MIT",
        "description": manual.partition(". ")[0] + ".",
        "fixtures": [],
        "manual": manual,
    }


def _source(name: str) -> str:
    """The application as one text, since a sandbox may hide the folder that this file is in."""
    lines = [line for part in ("pages", name) for line in (_HERE / f"{part}.py").read_text().splitlines()]
    text = "\n".join(["from __future__ import annotations", *_without_imports(lines)])
    encoded = base64.b64encode(text.encode()).decode()  # braces in a command are placeholders
    return f"import base64; exec(base64.b64decode('{encoded}').decode())"


def _without_imports(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith(_ONLY_HERE)]
