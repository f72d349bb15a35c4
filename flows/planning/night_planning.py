"""`--night --dry-run`: what a night would explore, perform again and compose, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping

from taskloom.flows.nights.choices import night_choice
from taskloom.flows.nights.fingerprints import fingerprint_of
from taskloom.flows.nights.standing_quota import cells_held, still_wanted
from taskloom.flows.pool.known_pool import load_verified
from taskloom.flows.pool.pool_memory import wishes_of
from taskloom.flows.settings import Settings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.warehouse.errors import WarehouseMissingError
from taskloom.warehouse.store import Warehouse


class PlannedNight(Record):
    """What a night that began now would decide."""

    explored: dict[str, str]
    """Applications that it would explore, with the reason."""
    left: dict[str, str]
    """Applications that it would leave as they are, with the reason."""
    verified: int
    """Verified subtasks that the dataset has."""
    rechecked: int
    """How many of them it would perform again, if all of these still replay."""
    held: int
    """Valid tasks that the dataset has."""
    tasks: int
    """Tasks that it would compose."""

    def describe(self) -> list[str]:
        """The decisions as lines of text."""
        return [
            (
                f"night: performs {self.rechecked} of {self.verified} verified subtasks again, explores"
                f" {len(self.explored)} of {len(self.explored) + len(self.left)} applications, composes"
                f" {self.tasks} tasks beside {self.held} valid ones"
            ),
            *(f"  explores {name}: {reason}" for name, reason in self.explored.items()),
            *(f"  leaves {name}: {reason}" for name, reason in self.left.items()),
        ]


def plan_night(settings: Settings, applications: Mapping[str, Application]) -> PlannedNight:
    """The decisions of a night over the dataset as it is; one that was interrupted and would be resumed is
    not taken into account.

    Raises:
        WarehouseError: the warehouse cannot be read.
    """
    try:
        with Warehouse(settings.warehouse_location, read_only=True) as warehouse:
            return _planned(settings, applications, warehouse)
    except WarehouseMissingError:
        reason = "it is new: there is no dataset yet"
        return PlannedNight(
            explored=dict.fromkeys(applications, reason),
            left={},
            verified=0,
            rechecked=0,
            held=0,
            tasks=settings.composition.wanted,
        )


def _planned(
    settings: Settings, applications: Mapping[str, Application], warehouse: Warehouse
) -> PlannedNight:
    wishes = wishes_of(warehouse, "")
    explored: dict[str, str] = {}
    left: dict[str, str] = {}
    for name, application in applications.items():
        chosen, reason = night_choice(warehouse, name, fingerprint_of(application, settings, wishes))
        (explored if chosen else left)[name] = reason
    verified = len(load_verified(warehouse, applications))
    cells = cells_held(warehouse, "")
    wanted = still_wanted(settings.composition, cells)
    return PlannedNight(
        explored=explored,
        left=left,
        verified=verified,
        rechecked=math.ceil(settings.nights.recheck_share * verified),
        held=len(cells),
        tasks=0 if wanted is None else wanted.wanted,
    )
