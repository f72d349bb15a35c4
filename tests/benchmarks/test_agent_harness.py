"""The benchmark of the harness runs, and both ways do the same number of steps."""

from __future__ import annotations

import asyncio

from benchmarks.agent_harness import rates


def test_both_ways_are_measured_in_turns() -> None:
    found = asyncio.run(rates(3, 1))
    assert found.keys() == {"directly", "with an agent"}
    assert all(len(times) == 1 and times[0] > 0 for times in found.values())
