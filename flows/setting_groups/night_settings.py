"""What makes a build a night."""

from __future__ import annotations

from pydantic import Field

from taskloom.resources.record import Record


class NightSettings(Record):
    """Settings of nights: builds that grow a dataset by themselves."""

    enabled: bool = False
    """Whether a build is a night (`taskloom build --night`): it explores only what is new or changed,
    re-verifies a share of what is verified, and composes what the dataset lacks of `composition`, which then
    says how many tasks the dataset should hold in all."""
    recheck_share: float = Field(default=0.05, ge=0, le=1)
    """Share of the verified subtasks that a night performs again, those first whose last time is longest ago;
    where one fails, all others of its application are performed too. 0 performs none."""
    recheck_attempts: int = Field(default=2, ge=1)
    """How often a subtask must fail in a night before it is retired."""
    explore_for_shortage: bool = True
    """Whether an unchanged application is explored again, once, when the last composition was short of
    something else than when it was explored. Only a model that plays the explorer can make use of it."""
