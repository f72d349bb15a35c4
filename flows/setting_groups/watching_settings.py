"""What a run tells others while it goes on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from taskloom.resources.record import Record


class WatchingSettings(Record):
    """What a run tells others while it goes on."""

    logs: Literal["off", "text", "json"] = "off"
    """Log lines on standard error about stages, alerts and warnings: for people, or one JSON object per
    line."""
    progress_seconds: float = Field(default=30, ge=0)
    """Time between two updates of the artifact `progress`, which shows a run's progress in Prefect's UI; 0
    for none."""
    alert_variable: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    """Environment variable with the address that alerts are posted to, as JSON; an address is often a secret,
    so it does not stand here."""
    alert_events: bool = False
    """Whether alerts also become events of Prefect's server, which automations act on."""
