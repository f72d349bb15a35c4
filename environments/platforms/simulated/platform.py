"""Small applications over real files, without a browser: for tests and benchmarks, never for datasets."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.lookup import InstallationResult
from taskloom.environments.platforms.simulated.desktop import SimulatedEnvironment, SimulatedSettings
from taskloom.resources.applications import Application
from taskloom.resources.reading.catalog import expand_application
from taskloom.resources.reading.yaml_reading import parse_entry, read_yaml
from taskloom.resources.record import Record


@cache
def simulated_applications() -> tuple[Application, ...]:
    """The simulated applications with their example subtasks, by name."""
    folder = files("taskloom.environments.platforms.simulated") / "catalog"
    sources = [
        read_yaml(item.read_text(), item.name) for item in folder.iterdir() if item.name.endswith(".yaml")
    ]
    found = (parse_entry(source, expand_application(source.content), Application) for source in sources)
    return tuple(sorted(found, key=lambda entry: entry.name))


SETTINGS = SimulatedSettings
applications = simulated_applications


def missing(application: Application, data_folder: Path) -> str:
    """Nothing: they are part of taskloom."""
    return ""


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Nothing has to be prepared."""
    return "the simulated platform needs nothing"


def install(
    applications: Sequence[Application], data_folder: Path, say: Callable[[str], None]
) -> list[InstallationResult]:
    """Nothing has to be installed."""
    return []


def create(settings: Record) -> Environment:
    """A closed environment."""
    return SimulatedEnvironment(SimulatedSettings.model_validate(settings, from_attributes=True))
