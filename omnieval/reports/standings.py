"""The figures of an experiment: per agent, over all tasks, per capability and per level."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean, pstdev

from taskloom.omnieval.reports.statistics import (
    Interval,
    interval,
    paired_difference,
    pass_all,
    pass_at,
    ratio,
)
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.measures.complexity import cell_of
from taskloom.taskgraph.records.agent_run import AgentRun, Comparison, Standing
from taskloom.taskgraph.records.task import Task

ALL = "all"
"""The group of all tasks."""
COMPARED = ("success", "coverage_rate", "logical_consistency")
"""Metrics by which agents are compared with each other."""


@dataclass(frozen=True, slots=True)
class ScoredAttempt:
    """A valid attempt with its task and its scores by metric."""

    run: AgentRun
    task: Task
    scores: Mapping[str, float | None]


def standings(attempts: Iterable[ScoredAttempt]) -> tuple[Standing, ...]:
    """All figures of all agents, with intervals over tasks."""
    figures: list[Standing] = []
    for agent, own in by_agent(attempts).items():
        for group, members in _groups(own).items():
            for metric in sorted({name for item in members for name in item.scores}):
                figures.append(_standing(agent, group, metric, *_mean(members, metric)))
            if group == ALL:
                for further in (_repeat_standings, _success_costs, _variant_standings, _twin_standings):
                    figures += further(agent, members)
    return tuple(item for item in figures if item.tasks)


def comparisons(attempts: Iterable[ScoredAttempt]) -> tuple[Comparison, ...]:
    """Every pair of agents, compared over the tasks that both attempted."""
    grouped = by_agent(attempts)
    pairs = []
    for metric in COMPARED:
        values = {agent: _per_task(own, metric) for agent, own in grouped.items()}
        for first, second in combinations(grouped, 2):
            difference = paired_difference(values[first], values[second])
            if difference is not None:
                agents = {"first": first, "second": second, "metric": metric}
                ends = {"low": difference.low, "high": difference.high, "p_value": difference.p_value}
                tasks = len(values[first].keys() & values[second].keys())
                pairs.append(Comparison(**agents, **ends, difference=difference.value, tasks=tasks))
    return tuple(pairs)


def by_agent(attempts: Iterable[ScoredAttempt]) -> dict[str, list[ScoredAttempt]]:
    """The attempts of each agent."""
    grouped: dict[str, list[ScoredAttempt]] = defaultdict(list)
    for item in attempts:
        grouped[item.run.agent].append(item)
    return dict(grouped)


def _groups(attempts: Sequence[ScoredAttempt]) -> dict[str, list[ScoredAttempt]]:
    """All attempts, then those per capability, then those per level of each dimension, easy levels first."""
    groups: dict[str, list[ScoredAttempt]] = {ALL: list(attempts)}
    for item in attempts:
        for capability in item.task.capabilities:
            groups.setdefault(capability, []).append(item)
    for position, dimension in enumerate(DIMENSIONS):
        for level in LEVELS:
            members = [item for item in attempts if cell_of(item.task.complexity)[position] == level]
            if members:
                groups[f"{dimension} {level}"] = members
    return groups


def _per_task(attempts: Iterable[ScoredAttempt], metric: str) -> dict[str, float]:
    """Mean over the attempts at each task, without undefined values."""
    values: dict[str, list[float]] = defaultdict(list)
    for item in attempts:
        value = item.scores.get(metric)
        if value is not None:
            values[item.task.task_id].append(value)
    return {name: fmean(scores) for name, scores in values.items()}


def _mean(attempts: Iterable[ScoredAttempt], metric: str) -> tuple[Interval | None, int]:
    values = _per_task(attempts, metric)
    return interval(list(values.values())), len(values)


def _repeat_standings(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """pass@k and pass^k for every k up to the number of repeats; for a task with several instructions, the
    mean over them, as only attempts at the same instruction are repeats."""
    successes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for item in attempts:
        successes[item.task.task_id, item.run.variant].append(item.run.success)
    for k in range(1, max((len(repeats) for repeats in successes.values()), default=0) + 1):
        for name, chance in ((f"pass@{k}", pass_at), (f"pass^{k}", pass_all)):
            chances: dict[str, list[float]] = defaultdict(list)
            for (task, _), repeats in successes.items():
                value = chance(sum(repeats), len(repeats), k)
                if value is not None:
                    chances[task].append(value)
            means = [fmean(values) for values in chances.values()]
            yield _standing(agent, ALL, name, interval(means), len(means))


def _success_costs(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """The cost of a success: everything spent, including on failures, divided by the successes."""
    tasks = sorted({item.task.task_id for item in attempts})
    successes = dict.fromkeys(tasks, 0.0)
    for item in attempts:
        successes[item.task.task_id] += item.run.success
    amounts: dict[str, Callable[[AgentRun], float]] = {
        "steps_per_success": lambda run: float(run.steps),
        "usd_per_success": lambda run: run.provenance.cost_usd,
        "tokens_per_success": lambda run: float(run.input_tokens + run.output_tokens),
        "seconds_per_success": lambda run: run.decision_seconds + run.environment_seconds,
    }
    for name, amount in amounts.items():
        spent = dict.fromkeys(tasks, 0.0)
        for item in attempts:
            spent[item.task.task_id] += amount(item.run)
        if any(spent.values()):
            per_success = ratio([spent[task] for task in tasks], [successes[task] for task in tasks])
            yield _standing(agent, ALL, name, per_success, len(tasks))


def _variant_standings(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """Coverage rate per instruction variant, and its mean standard deviation over the orders (Table 8)."""
    by_variant: dict[str, list[ScoredAttempt]] = defaultdict(list)
    orders: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in attempts:
        by_variant[item.run.variant].append(item)
        if item.run.variant == "high" or item.run.variant.startswith("order "):
            orders[item.task.task_id][item.run.variant].append(item.run.coverage_rate)
    if len(by_variant) > 1:
        for variant, members in sorted(by_variant.items()):
            yield _standing(agent, f"told {variant}", "coverage_rate", *_mean(members, "coverage_rate"))
    deviations = [
        100 * pstdev([fmean(rates) for rates in by_order.values()])
        for by_order in orders.values()
        if len(by_order) > 1
    ]
    if deviations:
        yield _standing(agent, ALL, "sensitivity", interval(deviations), len(deviations))


def _twin_standings(agent: str, attempts: Sequence[ScoredAttempt]) -> Iterator[Standing]:
    """Tasks and their chain twins, if both were attempted (Figure 7)."""
    attempted = {item.task.task_id for item in attempts}
    twins = {item.task.task_id: item.task.twin_of for item in attempts if item.task.twin_of in attempted}
    chains = [item for item in attempts if item.task.task_id in twins]
    graphs = [item for item in attempts if item.task.task_id in set(twins.values())]
    for group, members in (("chain twins", chains), ("graph twins", graphs)):
        if members:
            yield _standing(agent, group, "coverage_rate", *_mean(members, "coverage_rate"))
            yield _standing(agent, group, "success", *_mean(members, "success"))


def _standing(agent: str, group: str, metric: str, estimate: Interval | None, tasks: int) -> Standing:
    figure = {**asdict(estimate), "tasks": tasks} if estimate else {}
    return Standing(agent=agent, metric=metric, group=group, **figure)
