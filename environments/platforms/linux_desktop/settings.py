"""Settings of the Linux desktop platform."""

from pathlib import Path

from pydantic import Field

from taskloom.environments.machines.engine import EngineName
from taskloom.environments.task_bar import TASK_BAR_HEIGHT
from taskloom.resources.record import Record


class LinuxDesktopSettings(Record):
    """How environments of the platform `linux_desktop` are made."""

    data_folder: Path
    """Folder that records which image is installed."""
    engine: EngineName = "automatic"
    """Container engine."""
    machines_ahead: int = Field(default=1, ge=0, le=4)
    """Machines kept ready for the next resets of an environment."""
    machine_memory: str = Field(default="2g", pattern=r"^\d+[mg]$")
    """Memory limit of a machine."""
    screen_width: int = Field(default=1280, ge=640, le=4096)
    """Width of the screen, in pixels."""
    screen_height: int = Field(default=800, ge=480, le=4096)
    """Height of the screen, task bar included, in pixels."""
    temporary_folder: Path | None = None
    """Where environment folders are made; None means the system's temporary folder."""

    @property
    def screen_size(self) -> tuple[int, int]:
        """Width and height of the whole screen."""
        return (self.screen_width, self.screen_height)

    @property
    def display_size(self) -> tuple[int, int]:
        """Width and height of the machine's display, without the task bar."""
        return (self.screen_width, self.screen_height - TASK_BAR_HEIGHT)
