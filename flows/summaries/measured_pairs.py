"""What performing pairs of subtasks in both orders showed."""

from __future__ import annotations

import asyncio

from taskloom.flows.wiring import Run
from taskloom.resources.record import Record
from taskloom.synthesis.replay.order_facts import clashes
from taskloom.taskgraph.records.order_fact import OrderFact

_MOST_CLASHES = 10
"""Orders that the summary names."""


class PairsMeasured(Record):
    """What performing pairs of subtasks in both orders showed."""

    observations: int
    """Orders of two subtasks that this run performed."""
    clashes: tuple[str, ...] = ()
    """Orders that never worked, in this run or an earlier one."""

    def lines(self) -> list[str]:
        """The findings as text, the first few of them by name."""
        measured = (
            f"{self.observations} observations by this run"
            if self.observations
            else (
                "nothing left to measure: no two verified subtasks of one application touch the same place,"
                " or all are known"
            )
        )
        found = [
            measured,
            f"{len(self.clashes)} orders never worked, so tasks avoid them",
            *self.clashes[:_MOST_CLASHES],
        ]
        if len(self.clashes) > _MOST_CLASHES:
            found.append("…")
        return [*found, "all of them: taskloom sql orders"]


async def pairs_measured(run: Run, observations: int) -> PairsMeasured:
    """What is known about orders of two subtasks after `run` made so many observations."""
    never = await asyncio.to_thread(lambda: sorted(clashes(run.warehouse.read(OrderFact))))
    return PairsMeasured(
        observations=observations, clashes=tuple(f"{second} after {first}" for first, second in never)
    )
