"""`report.html`: an experiment on one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from taskloom.omnieval.reports.tables import ReportTable
from taskloom.taskgraph.records.experiment import Experiment

_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#1b1b1b}"
    "table{border-collapse:collapse;margin:.6em 0 1.6em;font-variant-numeric:tabular-nums;font-size:13px}"
    "td,th{padding:.25em .7em;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}div.wide{overflow-x:auto}"
    ".warning{background:#fbe9e2;padding:.6em 1em}figure{display:inline-block;margin:1em;vertical-align:top}"
    "@media(prefers-color-scheme:dark){body{background:#1c1c1e;color:#eee}td,th{border-color:#444}"
    "svg{background:#fff}}"
)


def report_page(
    experiment: Experiment, tables: Sequence[ReportTable], figures: Mapping[str, str], remarks: Sequence[str]
) -> str:
    """The page; texts of agents and models are shown as text, whatever they hold."""
    facts = {
        "protocol": experiment.protocol,
        "agents": ", ".join(experiment.agents),
        "tasks": str(len(experiment.task_ids)),
        "seeds": ", ".join(map(str, experiment.seeds)),
        "attempts": str(experiment.attempts),
        "status": experiment.status,
        "taskloom": experiment.software_version,
        "begun": experiment.started_at,
        "ended": experiment.finished_at or "–",
        **{f"hash of {name}": value[:12] for name, value in experiment.hashes.items()},
    }
    listed = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts.items()
    )
    warning = (
        '<p class="warning">Too many attempts are invalid, so these figures do not hold.</p>'
        if experiment.holds is False
        else ""
    )
    said = "".join(f"<p>{escape(line)}</p>" for line in remarks)
    drawn = "".join(
        f"<figure>{drawing}<figcaption>{escape(title)}</figcaption></figure>"
        for title, drawing in figures.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(experiment.name)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(experiment.name)}</h1>{warning}{said}"
        f"{''.join(_table(table) for table in tables)}{drawn}"
        f'<h2>What it rests on</h2><div class="wide"><table>{listed}</table></div></html>\n'
    )


def _table(table: ReportTable) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f'<h2>{escape(table.title)}</h2><div class="wide"><table><tr>{head}</tr>{rows}</table></div>'
