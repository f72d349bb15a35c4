"""The cost of many tasks: a simulation that first reproduces a measured run, and then extrapolates.

One figure of the measured run, the seconds that an environment needs for a subtask of a replay, is used for
every performance. The simulation must then reproduce how long exploration, verification and replays of that
run took on its two cores; the results contain its error. Only then are larger datasets estimated.

    python -m benchmarks capacity
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.run import Figure

SIZES = (36_076, 1_000_000, 100_000_000)
"""The paper's number of tasks, and beyond."""
_DAY = 86_400.0
_TOLERANCE = 0.25
"""Maximum relative error of a simulated stage."""


@dataclass(frozen=True)
class MeasuredRun:
    """Counts and times of a run: `make run` on two cores of an idle machine, offline provider, 2026-11-22."""

    environments: int = 4
    applications_open: int = 10
    """Most applications open at once: 2.5 for each environment."""
    applications: int = 11
    subtasks: int = 55
    performances: int = 125
    tasks: int = 179
    replays: int = 59
    subtasks_replayed: int = 146
    replay_environment_seconds: float = 1124.9
    """Sum over all replays."""
    growing_seconds: float = 270.6
    """Wall time of exploration and verification."""
    covering_seconds: float = 387.1
    """Wall time of the replay of components."""
    making_seconds: float = 35.5
    """Wall time of intents, composition, validation and publishing."""
    bytes_stored: float = 101e6


MEASURED = MeasuredRun()


@dataclass(frozen=True)
class Job:
    """Work of one environment."""

    seconds: float
    """Its duration."""
    applications: int = 1
    """Number of open applications that it needs."""


def makespan(jobs: Sequence[Job], environments: int, room: int) -> float:
    """Seconds until all jobs are done, started in order by `environments` environments with room for `room`
    open applications.

    A job that does not fit waits, together with all later ones; one that needs more than the room waits until
    it has all of it.

    >>> makespan([Job(2), Job(2), Job(2)], 2, 10)
    4.0
    >>> makespan([Job(2, 6), Job(2, 6)], 2, 10)
    4.0
    """
    now, free, opened = 0.0, environments, 0
    running: list[tuple[float, int]] = []
    for job in jobs:
        while not (free and (not opened or opened + job.applications <= room)):
            now, applications = heapq.heappop(running)
            free, opened = free + 1, opened - applications
        heapq.heappush(running, (now + job.seconds, job.applications))
        free, opened = free - 1, opened + job.applications
    return max((end for end, _ in running), default=now)


def spread_over(total: int, parts: int, generator: Random) -> list[int]:
    """Random whole numbers of at least 1 with the sum `total`.

    >>> sum(spread_over(146, 59, Random(0)))
    146
    """
    numbers = [1] * parts
    for _ in range(total - parts):
        numbers[generator.randrange(parts)] += 1
    return numbers


def simulated_growing(run: MeasuredRun, seed: int = 0) -> float:
    """Seconds for exploration and verification: one start of every application, then all performances."""
    generator, each = Random(seed), run.replay_environment_seconds / run.subtasks_replayed
    jobs = [Job(each * _variation(generator)) for _ in range(run.applications + run.performances)]
    return makespan(jobs, run.environments, run.applications_open)


def simulated_covering(run: MeasuredRun, seed: int = 0) -> float:
    """Seconds for the replays of components, with one application for each subtask, as in most tasks."""
    generator, each = Random(seed), run.replay_environment_seconds / run.subtasks_replayed
    sizes = sorted(spread_over(run.subtasks_replayed, run.replays, generator), reverse=True)
    jobs = [Job(size * each * _variation(generator), size) for size in sizes]
    return makespan(jobs, run.environments, run.applications_open)


def _variation(generator: Random) -> float:
    """A random factor for a performance: log-normal with mean 1 and standard deviation of about one half."""
    return generator.lognormvariate(-0.11, 0.47)


@dataclass(frozen=True)
class Calls:
    """Model calls for one item, with their tokens."""

    calls: float
    input_tokens: float
    cached_share: float
    output_tokens: float


STEPS = 5.0
"""Measured steps of a performance."""
PER_SUBTASK = {
    "actor": Calls(STEPS * MEASURED.performances / MEASURED.subtasks, 3_270, 0.38, 250),
    "evaluation writer": Calls(1.6, 13_070, 0.73, 700),
    "explorer": Calls(2 * MEASURED.applications / MEASURED.subtasks, 5_270, 0.55, 4_000),
}
"""Input tokens, and the share that a prefix cache would hold, as recorded on an unprepared application
(decisions 203 and 213); numbers of calls and output tokens are the rough figures of `--dry-run`."""
PER_TASK = {
    "summarizer": Calls(1.2, 640, 0.0, 300),
    "dependency judge": Calls(1.2, 460, 0.0, 250),
}
INPUT_USD, CACHED_USD, OUTPUT_USD = 3.0, 0.3, 15.0
"""Prices per million tokens, those of a large model."""
PARTS_PER_TASK = MEASURED.replays / MEASURED.tasks
"""Distinct components to replay per task: an upper bound, since components recur in larger datasets."""
TASKS_PER_SUBTASK = 36_076 / 255
"""The paper's ratio of 36,076 tasks to 255 subtasks, also assumed for larger datasets, whose pool must grow
accordingly."""
BYTES_PER_TASK = 404 * 2**20 / 1_000_000
"""Size of a task with its graph, from a million tasks that were written."""
COMPOSING_SECONDS = 1.07e-3
"""Processor time to compose and write a task, from the same million."""


@dataclass(frozen=True)
class Estimate:
    """The cost of a dataset."""

    tasks: int
    subtasks: float
    environment_days: float
    """Days of one environment, for verification and the replay of every component."""
    core_days: float
    """The same in days of one core, at two environments per core."""
    composing_core_days: float
    calls: float
    tokens: float
    usd: float
    gigabytes: float

    def days_on(self, machines: int, cores: int = 16) -> float:
        """Days on a number of machines."""
        return (self.core_days + self.composing_core_days) / (machines * cores)


def estimate(tasks: int) -> Estimate:
    """The estimate, from the measured cost of each item."""
    run = MEASURED
    each = run.replay_environment_seconds / run.subtasks_replayed
    subtasks = max(tasks / TASKS_PER_SUBTASK, 255)
    performed = subtasks * run.performances / run.subtasks
    replayed = tasks * PARTS_PER_TASK * run.subtasks_replayed / run.replays
    days = (performed + replayed) * each / _DAY
    calls = tokens = usd = 0.0
    for items, kinds in ((subtasks, PER_SUBTASK), (tasks, PER_TASK)):
        for kind in kinds.values():
            number = items * kind.calls
            cached = kind.input_tokens * kind.cached_share
            calls += number
            tokens += number * (kind.input_tokens + kind.output_tokens)
            usd += (
                number
                * (
                    (kind.input_tokens - cached) * INPUT_USD
                    + cached * CACHED_USD
                    + kind.output_tokens * OUTPUT_USD
                )
                / 1e6
            )
    recordings = run.bytes_stored / (run.performances + run.subtasks_replayed)
    return Estimate(
        tasks=tasks,
        subtasks=subtasks,
        environment_days=days,
        core_days=days / 2,
        composing_core_days=tasks * COMPOSING_SECONDS / _DAY,
        calls=calls,
        tokens=tokens,
        usd=usd,
        gigabytes=(tasks * BYTES_PER_TASK + (performed + replayed) * recordings) / 1e9,
    )


def table() -> str:
    """The estimates as a table for docs/capacity.md."""
    lines = [
        (
            "| tasks | subtasks | environments | cores | 16 cores | 100 machines of 16 | model calls | tokens"
            " | price | stored |"
        ),
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for tasks in SIZES:
        cost = estimate(tasks)
        lines.append(
            f"| {tasks:,} | {cost.subtasks:,.0f} | {_time(cost.environment_days)} |"
            f" {_time(cost.core_days)} | {_time(cost.days_on(1))} | {_time(cost.days_on(100))} |"
            f" {cost.calls:,.0f} | {cost.tokens / 1e9:,.2f} billion | ${cost.usd:,.0f} |"
            f" {cost.gigabytes:,.0f} GB |"
        )
    return "\n".join(lines)


def _time(days: float) -> str:
    """Days in words, in hours or minutes if there are few.

    >>> _time(2.0), _time(0.5), _time(0.01)
    ('2.0 days', '12.0 h', '14 min')
    """
    if days >= 1:
        return f"{days:,.1f} days"
    return f"{days * 24:.1f} h" if days * 24 >= 1 else f"{days * 1440:.0f} min"


def figures(quick: bool = False) -> list[Figure]:
    """The accuracy of the simulation, and the cost of larger datasets."""
    results = []
    for name, simulated, measured in (
        ("exploration and verification", simulated_growing, MEASURED.growing_seconds),
        ("replay of components", simulated_covering, MEASURED.covering_seconds),
    ):
        seeds = range(3 if quick else 25)
        ratio = sum(simulated(MEASURED, seed) for seed in seeds) / len(seeds) / measured
        results.append(
            Figure(
                f"{name}, simulated against measured",
                ratio,
                "times",
                f"{1 - _TOLERANCE:.2f} to {1 + _TOLERANCE:.2f}",
                abs(ratio - 1) <= _TOLERANCE,
                f"make run on two cores: {measured:.0f} s",
            )
        )
    for tasks in SIZES:
        cost = estimate(tasks)
        results.append(
            Figure(
                f"cores for {tasks:,} tasks",
                cost.core_days,
                "days of a core",
                note=(
                    f"{cost.subtasks:,.0f} subtasks, {cost.calls:,.0f} model calls, ${cost.usd:,.0f},"
                    f" {cost.gigabytes:,.0f} GB"
                ),
            )
        )
    return results
