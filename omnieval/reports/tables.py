"""The paper's tables for one's own agents, as rows of text: Table 4 (capabilities), Table 5 (levels with
drops), Table 8 (order of telling), and those a leaderboard needs."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from taskloom.omnieval.reports.standings import ALL, ScoredAttempt
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.taskgraph.records.agent_run import AgentRun, Comparison, Standing

_SPECIAL = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%_#${}"}
    | {"^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "\\": r"\textbackslash{}"}
)
_MAIN = ("success", "clean", "held", "answered", "coverage_rate", "logical_consistency")
_MOST_REASONS = 40


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table."""

    name: str
    """Name of its files."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_csv(self) -> str:
        """The table as comma-separated values."""
        written = io.StringIO()
        writer = csv.writer(written)
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return written.getvalue()

    def as_latex(self) -> str:
        """The table as LaTeX's `tabular`, with booktabs' rules."""
        cells = ((cell.translate(_SPECIAL) for cell in row) for row in (self.columns, *self.rows))
        head, *lines = (" & ".join(row) + r" \\" for row in cells)
        align = "l" + "r" * (len(self.columns) - 1)
        body = "\n".join(lines)
        return (
            f"% {self.title}\n\\begin{{tabular}}{{{align}}}\n\\toprule\n{head}\n\\midrule\n{body}\n"
            "\\bottomrule\n\\end{tabular}\n"
        )


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures by agent, metric and group, as cells of a table."""

    by_key: Mapping[tuple[str, str, str], Standing]
    agents: tuple[str, ...]

    def told(self, metric: str, group: str = ALL) -> bool:
        return any((agent, metric, group) in self.by_key for agent in self.agents)

    def value(self, agent: str, metric: str, group: str = ALL) -> float | None:
        found = self.by_key.get((agent, metric, group))
        return found.value if found else None

    def percent(self, agent: str, metric: str, group: str = ALL) -> str:
        value = self.value(agent, metric, group)
        return "–" if value is None else f"{100 * value:.1f}"

    def number(self, agent: str, metric: str) -> str:
        value = self.value(agent, metric)
        return "–" if value is None else f"{value:.2f}"

    def interval(self, agent: str, metric: str, group: str = ALL) -> str:
        found = self.by_key.get((agent, metric, group))
        if found is None or found.value is None or found.low is None or found.high is None:
            return self.percent(agent, metric, group)
        return f"{100 * found.value:.1f} ({100 * found.low:.1f}–{100 * found.high:.1f})"


def tables(
    attempts: Sequence[ScoredAttempt],
    invalid: Sequence[AgentRun],
    figures: Sequence[Standing],
    compared: Sequence[Comparison],
) -> tuple[ReportTable, ...]:
    """Every table that has rows."""
    by_key = {(item.agent, item.metric, item.group): item for item in figures}
    shown = _Figures(by_key, tuple(dict.fromkeys(item.agent for item in figures)))
    found = (
        _leaderboard(shown, attempts),
        _ends(shown.agents, attempts, invalid),
        _comparisons(compared),
        _capabilities(shown),
        _levels(shown),
        _told(shown),
        _twins(shown),
        _repeats(shown),
        _costs(shown, attempts),
        _reasons(attempts),
    )
    return tuple(table for table in found if table.rows)


def _table(name: str, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> ReportTable:
    return ReportTable(name, title, tuple(columns), tuple(tuple(row) for row in rows))


def _leaderboard(figures: _Figures, attempts: Sequence[ScoredAttempt]) -> ReportTable:
    others = {metric for _, metric, group in figures.by_key if group == ALL and _is_metric(metric)}
    shown = [name for name in (*_MAIN, *sorted(others - {*_MAIN})) if figures.told(name)]
    counts = Counter(item.run.agent for item in attempts)
    tasks = Counter(agent for agent, _ in {(item.run.agent, item.task.task_id) for item in attempts})
    ranked = sorted(
        figures.agents,
        key=lambda agent: [-(figures.value(agent, name) or 0) for name in ("success", "coverage_rate")],
    )
    rows = (
        (agent, str(tasks[agent]), str(counts[agent]), *(figures.interval(agent, name) for name in shown))
        for agent in ranked
    )
    columns = ("agent", "tasks", "attempts", *(name.replace("_", " ") for name in shown))
    return _table("leaderboard", "Agents, with 95 % bootstrap intervals over tasks", columns, rows)


def _is_metric(metric: str) -> bool:
    return not metric.startswith("pass") and not metric.endswith("_per_success") and metric != "sensitivity"


def _ends(
    agents: Sequence[str], attempts: Iterable[ScoredAttempt], invalid: Iterable[AgentRun]
) -> ReportTable:
    runs = [*(item.run for item in attempts), *invalid]
    names = [name for name, _ in Counter(run.end for run in runs).most_common()]
    counts = Counter((run.agent, run.end) for run in runs)
    all_agents = [*agents, *sorted({run.agent for run in runs} - {*agents})]
    rows = ((agent, *(str(counts[agent, name]) for name in names)) for agent in all_agents)
    columns = ("agent", *(name.replace("_", " ") for name in names))
    return _table("ends", "How attempts ended; invalid ones count for nothing", columns, rows)


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
    return _table("comparisons", "Paired differences over the same tasks, in points", columns, rows)


def _capabilities(figures: _Figures) -> ReportTable:
    shown = [item for item in load_capabilities() if figures.told("coverage_rate", item.name)]
    rows = (
        (
            agent,
            figures.percent(agent, "coverage_rate"),
            figures.percent(agent, "logical_consistency"),
            *(figures.percent(agent, "coverage_rate", item.name) for item in shown),
        )
        for agent in figures.agents
    )
    columns = ("agent", "CR", "LC", *(item.title for item in shown))
    return _table("table_4", "Capabilities (Table 4): coverage rate", columns, rows)


def _levels(figures: _Figures) -> ReportTable:
    """Table 5: coverage rate per level, with the drop from the level before."""
    rows = []
    for agent in figures.agents:
        row = [agent]
        for dimension in DIMENSIONS:
            before: float | None = None
            for level in LEVELS:
                value = figures.value(agent, "coverage_rate", f"{dimension} {level}")
                text = figures.percent(agent, "coverage_rate", f"{dimension} {level}")
                if value is not None and before is not None:
                    drop = 100 * (before - value)
                    text += f" {'↓' if drop >= 0 else '↑'}{abs(drop):.1f}"
                before = value if value is not None else before
                row.append(text)
        rows.append(row)
    columns = ("agent", *(f"{dimension} {level}" for dimension in DIMENSIONS for level in LEVELS))
    return _table("table_5", "Levels (Table 5): coverage rate, and drops", columns, rows)


def _told(figures: _Figures) -> ReportTable:
    ways = sorted({group for _, _, group in figures.by_key if group.startswith("told ")})
    rows = (
        (
            agent,
            figures.number(agent, "sensitivity"),
            *(figures.percent(agent, "coverage_rate", way) for way in ways),
        )
        for agent in figures.agents
        if ways
    )
    columns = ("agent", "average sensitivity", *ways)
    return _table("table_8", "Ways of telling (Table 8): sensitivity and coverage rate", columns, rows)


def _twins(figures: _Figures) -> ReportTable:
    groups = ("chain twins", "graph twins")
    cells = [(metric, group) for group in groups for metric in ("coverage_rate", "success")]
    rows = (
        (agent, *(figures.interval(agent, metric, group) for metric, group in cells))
        for agent in figures.agents
        if any((agent, "coverage_rate", group) in figures.by_key for group in groups)
    )
    columns = ("agent", "chain CR", "chain success", "graph CR", "graph success")
    return _table("figure_7", "Chains against their graph twins (Figure 7)", columns, rows)


def _repeats(figures: _Figures) -> ReportTable:
    found = {metric for _, metric, _ in figures.by_key if metric.startswith("pass")}
    names = sorted(found, key=lambda name: (name[:5], int(name[5:])))
    rows = ((agent, *(figures.interval(agent, name) for name in names)) for agent in figures.agents if names)
    return _table("repeats", "pass@k and pass^k over repeats", ("agent", *names), rows)


def _costs(figures: _Figures, attempts: Iterable[ScoredAttempt]) -> ReportTable:
    runs: dict[str, list[AgentRun]] = defaultdict(list)
    for item in attempts:
        runs[item.run.agent].append(item.run)
    names = ("steps", "usd", "tokens", "seconds")
    rows = []
    for agent in figures.agents:
        own = runs[agent]
        models = dict.fromkeys(f"{run.provenance.provider} {run.provenance.model}".strip() for run in own)
        row = (
            agent,
            "/".join(models) or "–",
            f"{sum(run.provenance.cost_usd for run in own):.4f}",
            str(sum(run.input_tokens + run.output_tokens for run in own)),
            str(sum(run.unusable_replies for run in own)),
            str(sum(run.refused_actions for run in own)),
            *(figures.number(agent, f"{name}_per_success") for name in names),
        )
        rows.append(row)
    head = ("agent", "model", "USD", "tokens", "unusable replies", "refused actions")
    columns = (*head, *(f"{name} per success" for name in names))
    return _table("costs", "What it took, and what a success takes", columns, rows)


def _reasons(attempts: Iterable[ScoredAttempt]) -> ReportTable:
    """Why attempts failed: the first subtask, in the order of the graph, that was not completed, and the
    checks of its function that said no at the end."""
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
    rows = ((*place, str(count)) for place, count in counts.most_common(_MOST_REASONS))
    columns = ("agent", "end", "application", "first subtask not done", "checks that said no", "attempts")
    return _table("failures", "Why attempts failed", columns, rows)
