"""What others say of attempts beside the functions, as scores: `critic` (whether the task is done), with its
agreement; `human_completion` and `human_alignment` (0 to 1, the mean over the annotators), with their
correlation (Figure 5).
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from taskloom.omnieval.reports.standings import ScoredAttempt
from taskloom.omnieval.reports.statistics import cohens_kappa, pearson
from taskloom.omnieval.reports.tables import ReportTable

CRITIC: Final = "critic"
"""The critic's verdict, as a metric."""
HUMAN: Final = {"coverage_rate": "human_completion", "logical_consistency": "human_alignment"}
"""What people score in the place of each metric of the paper."""
_TITLES = {"coverage_rate": "coverage rate", "logical_consistency": "logical consistency"}
_COLOUR = "#3367b5"


def opinions(attempts: Sequence[ScoredAttempt]) -> ReportTable:
    """The critic against the functions, and the paper's metrics against people; without rows where nobody was
    asked."""
    rows = []
    by_agent: dict[str, list[ScoredAttempt]] = {"all agents": list(attempts)}
    for item in attempts:
        by_agent.setdefault(item.run.agent, []).append(item)
    for agent, own in by_agent.items():
        pairs = [(bool(a), bool(b)) for a, b in _pairs(own, "success", CRITIC)]
        if pairs:
            same = f"{100 * (sum(first == second for first, second in pairs) / len(pairs)):.1f}"
            kappa = _told(cohens_kappa(pairs))
            rows.append(("critic, success", agent, str(len(pairs)), same, kappa, "–"))
    for metric, human in HUMAN.items():
        scored = _pairs(attempts, metric, human)
        if scored:
            title, correlation = f"people, {_TITLES[metric]}", _told(pearson(scored))
            rows.append((title, "all agents", str(len(scored)), "–", "–", correlation))
    columns = ("opinion, metric", "agent", "attempts", "agreement", "Cohen's kappa", "Pearson's r")
    return ReportTable("second_opinions", "Second opinions beside the functions", columns, tuple(rows))


def correlations(attempts: Sequence[ScoredAttempt]) -> Mapping[str, str]:
    """Figure 5: a point per attempt that people scored, by title."""
    found = {}
    for metric, human in HUMAN.items():
        pairs = _pairs(attempts, metric, human)
        if pairs:
            title = f"{_TITLES[metric].capitalize()} and people (Figure 5), r = {_told(pearson(pairs))}"
            found[title] = _scatter(pairs, _TITLES[metric], human.replace("_", " "))
    return found


def _pairs(attempts: Sequence[ScoredAttempt], first: str, second: str) -> list[tuple[float, float]]:
    """The values of two metrics at the attempts for which both are defined."""
    return [
        (a, b)
        for item in attempts
        if (a := item.scores.get(first)) is not None and (b := item.scores.get(second)) is not None
    ]


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _scatter(pairs: Sequence[tuple[float, float]], across: str, up: str) -> str:
    points = "".join(
        f'<circle cx="{50 + 200 * x:.1f}" cy="{220 - 200 * y:.1f}" r="4" fill="{_COLOUR}" opacity="0.35"/>'
        for x, y in pairs
    )
    marks = "".join(
        f'<text x="{50 + 2 * value}" y="236" text-anchor="middle" font-size="10">{value}</text>'
        f'<text x="44" y="{224 - 2 * value}" text-anchor="end" font-size="10">{value}</text>'
        for value in (0, 50, 100)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 280 262" width="280" font-family="sans-serif">'
        f'<path d="M50 20V220H250" fill="none" stroke="#999"/>{marks}{points}'
        f'<text x="150" y="254" text-anchor="middle" font-size="11">{escape(across)}</text>'
        f'<text x="50" y="12" font-size="11">{escape(up)}</text></svg>'
    )
