"""Settings of the fan-out."""

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
    says."""
    scheduler: str = ""
    """Address of a Dask scheduler that runs already, such as `tcp://scheduler.example:8786`, whose workers
    are used instead."""
    host: str = "127.0.0.1"
    """Address of this machine at which workers reach the run; needed if `scheduler` has workers on other
    machines."""
    losses: int = Field(default=10, ge=1)
    """How many workers in a row an item may lose before the run stops."""
