"""Small applications over real files, without a browser: for tests and benchmarks, never for datasets."""

from __future__ import annotations

from taskloom.environments.environment import Environment
from taskloom.environments.platforms.simulated.catalog_entries import simulated_applications
from taskloom.environments.platforms.simulated.desktop import SimulatedEnvironment, SimulatedSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = SimulatedSettings


def settings(values: dict[str, object]) -> SimulatedSettings:
    """The settings of this platform from plain values."""
    return SimulatedSettings.model_validate(values)


def applications() -> tuple[Application, ...]:
    """The simulated applications."""
    return simulated_applications()


def create(settings: Record) -> Environment:
    """A closed environment."""
    return SimulatedEnvironment(SimulatedSettings.model_validate(settings, from_attributes=True))
