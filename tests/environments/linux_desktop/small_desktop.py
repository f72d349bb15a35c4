"""A small desktop for tests: an image with two applications, made once and kept by the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.environments.errors import MachineUnavailableError
from taskloom.environments.lookup import platform
from taskloom.resources.applications import Application
from taskloom.resources.reading.catalog import load_applications
from tests.shared_work import made_once

APPLICATIONS = ("mousepad", "thunar")


def desktop(factory: pytest.TempPathFactory) -> tuple[Path, list[Application]]:
    """A data folder with the image, and the applications in it; skips where no engine works."""
    known = load_applications()
    applications = [known[name] for name in APPLICATIONS]

    def make(folder: Path) -> None:
        results = platform("linux_desktop").install(applications, folder, print)
        assert not [result for result in results if result.outcome == "failed"], results

    try:
        return made_once(factory, "desktop", make), applications
    except MachineUnavailableError as error:
        pytest.skip(str(error))
