"""Files that a test adds to a package for its own time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Add = Callable[[ModuleType, str, str], None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Adds a file to a package for the time of a test, from a temporary folder."""
    before = set(sys.modules)

    def add_file(package: ModuleType, name: str, source: str) -> None:
        folder = tmp_path / package.__name__
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", list(dict.fromkeys([*package.__path__, str(folder)])))
        importlib.invalidate_caches()

    yield add_file
    for name in set(sys.modules) - before:
        if ".novel" in name:
            del sys.modules[name]
