"""The benchmark of the harness runs, and both ways do the same number of steps."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from benchmarks.agent_harness import processor_seconds, rates

_BUSY = "import time; input()\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
"""Works for 0.3 s once it is told to, then waits."""


def test_both_ways_are_measured_in_turns() -> None:
    found = asyncio.run(rates(3, 1))
    assert found.keys() == {"directly", "with an agent"}
    assert all(len(paces) == 1 and paces[0].steps_a_second > 0 for paces in found.values())


def test_processor_time_counts_what_was_started() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as busy:
        assert busy.stdout is not None and busy.stdin is not None
        before = processor_seconds()
        busy.stdin.write(b"go\n")
        busy.stdin.flush()
        busy.stdout.readline()
        assert processor_seconds() - before >= 0.25
