"""Deployments that one process serves itself: it makes the schedule known and starts the runs when they are
due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import prefect
from prefect.events import DeploymentEventTrigger
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType

from taskloom.flows.build_dataset import build_dataset
from taskloom.flows.export_test_set import export_test_set

NIGHTLY = "nightly"
AFTER_NIGHTLY = "after-nightly"


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is run when."""

    cron: str
    """When a dataset is built, as cron says it."""
    timezone: str
    """The time zone of `cron`."""
    settings_file: str
    folder: str
    """Folder of the test set that is exported after each build; nothing is exported if empty."""
    format_name: str


def serve_schedule(schedule: Schedule) -> None:
    """Make the deployments known to the server, and start their runs when they are due, until interrupted."""
    serving: Any = prefect.serve
    serving(*deployments(schedule), print_starting_message=False)


def deployments(schedule: Schedule) -> list[Any]:
    """The deployments of `schedule`."""
    parameters = {"settings_file": schedule.settings_file}
    building: Any = build_dataset.to_deployment
    found = [
        building(
            NIGHTLY,
            schedule=Cron(schedule.cron, timezone=schedule.timezone),
            parameters=parameters,
            description="Grows the pool and publishes the next dataset version.",
            concurrency_limit=1,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
    ]
    if schedule.folder:
        exporting: Any = export_test_set.to_deployment
        found.append(
            exporting(
                AFTER_NIGHTLY,
                parameters={**parameters, "folder": schedule.folder, "format_name": schedule.format_name},
                triggers=[after_nightly()],
                description="Replays and exports the tasks of the version that was just published.",
                entrypoint_type=EntrypointType.MODULE_PATH,
            )
        )
    return found


def after_nightly() -> DeploymentEventTrigger:
    """Fires whenever a run of the nightly deployment is completed."""
    return DeploymentEventTrigger(
        expect={"prefect.flow-run.Completed"},
        match_related={"prefect.resource.name": NIGHTLY, "prefect.resource.role": "deployment"},
    )
