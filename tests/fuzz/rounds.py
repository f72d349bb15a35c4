"""Fuzzing for a bounded time: rounds of random examples until the time is up.

`make test` runs one short round per target, so that a target never rots; `make fuzz`
(HYPOTHESIS_PROFILE=fuzz) runs each for `TASKLOOM_FUZZ_SECONDS`, 20 by default, with other seeds in every run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy, tuples

FUZZING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
SECONDS = float(os.environ.get("TASKLOOM_FUZZ_SECONDS", "20")) if FUZZING else 0.0
EXAMPLES = 400 if FUZZING else 60


def fuzz(target: Callable[..., None], *strategies: SearchStrategy[object], examples: int = EXAMPLES) -> None:
    """Call `target` with examples from `strategies` until the time is up; at least one round."""
    stop = time.monotonic() + SECONDS
    round_number = int(time.time()) if FUZZING else 0
    while True:
        run = given(tuples(*strategies))(lambda values: target(*values))
        checked = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(seed(round_number)(run))
        checked()
        round_number += 1
        if time.monotonic() >= stop:
            return
