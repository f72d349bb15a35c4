"""Settings of the web browser platform."""

from pathlib import Path

from pydantic import Field

from taskloom.environments.machines.bubblewrap import Isolation
from taskloom.environments.task_bar import TASK_BAR_HEIGHT
from taskloom.resources.record import Record


class WebBrowserSettings(Record):
    """How environments of the platform `web_browser` are made."""

    data_folder: Path
    """Folder that holds the installed applications, the prepared states and, where there is no other, the
    browser."""
    browser_executable: Path | None = None
    """Browser to start; None looks for one on the machine."""
    isolation: Isolation = "automatic"
    """Whether the servers of applications run inside bubblewrap."""
    headless: bool = True
    """Whether the browser draws without a display."""
    screen_width: int = Field(default=1280, ge=400, le=4096)
    """Width of the screen, in pixels."""
    screen_height: int = Field(default=800, ge=300, le=4096)
    """Height of the screen, task bar included, in pixels."""
    quiet_milliseconds: int = Field(default=70, ge=10, le=2000)
    """How long a page must not change to count as settled."""
    delayed_work_milliseconds: int = Field(default=500, ge=0, le=10_000)
    """How far ahead work that a page put off by a timer is waited for before the screen counts as settled."""
    motion_limit_seconds: float = Field(default=0.8, gt=0, le=30)
    """How long a page that never stops changing is waited for."""
    network_limit_seconds: float = Field(default=4.0, gt=0, le=60)
    """How long requests under way are waited for."""
    action_limit_seconds: float = Field(default=30.0, gt=0, le=120)
    """How long one input or one look at the page may take before the page counts as hung."""
    temporary_folder: Path | None = None
    """Where sandbox homes are made; None is the system's folder for temporary files."""

    @property
    def page_height(self) -> int:
        """What the task bar leaves of the screen for the page, in pixels."""
        return self.screen_height - TASK_BAR_HEIGHT
