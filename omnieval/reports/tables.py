"""The paper's tables for one's own agents, as rows of text: Table 4 (capabilities), Table 5 (levels with
drops), Table 8 (order of telling), and those a leaderboard needs."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from taskloom.omnieval.reports.standings import ALL, ScoredAttempt
from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.experiment import Comparison, Standing

_SPECIAL = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "_": r"\_",
        "#": r"\#",
        "$": r"\$",
        "^": r"\^{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\~{}",
        "<": "$<$",
        ">": "$>$",
        "\\": r"\textbackslash{}",
    }
)
_MAIN = ("success", "clean", "held", "answered", "coverage_rate", "logical_consistency")
_MOST_REASONS = 40


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table."""

    name: str
    """Name of its files."""
    title: str
    """What it shows."""
    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, as text."""

    def as_csv(self) -> str:
        """The table as comma-separated values."""
        written = io.StringIO()
        writer = csv.writer(written)
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return written.getvalue()

    def as_latex(self) -> str:
        """The table as LaTeX's `tabular`, with booktabs' rules."""
        lines = [" & ".join(cell.translate(_SPECIAL) for cell in row) + r" \\" for row in self.rows]
        head = " & ".join(cell.translate(_SPECIAL) for cell in self.columns) + r" \\"
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
    agents = list(dict.fromkeys(item.agent for item in figures))
    by_key = {(item.agent, item.group, item.metric): item for item in figures}
    found = (
        _leaderboard(agents, by_key, attempts),
        _ends(agents, attempts, invalid),
        _comparisons(compared),
        _capabilities(agents, by_key),
        _levels(agents, by_key),
        _told(agents, by_key),
        _twins(agents, by_key),
        _repeats(agents, figures),
        _costs(agents, by_key, attempts),
        _reasons(attempts),
    )
    return tuple(table for table in found if table.rows)


_Figures = Mapping[tuple[str, str, str], Standing]


def _leaderboard(agents: Sequence[str], by_key: _Figures, attempts: Sequence[ScoredAttempt]) -> ReportTable:
    others = sorted({metric for _, group, metric in by_key if group == ALL and _is_metric(metric)} - {*_MAIN})
    shown = [name for name in (*_MAIN, *others) if any((agent, ALL, name) in by_key for agent in agents)]
    counts = Counter(item.run.agent for item in attempts)
    tasks = {
        agent: len({item.task.task_id for item in attempts if item.run.agent == agent}) for agent in agents
    }
    ranked = sorted(
        agents,
        key=lambda agent: tuple(
            -(_value(by_key.get((agent, ALL, name))) or 0) for name in ("success", "coverage_rate")
        ),
    )
    rows = [
        (
            agent,
            str(tasks[agent]),
            str(counts[agent]),
            *(_percent(by_key.get((agent, ALL, name)), with_interval=True) for name in shown),
        )
        for agent in ranked
    ]
    columns = ("agent", "tasks", "attempts", *(name.replace("_", " ") for name in shown))
    return ReportTable(
        "leaderboard", "Agents, with 95 % bootstrap intervals over tasks", columns, tuple(rows)
    )


def _is_metric(metric: str) -> bool:
    return not metric.startswith("pass") and not metric.endswith("_per_success") and metric != "sensitivity"


def _ends(
    agents: Sequence[str], attempts: Iterable[ScoredAttempt], invalid: Iterable[AgentRun]
) -> ReportTable:
    runs = [*(item.run for item in attempts), *invalid]
    names = [name for name, _ in Counter(run.end for run in runs).most_common()]
    counts = Counter((run.agent, run.end) for run in runs)
    all_agents = [*agents, *sorted({run.agent for run in runs} - {*agents})]
    rows = [(agent, *(str(counts[agent, name]) for name in names)) for agent in all_agents]
    columns = ("agent", *(name.replace("_", " ") for name in names))
    return ReportTable("ends", "How attempts ended; invalid ones count for nothing", columns, tuple(rows))


def _comparisons(compared: Iterable[Comparison]) -> ReportTable:
    rows = [
        (
            f"{item.first} − {item.second}",
            item.metric.replace("_", " "),
            f"{100 * item.difference:+.1f}",
            f"{100 * item.low:+.1f} to {100 * item.high:+.1f}",
            item.probability,
            str(item.tasks),
        )
        for item in compared
    ]
    columns = ("agents", "metric", "difference", "95 % interval", "p", "tasks")
    return ReportTable(
        "comparisons", "Paired differences over the same tasks, in points", columns, tuple(rows)
    )


def _capabilities(agents: Sequence[str], by_key: _Figures) -> ReportTable:
    """Table 4: coverage rate and logical consistency over all, coverage rate per capability."""
    known = load_capabilities()
    shown = [item for item in known if any((agent, item.name, "coverage_rate") in by_key for agent in agents)]
    rows = [
        (
            agent,
            _percent(by_key.get((agent, ALL, "coverage_rate"))),
            _percent(by_key.get((agent, ALL, "logical_consistency"))),
            *(_percent(by_key.get((agent, item.name, "coverage_rate"))) for item in shown),
        )
        for agent in agents
    ]
    columns = ("agent", "CR", "LC", *(item.title for item in shown))
    return ReportTable("table_4", "Capabilities (Table 4): coverage rate", columns, tuple(rows))


def _levels(agents: Sequence[str], by_key: _Figures) -> ReportTable:
    """Table 5: coverage rate per level, with the drop from the level before."""
    cells = [(dimension, level) for dimension in DIMENSIONS for level in LEVELS]
    rows = []
    for agent in agents:
        row = [agent]
        before: float | None = None
        for dimension, level in cells:
            value = _value(by_key.get((agent, f"{dimension} {level}", "coverage_rate")))
            if level == LEVELS[0]:
                before = None
            text = "–" if value is None else f"{100 * value:.1f}"
            if value is not None and before is not None:
                drop = 100 * (before - value)
                text += f" {'↓' if drop >= 0 else '↑'}{abs(drop):.1f}"
            before = value if value is not None else before
            row.append(text)
        rows.append(tuple(row))
    columns = ("agent", *(f"{dimension} {level}" for dimension, level in cells))
    return ReportTable("table_5", "Levels (Table 5): coverage rate, and drops", columns, tuple(rows))


def _told(agents: Sequence[str], by_key: _Figures) -> ReportTable:
    """Table 8, and coverage rate per way of telling."""
    ways = sorted({group for _, group, _ in by_key if group.startswith("told ")})
    rows = [
        (
            agent,
            _number(by_key.get((agent, ALL, "sensitivity"))),
            *(_percent(by_key.get((agent, way, "coverage_rate"))) for way in ways),
        )
        for agent in agents
        if ways
    ]
    columns = ("agent", "average sensitivity", *ways)
    return ReportTable(
        "table_8", "Ways of telling (Table 8): sensitivity and coverage rate", columns, tuple(rows)
    )


def _twins(agents: Sequence[str], by_key: _Figures) -> ReportTable:
    """Figure 7 as a table."""
    groups = ("chain twins", "graph twins")
    rows = [
        (
            agent,
            *(
                _percent(by_key.get((agent, group, metric)), with_interval=True)
                for group in groups
                for metric in ("coverage_rate", "success")
            ),
        )
        for agent in agents
        if any((agent, group, "coverage_rate") in by_key for group in groups)
    ]
    columns = ("agent", "chain CR", "chain success", "graph CR", "graph success")
    return ReportTable("figure_7", "Chains against their graph twins (Figure 7)", columns, tuple(rows))


def _repeats(agents: Sequence[str], figures: Iterable[Standing]) -> ReportTable:
    names = sorted({item.metric for item in figures if item.metric.startswith("pass")}, key=_repeat_order)
    by_key = {(item.agent, item.metric): item for item in figures}
    rows = [
        (agent, *(_percent(by_key.get((agent, name)), with_interval=True) for name in names))
        for agent in agents
    ]
    return ReportTable(
        "repeats", "pass@k and pass^k over repeats", ("agent", *names), tuple(rows) if names else ()
    )


def _repeat_order(name: str) -> tuple[str, int]:
    return name[:5], int(name[5:])


def _costs(agents: Sequence[str], by_key: _Figures, attempts: Iterable[ScoredAttempt]) -> ReportTable:
    runs: dict[str, list[AgentRun]] = defaultdict(list)
    for item in attempts:
        runs[item.run.agent].append(item.run)
    names = ("steps", "usd", "tokens", "seconds")
    rows = [
        (
            agent,
            "/".join(
                dict.fromkeys(
                    f"{run.provenance.provider} {run.provenance.model}".strip() for run in runs[agent]
                )
            )
            or "–",
            f"{sum(run.provenance.cost_usd for run in runs[agent]):.4f}",
            str(sum(run.input_tokens + run.output_tokens for run in runs[agent])),
            str(sum(run.unusable_replies for run in runs[agent])),
            str(sum(run.refused_actions for run in runs[agent])),
            *(_number(by_key.get((agent, ALL, f"{name}_per_success"))) for name in names),
        )
        for agent in agents
    ]
    columns = (
        "agent",
        "model",
        "USD",
        "tokens",
        "unusable replies",
        "refused actions",
        *(f"{name} per success" for name in names),
    )
    return ReportTable("costs", "What it took, and what a success takes", columns, tuple(rows))


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
        counts[(item.run.agent, item.run.end, *where, checks)] += 1
    rows = [
        (agent, end.replace("_", " "), application, subtask, checks, str(count))
        for (agent, end, application, subtask, checks), count in counts.most_common(_MOST_REASONS)
    ]
    columns = ("agent", "end", "application", "first subtask not done", "checks that said no", "attempts")
    return ReportTable("failures", "Why attempts failed", columns, tuple(rows))


def _value(found: Standing | None) -> float | None:
    return found.value if found else None


def _percent(found: Standing | None, *, with_interval: bool = False) -> str:
    if found is None or found.value is None:
        return "–"
    if with_interval and found.low is not None and found.high is not None:
        return f"{100 * found.value:.1f} ({100 * found.low:.1f}–{100 * found.high:.1f})"
    return f"{100 * found.value:.1f}"


def _number(found: Standing | None) -> str:
    return "–" if found is None or found.value is None else f"{found.value:.2f}"
