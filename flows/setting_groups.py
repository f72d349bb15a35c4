"""Settings of a run that belong together: the fan-out, the gates, nights."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from taskloom.resources.record import Record


class FanOutSettings(Record):
    """Where the items of a run are done."""

    runner: Literal["threads", "dask"] = "threads"
    """`threads`: in the process of the run; `dask`: in worker processes of Dask, which perform, validate,
    replay and let agents attempt tasks."""
    workers: int = Field(default=2, ge=1, le=256)
    """Worker processes that are started on this machine, each with as many environments as `environments`
    says; with 0, with an equal part of two per core."""
    scheduler: str = ""
    """Address of a Dask scheduler that runs already, such as `tcp://scheduler.example:8786`, whose workers
    are used instead."""
    host: str = "127.0.0.1"
    """Address of this machine at which workers reach the run; needed if `scheduler` has workers on other
    machines."""
    losses: int = Field(default=10, ge=1)
    """How many workers in a row an item may lose before the run stops."""


class GateSettings(Record):
    """What must hold of a version for it to be published; a share of 1 lets everything pass."""

    fewest_tasks: int = Field(default=0, ge=0)
    """Fewest validated tasks of a version."""
    tasks_lost: float = Field(default=0.1, ge=0, le=1)
    """By which share the validated tasks may have become fewer than in the version before."""
    subtasks_lost: float = Field(default=0.2, ge=0, le=1)
    """By which share the verified subtasks may have become fewer."""
    task_rejections: float = Field(default=0.3, ge=0, le=1)
    """How much larger the share of rejected tasks may be, among those made since the version before, than in
    that version."""
    subtask_rejections: float = Field(default=0.3, ge=0, le=1)
    """The same of proposed subtasks."""
    judge_misses: float = Field(default=0.2, ge=0, le=1)
    """The same of spoilt instructions that the judge did not notice. `validation.minimum_hits` is the limit
    without a comparison."""
    replay_failures: float = Field(default=0.3, ge=0, le=1)
    """The same of replays that failed."""
    variety_lost: float = Field(default=0.15, ge=0, le=1)
    """How much larger the self-BLEU-4 of the new instructions may be than that of as many of the version
    before."""
    fewest_compared: int = Field(default=20, ge=1)
    """Of how many items a share is compared at least, of the new ones and of the version before."""


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
