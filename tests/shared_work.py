"""What is made once for all test processes and copied where it is needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

ALL = os.environ.get("TESTS_EXTENT") == "all"
"""Whether everything is tested (`make test-all`), which takes more examples than everyday testing."""


def examples(everyday: int, all_tests: int) -> int:
    """How many examples of a property are tried."""
    return all_tests if ALL else everyday


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills once, whichever test process asks first; nobody may change it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            unfinished = folder.with_name(f"unfinished-{name}")
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
