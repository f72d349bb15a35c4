"""The paper's figures for the measured agents, as SVG: the radar of capabilities, chains against graphs,
pass@k curves, metrics against human scores; and the page that shows them with the tables."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from math import cos, pi, sin

from taskloom.omnieval.reports.standings import ALL, ScoredAttempt
from taskloom.omnieval.reports.statistics import pearson
from taskloom.omnieval.reports.tables import HUMAN, ReportTable, score_pairs
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.taskgraph.records.agent_run import Experiment, Standing

COLOURS = ("#3367b5", "#c4532d", "#2f8a55", "#8a4fa8", "#b08a1e", "#4a9aa5", "#a33a5b", "#6b6b6b")
"""Colours of the agents, in order, repeated if there are more agents."""
_SIZE, _MIDDLE, _RADIUS = 460, 230, 140


def figures(standings: Sequence[Standing]) -> dict[str, str]:
    """The figures that have data, as drawings by title."""
    agents = list(dict.fromkeys(item.agent for item in standings))
    drawings = {
        "Capabilities, coverage rate (Figure 1 of the paper as a radar)": _radar(agents, standings),
        "Subtask identification and long instructions (Figure 6)": _bars(
            agents, standings, {"subtask_identification": "SI", "long_instruction_following": "LIF"}
        ),
        "Chains and their graph twins (Figure 7)": _bars(
            agents, standings, {"chain twins": "chain", "graph twins": "graph"}
        ),
        "pass@k": _curves(agents, standings, "pass@"),
        "pass^k": _curves(agents, standings, "pass^"),
    }
    return {title: drawing for title, drawing in drawings.items() if drawing}


def correlations(attempts: Sequence[ScoredAttempt]) -> Mapping[str, str]:
    """Figure 5: drawings by title, with a point per attempt that people scored."""
    drawings = {}
    for metric, human in HUMAN.items():
        pairs, name = score_pairs(attempts, metric, human), metric.replace("_", " ")
        if pairs:
            r = pearson(pairs)
            title = f"{name.capitalize()} and people (Figure 5), r = {'–' if r is None else f'{r:.2f}'}"
            drawings[title] = _scatter(pairs, name, human.replace("_", " "))
    return drawings


def _radar(agents: Sequence[str], standings: Sequence[Standing]) -> str:
    values = {
        (item.agent, item.group): item.value
        for item in standings
        if item.metric == "coverage_rate" and item.value is not None
    }
    axes = [item for item in load_capabilities() if any((agent, item.name) in values for agent in agents)]
    if len(axes) < 3:
        return ""
    parts = []
    for share in (0.25, 0.5, 0.75, 1.0):
        ring = " ".join(_radar_point(number, len(axes), share) for number in range(len(axes)))
        parts.append(f'<polygon points="{ring}" fill="none" stroke="#ccc"/>')
    for number, axis in enumerate(axes):
        x, y = map(float, _radar_point(number, len(axes), 1.18).split(","))
        parts.append(_text(x, y, escape(axis.title), 10))
    for agent, colour in _with_colours(agents):
        points = " ".join(
            _radar_point(number, len(axes), values.get((agent, axis.name)) or 0.0)
            for number, axis in enumerate(axes)
        )
        parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.12" stroke="{colour}"/>')
    return _svg(_SIZE, _SIZE, parts, agents)


def _bars(agents: Sequence[str], standings: Sequence[Standing], groups: Mapping[str, str]) -> str:
    values = {(item.agent, item.group): item for item in standings if item.metric == "coverage_rate"}
    if not any(group in groups for _, group in values):
        return ""
    parts, x, width = [], 50.0, 22
    for group, label in groups.items():
        left = x
        for agent, colour in _with_colours(agents):
            standing = values.get((agent, group))
            if standing is not None and standing.value is not None:
                height = 200 * standing.value
                parts.append(
                    f'<rect x="{x:.0f}" y="{230 - height:.1f}" width="{width - 4}" height="{height:.1f}"'
                    f' fill="{colour}"><title>{escape(agent)}: {100 * standing.value:.1f}</title></rect>'
                )
                if standing.low is not None and standing.high is not None:
                    middle = x + width / 2 - 2
                    parts.append(
                        f'<line x1="{middle:.0f}" x2="{middle:.0f}" y1="{230 - 200 * standing.low:.1f}"'
                        f' y2="{230 - 200 * standing.high:.1f}" stroke="#222"/>'
                    )
            x += width
        parts.append(_text((left + x) / 2, 246, label, 11))
        x += 30
    parts += _scale(x)
    return _svg(max(x, 300), 260, parts, agents)


def _curves(agents: Sequence[str], standings: Sequence[Standing], prefix: str) -> str:
    curves: dict[str, list[tuple[int, float]]] = {}
    for item in standings:
        if item.metric.startswith(prefix) and item.value is not None and item.group == ALL:
            curves.setdefault(item.agent, []).append((int(item.metric.removeprefix(prefix)), item.value))
    maximum = max((k for curve in curves.values() for k, _ in curve), default=0)
    if maximum < 2:
        return ""
    parts = _scale(440)
    for k in range(1, maximum + 1):
        parts.append(_text(60 + 360 * (k - 1) / (maximum - 1), 246, str(k), 11))
    for agent, colour in _with_colours(agents):
        points = " ".join(
            f"{60 + 360 * (k - 1) / (maximum - 1):.0f},{230 - 200 * value:.1f}"
            for k, value in sorted(curves.get(agent, []))
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return _svg(450, 260, parts, agents)


def _scatter(pairs: Sequence[tuple[float, float]], x_label: str, y_label: str) -> str:
    points = "".join(
        f'<circle cx="{50 + 200 * x:.1f}" cy="{220 - 200 * y:.1f}" r="4" fill="{COLOURS[0]}" opacity="0.35"/>'
        for x, y in pairs
    )
    marks = "".join(
        _text(50 + 2 * value, 236, str(value), 10)
        + f'<text x="44" y="{224 - 2 * value}" text-anchor="end" font-size="10">{value}</text>'
        for value in (0, 50, 100)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 280 262" width="280" font-family="sans-serif">'
        f'<path d="M50 20V220H250" fill="none" stroke="#999"/>{marks}{points}{_text(150, 254, x_label, 11)}'
        f'<text x="50" y="12" font-size="11">{y_label}</text></svg>'
    )


def _text(x: float, y: float, text: str, size: int) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" font-size="{size}">{text}</text>'


def _radar_point(number: int, count: int, share: float) -> str:
    angle = 2 * pi * number / count - pi / 2
    return f"{_MIDDLE + _RADIUS * share * cos(angle):.1f},{_MIDDLE + _RADIUS * share * sin(angle):.1f}"


def _scale(right: float) -> list[str]:
    return [
        f'<line x1="40" x2="{right:.0f}" y1="{230 - 2 * value}" y2="{230 - 2 * value}" stroke="#ddd"/>'
        f'<text x="34" y="{234 - 2 * value}" text-anchor="end" font-size="10">{value}</text>'
        for value in (0, 25, 50, 75, 100)
    ]


def _with_colours(agents: Sequence[str]) -> list[tuple[str, str]]:
    return [(agent, COLOURS[number % len(COLOURS)]) for number, agent in enumerate(agents)]


def _svg(width: float, height: float, parts: Sequence[str], agents: Sequence[str]) -> str:
    legend = [
        f'<rect x="10" y="{height + 6 + 16 * number:.0f}" width="10" height="10" fill="{colour}"/>'
        f'<text x="26" y="{height + 15 + 16 * number:.0f}" font-size="11">{escape(agent)}</text>'
        for number, (agent, colour) in enumerate(_with_colours(agents))
    ]
    total = height + 12 + 16 * len(agents)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {total:.0f}" width="{width:.0f}"'
        f' font-family="sans-serif">{"".join(parts)}{"".join(legend)}</svg>'
    )


def report_page(
    experiment: Experiment, tables: Sequence[ReportTable], figures: Mapping[str, str], remarks: Sequence[str]
) -> str:
    """The report as HTML; all texts of agents and models are escaped."""
    from jinja2 import Environment, StrictUndefined

    facts = {
        "protocol": experiment.protocol,
        "agents": ", ".join(experiment.agents),
        "tasks": len(experiment.task_ids),
        "seeds": ", ".join(map(str, experiment.seeds)),
        "attempts": experiment.attempts,
        "status": experiment.status,
        "taskloom": experiment.software_version,
        "started": experiment.started_at,
        "ended": experiment.finished_at or "–",
        **{f"hash of {name}": value[:12] for name, value in experiment.hashes.items()},
    }
    source = (files("taskloom.omnieval.reports") / "report.html.jinja").read_text(encoding="utf-8")
    page = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return page.from_string(source).render(
        experiment=experiment, tables=tables, figures=figures, remarks=remarks, facts=facts
    )
