"""Settings of the web browser platform."""

from pathlib import Path

from pydantic import Field

from taskloom.environments.machines.bubblewrap import Isolation
from taskloom.environments.task_bar import TASK_BAR_HEIGHT
from taskloom.resources.record import Record

SCREEN_SIZE = (1280, 800)
"""Width and height of the screen, task bar included, in pixels."""
PAGE_SIZE = (SCREEN_SIZE[0], SCREEN_SIZE[1] - TASK_BAR_HEIGHT)
"""Width and height of the page: the screen without the task bar, in pixels."""


class WebBrowserSettings(Record):
    """How environments of the platform `web_browser` are made."""

    data_folder: Path
    """Folder with the installed applications, the prepared states and, if there is no other, the browser."""
    browser_executable: Path | None = None
    """Browser to start; None looks for one on the machine."""
    isolation: Isolation = "automatic"
    """Whether the servers of applications run inside bubblewrap."""
    action_limit_seconds: float = Field(default=30.0, gt=0, le=120)
    """How long one input or one look at the page may take before the page counts as hung."""
    temporary_folder: Path | None = None
    """Where sandbox homes are made; None means the system's temporary folder."""
