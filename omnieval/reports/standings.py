"""The figures of an experiment: per agent, over all tasks, per capability and per level."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean, pstdev

from taskloom.omnieval.reports.statistics import Interval, interval, paired, pass_all, pass_at, ratio
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.measures.complexity import cell_of
from taskloom.taskgraph.records.agent_run import AgentRun, Comparison, Standing
from taskloom.taskgraph.records.task import Task

ALL = "all"
"""The group of all tasks."""
COMPARED = ("success", "coverage_rate", "logical_consistency")
"""Metrics in which agents are compared with each other."""


@dataclass(frozen=True, slots=True)
class ScoredAttempt:
    """A valid attempt with its task and what the metrics say of it."""

    run: AgentRun
    task: Task
    scores: Mapping[str, float | None]


def standings(attempts: Iterable[ScoredAttempt]) -> tuple[Standing, ...]:
    """All figures of all agents, with intervals over tasks."""
    found: list[Standing] = []
    for agent, own in by_agent(attempts).items():
        for group, members in _groups(own).items():
            for metric in sorted({name for item in members for name in item.scores}):
                found.append(_standing(agent, group, metric, *_mean(members, metric)))
            if group == ALL:
                for further in (_repeated, _per_success, _variants, _chains):
                    found += further(agent, members)
    return tuple(item for item in found if item.tasks)


def comparisons(attempts: Iterable[ScoredAttempt]) -> tuple[Comparison, ...]:
    """Every two agents over the tasks that both attempted."""
    own = by_agent(attempts)
    found = []
    for metric in COMPARED:
        values = {agent: _per_task(made, metric) for agent, made in own.items()}
        for first, second in combinations(own, 2):
            difference = paired(values[first], values[second])
            if difference is not None:
                ends = {"low": difference.low, "high": difference.high, "p_value": difference.p_value}
                whose = {"first": first, "second": second, "metric": metric}
                tasks = len(values[first].keys() & values[second].keys())
                found.append(Comparison(**whose, **ends, difference=difference.value, tasks=tasks))
    return tuple(found)


def by_agent(attempts: Iterable[ScoredAttempt]) -> dict[str, list[ScoredAttempt]]:
    """The attempts of each agent."""
    found: dict[str, list[ScoredAttempt]] = defaultdict(list)
    for item in attempts:
        found[item.run.agent].append(item)
    return dict(found)


def _groups(attempts: Sequence[ScoredAttempt]) -> dict[str, list[ScoredAttempt]]:
    """All attempts; those at tasks of a capability; those at tasks of a level, easy ones first."""
    found: dict[str, list[ScoredAttempt]] = {ALL: list(attempts)}
    for item in attempts:
        for capability in item.task.capabilities:
            found.setdefault(capability, []).append(item)
    for position, dimension in enumerate(DIMENSIONS):
        for level in LEVELS:
            members = [item for item in attempts if cell_of(item.task.complexity)[position] == level]
            if members:
                found[f"{dimension} {level}"] = members
    return found


def _per_task(attempts: Iterable[ScoredAttempt], metric: str) -> dict[str, float]:
    """Mean over the attempts at each task for which the metric is defined."""
    values: dict[str, list[float]] = defaultdict(list)
    for item in attempts:
        value = item.scores.get(metric)
        if value is not None:
            values[item.task.task_id].append(value)
    return {name: fmean(given) for name, given in values.items()}


def _mean(attempts: Iterable[ScoredAttempt], metric: str) -> tuple[Interval | None, int]:
    values = _per_task(attempts, metric)
    return interval(list(values.values())), len(values)


def _repeated(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """pass@k and pass^k for every k up to the number of repeats; of a task that is told in several ways, the
    mean over them, as only attempts at the same instruction are repeats."""
    tries: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for item in attempts:
        tries[item.task.task_id, item.run.variant].append(item.run.success)
    for k in range(1, max((len(given) for given in tries.values()), default=0) + 1):
        for name, chance in ((f"pass@{k}", pass_at), (f"pass^{k}", pass_all)):
            values: dict[str, list[float]] = defaultdict(list)
            for (task, _), given in tries.items():
                value = chance(sum(given), len(given), k)
                if value is not None:
                    values[task].append(value)
            defined = [fmean(found) for found in values.values()]
            yield _standing(agent, ALL, name, interval(defined), len(defined))


def _per_success(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """What a success takes: everything spent, failures included, over the successes."""
    tasks = sorted({item.task.task_id for item in attempts})
    wins = dict.fromkeys(tasks, 0.0)
    for item in attempts:
        wins[item.task.task_id] += item.run.success
    amounts: dict[str, Callable[[AgentRun], float]] = {
        "steps_per_success": lambda run: float(run.steps),
        "usd_per_success": lambda run: run.provenance.cost_usd,
        "tokens_per_success": lambda run: float(run.input_tokens + run.output_tokens),
        "seconds_per_success": lambda run: run.decision_seconds + run.environment_seconds,
    }
    for name, amount in amounts.items():
        taken = dict.fromkeys(tasks, 0.0)
        for item in attempts:
            taken[item.task.task_id] += amount(item.run)
        if any(taken.values()):
            found = ratio([taken[task] for task in tasks], [wins[task] for task in tasks])
            yield _standing(agent, ALL, name, found, len(tasks))


def _variants(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """Coverage rate per instruction; and its mean standard deviation over the orders of telling (Table 8)."""
    by_variant: dict[str, list[ScoredAttempt]] = defaultdict(list)
    orders: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in attempts:
        by_variant[item.run.variant].append(item)
        if item.run.variant == "high" or item.run.variant.startswith("order "):
            orders[item.task.task_id][item.run.variant].append(item.run.coverage_rate)
    if len(by_variant) > 1:
        for variant, members in sorted(by_variant.items()):
            yield _standing(agent, f"told {variant}", "coverage_rate", *_mean(members, "coverage_rate"))
    spread = [
        100 * pstdev([fmean(values) for values in told.values()]) for told in orders.values() if len(told) > 1
    ]
    if spread:
        yield _standing(agent, ALL, "sensitivity", interval(spread), len(spread))


def _chains(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """Tasks and their chain twins, of pairs that were both attempted (Figure 7)."""
    there = {item.task.task_id for item in attempts}
    twins = {item.task.task_id: item.task.twin_of for item in attempts if item.task.twin_of in there}
    chains = [item for item in attempts if item.task.task_id in twins]
    graphs = [item for item in attempts if item.task.task_id in set(twins.values())]
    for group, members in (("chain twins", chains), ("graph twins", graphs)):
        if members:
            yield _standing(agent, group, "coverage_rate", *_mean(members, "coverage_rate"))
            yield _standing(agent, group, "success", *_mean(members, "success"))


def _standing(agent: str, group: str, metric: str, found: Interval | None, tasks: int) -> Standing:
    figure = {**asdict(found), "tasks": tasks} if found else {}
    return Standing(agent=agent, metric=metric, group=group, **figure)
