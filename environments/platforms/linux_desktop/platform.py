"""Applications of a Linux desktop, in machines that are thrown away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.installing.results import InstallationResult
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = LinuxDesktopSettings


def applications() -> tuple[Application, ...]:
    """None: desktop applications are the catalogue's."""
    return ()


def missing(application: Application, data_folder: Path) -> str:
    """What an application still needs before it can start; empty if nothing is missing."""
    from taskloom.environments.platforms.linux_desktop.installing import missing_for_start

    return missing_for_start(application, data_folder)


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Find or install a container engine and a base image; what there is now, in words.

    Raises:
        MachineUnavailableError: there is none, and none can be had.
    """
    from taskloom.environments.platforms.linux_desktop.installing import engine_and_base

    engine, base = engine_and_base(say)
    return f"machines: containers of {' '.join((engine.program, *engine.before))}, upon {base}"


def install(
    applications: Sequence[Application], data_folder: Path, say: Callable[[str], None]
) -> list[InstallationResult]:
    """Make the image with `applications` in it; see `installing.install`."""
    from taskloom.environments.platforms.linux_desktop.installing import install as make_image

    return make_image(applications, data_folder, say)


def create(settings: Record) -> Environment:
    """A closed environment; its machines are containers of the installed image."""
    from taskloom.environments.platforms.linux_desktop.environment import DesktopEnvironment
    from taskloom.environments.platforms.linux_desktop.installing import container_maker

    if not isinstance(settings, LinuxDesktopSettings):
        raise TypeError(
            f"The platform linux_desktop needs LinuxDesktopSettings, not {type(settings).__name__}."
        )
    return DesktopEnvironment(settings, container_maker(settings))
