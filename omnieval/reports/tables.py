"""The paper's tables for the measured agents, as rows of text: Table 4 (capabilities), Table 5 (levels with
drops), Table 8 (orders of the instruction), and those of a leaderboard."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from taskloom.omnieval.reports.standings import ALL, ScoredAttempt, by_agent
from taskloom.omnieval.reports.statistics import cohens_kappa, pearson
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.taskgraph.records.agent_run import AgentRun, Comparison, End, Standing

CRITIC: Final = "critic"
"""The critic's verdict, as a metric: whether the task is done."""
HUMAN: Final = {"coverage_rate": "human_completion", "logical_consistency": "human_alignment"}
"""The human score for each metric of the paper: 0 to 1, the mean over the annotators."""
_LATEX_ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%_#${}"}
    | {"^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "\\": r"\textbackslash{}"}
)
_MAIN_METRICS = ("success", "clean", "held", "answered", "coverage_rate", "logical_consistency")
_MAXIMUM_REASONS = 40
_Columns = Sequence[tuple[str, Callable[[str], str]]]
"""Headings, each with the function that returns an agent's cell."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table."""

    name: str
    """Base name of its files."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_csv(self) -> str:
        """The table as comma-separated values."""
        stream = io.StringIO()
        csv.writer(stream).writerows((self.columns, *self.rows))
        return stream.getvalue()

    def as_latex(self) -> str:
        """The table as a LaTeX `tabular` with booktabs rules."""
        cells = ((cell.translate(_LATEX_ESCAPES) for cell in row) for row in (self.columns, *self.rows))
        head, *lines = (" & ".join(row) + r" \\" for row in cells)
        align = "l" + "r" * (len(self.columns) - 1)
        body = "\n".join(lines)
        return (
            f"% {self.title}\n\\begin{{tabular}}{{{align}}}\n\\toprule\n{head}\n\\midrule\n{body}\n"
            "\\bottomrule\n\\end{tabular}\n"
        )


def tables(
    attempts: Sequence[ScoredAttempt],
    invalid: Sequence[AgentRun],
    figures: Sequence[Standing],
    compared: Sequence[Comparison],
) -> tuple[ReportTable, ...]:
    """Every table that has rows."""
    by_key = {(item.agent, item.metric, item.group): item for item in figures}
    cells = _Figures(by_key, tuple(dict.fromkeys(item.agent for item in figures)))
    candidates = (
        _leaderboard(cells, attempts),
        _ends(cells.agents, attempts, invalid),
        _comparisons(compared),
        _capabilities(cells),
        _levels(cells),
        _instruction_variants(cells),
        _twins(cells),
        _repeats(cells),
        _costs(cells, attempts),
        _reasons(attempts),
        _second_opinions(attempts),
    )
    return tuple(table for table in candidates if table.rows)


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures by agent, metric and group, as cells of tables."""

    by_key: Mapping[tuple[str, str, str], Standing]
    agents: tuple[str, ...]

    def has(self, metric: str, group: str = ALL) -> bool:
        return any((agent, metric, group) in self.by_key for agent in self.agents)

    def value(self, agent: str, metric: str, group: str = ALL) -> float | None:
        standing = self.by_key.get((agent, metric, group))
        return standing.value if standing else None

    def percent(self, metric: str, group: str = ALL) -> Callable[[str], str]:
        return lambda agent: _percent(self.value(agent, metric, group))

    def number(self, metric: str) -> Callable[[str], str]:
        return lambda agent: _number(self.value(agent, metric))

    def interval(self, metric: str, group: str = ALL) -> Callable[[str], str]:
        def cell(agent: str) -> str:
            figure = self.by_key.get((agent, metric, group))
            if figure is None or figure.value is None or figure.low is None or figure.high is None:
                return _percent(self.value(agent, metric, group))
            return f"{100 * figure.value:.1f} ({100 * figure.low:.1f}–{100 * figure.high:.1f})"

        return cell


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _per_agent(name: str, title: str, agents: Iterable[str], columns: _Columns) -> ReportTable:
    rows = ((agent, *(cell(agent) for _, cell in columns)) for agent in agents)
    return ReportTable(name, title, ("agent", *(heading for heading, _ in columns)), tuple(rows))


def _leaderboard(figures: _Figures, attempts: Sequence[ScoredAttempt]) -> ReportTable:
    others = {metric for _, metric, group in figures.by_key if group == ALL and _is_metric(metric)}
    shown = [name for name in (*_MAIN_METRICS, *sorted(others - {*_MAIN_METRICS})) if figures.has(name)]
    counts = Counter(item.run.agent for item in attempts)
    tasks = Counter(agent for agent, _ in {(item.run.agent, item.task.task_id) for item in attempts})
    ranked = sorted(
        figures.agents,
        key=lambda agent: [-(figures.value(agent, name) or 0) for name in ("success", "coverage_rate")],
    )
    columns: _Columns = [
        ("tasks", lambda agent: str(tasks[agent])),
        ("attempts", lambda agent: str(counts[agent])),
        *((name.replace("_", " "), figures.interval(name)) for name in shown),
    ]
    return _per_agent("leaderboard", "Agents, with 95 % bootstrap intervals over tasks", ranked, columns)


def _is_metric(metric: str) -> bool:
    return not metric.startswith("pass") and not metric.endswith("_per_success") and metric != "sensitivity"


def _ends(
    agents: Sequence[str], attempts: Iterable[ScoredAttempt], invalid: Iterable[AgentRun]
) -> ReportTable:
    runs = [*(item.run for item in attempts), *invalid]
    names = [name for name, _ in Counter(run.end for run in runs).most_common()]
    counts = Counter((run.agent, run.end) for run in runs)
    all_agents = [*agents, *sorted({run.agent for run in runs} - {*agents})]
    columns = [(name.replace("_", " "), partial(_count, counts, name)) for name in names]
    return _per_agent("ends", "How attempts ended; invalid ones are not scored", all_agents, columns)


def _count(counts: Counter[tuple[str, End]], end: End, agent: str) -> str:
    return str(counts[agent, end])


def _comparisons(compared: Iterable[Comparison]) -> ReportTable:
    rows = (
        (
            f"{item.first} − {item.second}",
            item.metric.replace("_", " "),
            f"{100 * item.difference:+.1f}",
            f"{100 * item.low:+.1f} to {100 * item.high:+.1f}",
            item.probability,
            str(item.tasks),
        )
        for item in compared
    )
    columns = ("agents", "metric", "difference", "95 % interval", "p", "tasks")
    title = "Paired differences over the same tasks, in points"
    return ReportTable("comparisons", title, columns, tuple(rows))


def _capabilities(figures: _Figures) -> ReportTable:
    columns = [
        ("CR", figures.percent("coverage_rate")),
        ("LC", figures.percent("logical_consistency")),
        *(
            (item.title, figures.percent("coverage_rate", item.name))
            for item in load_capabilities()
            if figures.has("coverage_rate", item.name)
        ),
    ]
    return _per_agent("table_4", "Capabilities (Table 4): coverage rate", figures.agents, columns)


def _levels(figures: _Figures) -> ReportTable:
    """Table 5: coverage rate per level, with the drop from the next lower level that has a value."""
    columns = [
        (f"{dimension} {level}", partial(_level, figures, dimension, LEVELS[: number + 1]))
        for dimension in DIMENSIONS
        for number, level in enumerate(LEVELS)
    ]
    return _per_agent("table_5", "Levels (Table 5): coverage rate, and drops", figures.agents, columns)


def _level(figures: _Figures, dimension: str, levels: Sequence[str], agent: str) -> str:
    *lower, value = (figures.value(agent, "coverage_rate", f"{dimension} {level}") for level in levels)
    previous = next((item for item in reversed(lower) if item is not None), None)
    if value is None or previous is None:
        return _percent(value)
    drop = 100 * (previous - value)
    return f"{_percent(value)} {'↓' if drop >= 0 else '↑'}{abs(drop):.1f}"


def _instruction_variants(figures: _Figures) -> ReportTable:
    groups = sorted({group for _, _, group in figures.by_key if group.startswith("told ")})
    columns = [("average sensitivity", figures.number("sensitivity"))]
    columns += [(group.removeprefix("told "), figures.percent("coverage_rate", group)) for group in groups]
    title = "Instruction variants (Table 8): sensitivity and coverage rate"
    return _per_agent("table_8", title, figures.agents if groups else (), columns)


def _twins(figures: _Figures) -> ReportTable:
    groups = ("chain twins", "graph twins")
    columns = [
        (f"{group.removesuffix(' twins')} {heading}", figures.interval(metric, group))
        for group in groups
        for heading, metric in (("CR", "coverage_rate"), ("success", "success"))
    ]
    agents = [
        agent
        for agent in figures.agents
        if any((agent, "coverage_rate", group) in figures.by_key for group in groups)
    ]
    return _per_agent("figure_7", "Chains against their graph twins (Figure 7)", agents, columns)


def _repeats(figures: _Figures) -> ReportTable:
    metrics = {metric for _, metric, _ in figures.by_key if metric.startswith("pass")}
    names = sorted(metrics, key=lambda name: (name[:5], int(name[5:])))
    columns = [(name, figures.interval(name)) for name in names]
    return _per_agent("repeats", "pass@k and pass^k over repeats", figures.agents if names else (), columns)


def _costs(figures: _Figures, attempts: Iterable[ScoredAttempt]) -> ReportTable:
    runs = defaultdict(list, {agent: [item.run for item in own] for agent, own in by_agent(attempts).items()})
    columns: _Columns = [
        ("model", lambda agent: "/".join(dict.fromkeys(map(_model, runs[agent]))) or "–"),
        ("USD", lambda agent: f"{sum(run.provenance.cost_usd for run in runs[agent]):.4f}"),
        ("tokens", lambda agent: str(sum(run.input_tokens + run.output_tokens for run in runs[agent]))),
        ("unusable replies", lambda agent: str(sum(run.unusable_replies for run in runs[agent]))),
        ("refused actions", lambda agent: str(sum(run.refused_actions for run in runs[agent]))),
        *(
            (f"{name} per success", figures.number(f"{name}_per_success"))
            for name in ("steps", "usd", "tokens", "seconds")
        ),
    ]
    return _per_agent("costs", "Costs in total and per success", figures.agents, columns)


def _model(run: AgentRun) -> str:
    return f"{run.provenance.provider} {run.provenance.model}".strip()


def _reasons(attempts: Iterable[ScoredAttempt]) -> ReportTable:
    """Why attempts failed: the first subtask, in the order of the graph, that was not completed, and the
    checks of its function that answered no at the end."""
    counts: Counter[tuple[str, str, str, str, str]] = Counter()
    for item in attempts:
        if item.run.success:
            continue
        done = {entry.instance_id for entry in item.run.completed}
        node = next((node for node in item.task.graph.nodes if node.instance_id not in done), None)
        where = (node.application, node.subtask_id) if node else ("–", "answer or refusal")
        missing = (entry for entry in item.run.unfinished if node and entry.instance_id == node.instance_id)
        checks = ", ".join(name for entry in missing for name in entry.checks) or "–"
        counts[(item.run.agent, item.run.end.replace("_", " "), *where, checks)] += 1
    rows = ((*place, str(count)) for place, count in counts.most_common(_MAXIMUM_REASONS))
    columns = ("agent", "end", "application", "first subtask not done", "checks that answered no", "attempts")
    return ReportTable("failures", "Why attempts failed", columns, tuple(rows))


def _second_opinions(attempts: Sequence[ScoredAttempt]) -> ReportTable:
    """The critic compared with the functions, and the paper's metrics compared with people."""
    rows = []
    for agent, own in {"all agents": attempts, **by_agent(attempts)}.items():
        pairs = [(bool(a), bool(b)) for a, b in score_pairs(own, "success", CRITIC)]
        if pairs:
            agreement = f"{100 * (sum(first == second for first, second in pairs) / len(pairs)):.1f}"
            kappa = _number(cohens_kappa(pairs))
            rows.append(("critic, success", agent, str(len(pairs)), agreement, kappa, "–"))
    for metric, human in HUMAN.items():
        scored = score_pairs(attempts, metric, human)
        if scored:
            title = f"people, {metric.replace('_', ' ')}"
            rows.append((title, "all agents", str(len(scored)), "–", "–", _number(pearson(scored))))
    columns = ("opinion, metric", "agent", "attempts", "agreement", "Cohen's kappa", "Pearson's r")
    title = "Second opinions on the functions' verdicts"
    return ReportTable("second_opinions", title, columns, tuple(rows))


def score_pairs(attempts: Iterable[ScoredAttempt], first: str, second: str) -> list[tuple[float, float]]:
    """The values of two metrics for the attempts that have both."""
    return [
        (a, b)
        for item in attempts
        if (a := item.scores.get(first)) is not None and (b := item.scores.get(second)) is not None
    ]
