"""Alerts: what somebody should look at, posted to an address as JSON and, on request, made an event of
Prefect's server."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from taskloom.flows.errors import CommandError
from taskloom.flows.setting_groups.watching_settings import WatchingSettings
from taskloom.flows.watching.run_logs import RUN_LOG

AlertKind = Literal["gate-failed", "budget-reached", "provider-paused", "run-failed"]

_POST_SECONDS = 10.0


@dataclass(slots=True)
class Alerts:
    """Tells each thing once per run."""

    run_id: str
    flow: str
    address: str = field(repr=False)
    """Where alerts are posted; nowhere if empty."""
    events: bool
    """Whether they also become events of Prefect."""
    told: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, settings: WatchingSettings, run_id: str, flow: str) -> Alerts:
        """Alerts as the settings want them.

        Raises:
            CommandError: the environment holds no usable address.
        """
        return cls(run_id, flow, alert_address(settings), settings.alert_events)

    @property
    def wanted(self) -> bool:
        """Whether anybody is told anything."""
        return bool(self.address) or self.events

    async def tell(self, kind: AlertKind, message: str, subject: str = "") -> None:
        """Tell about `subject`, unless it was told; what cannot be delivered is logged, and the run goes
        on."""
        if not self.wanted or (kind, subject) in self.told:
            return
        self.told.add((kind, subject))
        alert = {
            "event": f"taskloom.{kind}",
            "run_id": self.run_id,
            "flow": self.flow,
            "message": message,
            "subject": subject,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        RUN_LOG.warning(message, extra={"fields": {"event": alert["event"], "subject": subject}})
        if self.address:
            try:
                await asyncio.to_thread(_post, self.address, alert)
            except (OSError, ValueError) as error:
                reason = str(error).replace(self.address, "the address")
                RUN_LOG.error("an alert could not be posted: %s", reason)
        if self.events:
            from prefect.events import emit_event

            emit_event(
                alert["event"],
                resource={"prefect.resource.id": f"taskloom.run.{self.run_id}", "taskloom.flow": self.flow},
                payload=alert,
            )


def alert_address(settings: WatchingSettings) -> str:
    """The address that alerts are posted to; empty if there is none.

    Raises:
        CommandError: the environment holds no usable address.
    """
    name = settings.alert_variable
    if not name:
        return ""
    address = os.environ.get(name, "")
    if not address.startswith(("http://", "https://")):
        raise CommandError(
            f"watching.alert_variable is {name}, and the environment has no address under that name that"
            f" begins with http:// or https://; set {name}, or leave watching.alert_variable out"
        )
    return address


def _post(address: str, alert: dict[str, str]) -> None:
    request = urllib.request.Request(  # noqa: S310 - the address begins with http
        address, json.dumps(alert).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_POST_SECONDS):  # noqa: S310 - as above
        pass
