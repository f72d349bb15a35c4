"""Sections of the dataset card on the sets, on what was checked against them, and on the variety of the
tasks."""

from __future__ import annotations

from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.warehouse.exporting.dataset_folder.dataset_counts import DatasetCounts
from taskloom.warehouse.score_validity import REASONS, score_validity
from taskloom.warehouse.sets.splits import LeakageReport
from taskloom.warehouse.store import Warehouse

_SHOWN = 5


def set_lines(report: LeakageReport | None, counts: DatasetCounts) -> list[str]:
    """Shares asked for and given, levels per set, what is in no set and why; nothing where no sets were asked
    for."""
    if report is None:
        return []
    names = [name for name in counts.tasks if counts.tasks[name]]
    shared = f" They may share: {', '.join(report.may_share)}." if report.may_share else ""
    lines = [
        "## Sets",
        "",
        (
            "Between the sets stands no subtask template, resource value, intent or instruction twice, but"
            f" for what they may share; `manifest.json` holds the report.{shared}"
        ),
        "",
        "| set | tasks | share asked for | share given |",
        "|--|--|--|--|",
        *(
            f"| {name} | {counts.tasks[name]} | {_percent(report.asked.get(name))} |"
            f" {_percent(report.given.get(name))} |"
            for name in names
        ),
        "",
        f"| tasks by level | {' | '.join(names)} |",
        f"|--|{'--|' * len(names)}",
        *(
            f"| {row.name}: {level} | "
            + " | ".join(str(counts.of_level(row.name, level, name)) for name in names)
            + " |"
            for row in TABLE
            for level in LEVELS
        ),
        "",
    ]
    if report.left_out:
        lines += [f"{report.left_out} tasks are in no set (`left_out.jsonl`):", ""]
        lines += [f"- {count}: {reason}" for reason, count in report.left_out_reasons.items()]
        lines.append("")
    between = len(report.removed) - sum(report.resembling.values())
    if between:
        lines += [f"{between} tasks whose instruction resembles one of another set are in none.", ""]
    if report.named:
        lines += [
            "Every task was compared with these instructions; one that resembles any of them is in no set:",
            "",
            "| compared with | instructions | tasks that resemble one |",
            "|--|--:|--:|",
            *(
                f"| {name} | {count} | {report.resembling.get(name, 0)} |"
                for name, count in report.named.items()
            ),
            "",
        ]
    return lines


def variety_lines(counts: DatasetCounts) -> list[str]:
    """How different the tasks are: shares of the most frequent application, scenario and subtask, and word
    pairs."""
    total = counts.tasks.total()
    rows = [
        (
            kind,
            len(found),
            ", ".join(f"{name or 'none'} {count / total:.0%}" for name, count in found.most_common(_SHOWN)),
        )
        for kind, found in (("application", counts.applications), ("scenario", counts.scenarios))
    ]
    nodes = counts.subtasks.total()
    often = ", ".join(f"{name} {count / nodes:.0%}" for name, count in counts.subtasks.most_common(_SHOWN))
    return [
        "## Variety",
        "",
        "| | different | most frequent |",
        "|--|--|--|",
        *(f"| {kind} | {different} | {frequent} of the tasks |" for kind, different, frequent in rows),
        f"| subtask | {len(counts.subtasks)} | {often} of all subtasks in tasks |",
        (
            f"| pairs of words in instructions | {len(counts.pairs)} | distinct-2 is"
            f" {counts.distinct_pairs:.3f} |"
        ),
        "",
    ]


def score_lines(warehouse: Warehouse) -> list[str]:
    """Which scores of the version before do not count in this one; nothing for the first and for unpublished
    states."""
    if warehouse.version is None:
        return []
    with warehouse.reopened() as present:
        names = [item.name for item in present.versions()]
        if warehouse.version not in names[1:]:
            return []
        found = score_validity(present, warehouse.version)
    lines = ["## Earlier scores", ""]
    if not found.changed:
        return [*lines, f"Scores on {found.earlier} count: its tasks are unchanged.", ""]
    return [
        *lines,
        f"Scores on {found.earlier} do not count on {len(found.changed)} of its {found.tasks} tasks:",
        "",
        *(f"- {count}: {REASONS[name]}" for name, count in found.reasons.items()),
        "",
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
