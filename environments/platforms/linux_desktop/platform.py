"""Applications of a Linux desktop, in machines that are thrown away."""

from collections.abc import Callable
from pathlib import Path

from taskloom.environments.environment import Environment
from taskloom.environments.platforms.linux_desktop import installing
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

SETTINGS = LinuxDesktopSettings
missing = installing.missing_for_start
install = installing.install


def applications() -> tuple[Application, ...]:
    """None: desktop applications are the catalogue's."""
    return ()


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Find or install a container engine and a base image; what there is now, in words.

    Raises:
        MachineUnavailableError: there is none, and none can be had.
    """
    engine, base = installing.engine_and_base(say)
    return f"machines: containers of {' '.join((engine.program, *engine.before))}, upon {base}"


def create(settings: Record) -> Environment:
    """A closed environment; its machines are containers of the installed image."""
    from taskloom.environments.platforms.linux_desktop.environment import DesktopEnvironment

    known = LinuxDesktopSettings.model_validate(settings, from_attributes=True)
    return DesktopEnvironment(known, installing.container_maker(known))
