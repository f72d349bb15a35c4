"""The benchmark of the harness runs, and both ways do the same number of steps."""

from __future__ import annotations

import asyncio

from benchmarks.agent_harness import rates


def test_both_ways_are_measured_in_turns() -> None:
    raw, ours = asyncio.run(rates(3, 1))
    assert len(raw) == len(ours) == 1
    assert raw[0] > 0 and ours[0] > 0
