"""The dataset card of a Hugging Face export, written from the data: statistics, funnel, plots, licence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.taskgraph.measures.acceptance_rates import as_markdown
from taskloom.warehouse.exporting.dataset_folder.croissant import NAME as CROISSANT
from taskloom.warehouse.exporting.dataset_folder.croissant import croissant
from taskloom.warehouse.exporting.dataset_folder.dataset_counts import DatasetCounts
from taskloom.warehouse.exporting.dataset_folder.set_section import score_lines, set_lines, variety_lines
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportSource
from taskloom.warehouse.exporting.record_files import write_json
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.sets.names import SPLITS
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import UNKNOWN, error_rates, task_quality

STEPS: Final = "trajectory_steps"
"""The configuration whose rows are single steps."""
STEP_COLUMNS: Final = {
    "trajectory_id": "The recording it belongs to.",
    "subtask_id": "The subtask that was performed, or `task:` and the task.",
    "step": "Number of the step, from 1.",
    "instruction": "What the recording follows.",
    "screenshot": "The screen before the action.",
    "description": "What the agent said of the screen.",
    "thought": "Why it acted so.",
    "slip": (
        "`slip` for a harmless mistake made on purpose, to be left out of the loss; `recovery` for taking it"
        " back."
    ),
    "function": "The operation (Table 10 of the paper).",
    "arguments": "Its arguments, as JSON.",
    "points": "Where on the screenshot, in pixels; several for a drag.",
    "rectangle": "Rectangle of the control acted on, in pixels: left, top, right, bottom.",
    "control_text": "Text of that control.",
}
"""Columns of that configuration, with their meaning."""
_TITLE: Final = "Graph-structured tasks for computer-use agents"
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_BAR_HEIGHT, _LABEL_WIDTH, _PLOT_WIDTH = 22, 210, 560


@dataclass(frozen=True, slots=True)
class CardContents:
    """What lies in the folder."""

    files: Mapping[str, Mapping[str, Sequence[str]]]
    """Files by configuration and set, relative to the folder."""
    rows: Mapping[str, Mapping[str, int]]
    """Numbers of rows by configuration and set."""
    counts: DatasetCounts


def write_card(folder: Path, source: ExportSource, options: ExportOptions, contents: CardContents) -> None:
    """Write `README.md`, its plots to `plots/`, and `croissant.json`.

    Args:
        folder: folder of the dataset.
        source: what was exported.
        options: how it was written; names the licence.
        contents: what lies in the folder.
    """
    counts = contents.counts
    plots = folder / "plots"
    plots.mkdir()
    (plots / "levels.svg").write_text(bar_chart("Tasks per level", counts.level_bars), encoding="utf-8")
    (plots / "applications.svg").write_text(
        bar_chart("Tasks per application", counts.applications.most_common(25)), encoding="utf-8"
    )
    (folder / "README.md").write_text(_text(source, options, contents), encoding="utf-8")
    version = source.warehouse.version or "unpublished"
    about = {
        "name": "taskloom",
        "description": f"{_TITLE}: {counts.tasks.total()} tasks.",
        "license": options.licence,
        "version": version,
        "url": "https://huggingface.co/datasets",
    }
    write_json(folder / CROISSANT, croissant(folder, contents.files, about, _meanings(contents.files)))


def bar_chart(title: str, bars: Sequence[tuple[str, int]]) -> str:
    """A horizontal bar chart as SVG."""
    most = max((value for _, value in bars), default=0) or 1
    height = _BAR_HEIGHT * len(bars) + 40
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LABEL_WIDTH + _PLOT_WIDTH + 80}"'
            f' height="{height}" font-family="sans-serif" font-size="13">'
        ),
        f'<text x="8" y="22" font-size="16">{escape(title)}</text>',
    ]
    for position, (label, value) in enumerate(bars):
        top = 36 + position * _BAR_HEIGHT
        width = _PLOT_WIDTH * value / most
        parts.append(
            f'<text x="{_LABEL_WIDTH - 8}" y="{top + 14}" text-anchor="end">{escape(label)}</text><rect'
            f' x="{_LABEL_WIDTH}" y="{top + 2}" width="{width:.1f}" height="{_BAR_HEIGHT - 6}"'
            f' fill="#4477aa"/><text x="{_LABEL_WIDTH + width + 6:.1f}" y="{top + 14}">{value}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _text(source: ExportSource, options: ExportOptions, contents: CardContents) -> str:
    counts = contents.counts
    applications = sorted(counts.applications)
    return "\n".join(
        [
            *_front_matter(options, contents.files, counts.tasks.total()),
            *_about(source, counts, applications),
            *_contents(contents.files, contents.rows),
            *set_lines(source.leakage, counts),
            *trust_lines(source.warehouse),
            *quality_lines(source.warehouse),
            *score_lines(source.warehouse),
            *_complexity(dict(counts.level_bars)),
            *variety_lines(counts),
            *_funnel(source),
            *_licences(source, options, applications),
        ]
    )


def _front_matter(
    options: ExportOptions, files: Mapping[str, Mapping[str, Sequence[str]]], count: int
) -> list[str]:
    """Fields that the hub reads."""
    size = next((name for limit, name in _SIZES if count < limit), "n>1M")
    lines = [
        "---",
        f"license: {json.dumps(options.licence)}",
        f"pretty_name: {_TITLE}",
        "language:",
        "- en",
        "task_categories:",
        "- image-text-to-text",
        "size_categories:",
        f"- {size}",
        "tags:",
        "- computer-use",
        "- agents",
        "- task-graphs",
        "configs:",
    ]
    for config, splits in files.items():
        lines += [
            f"- config_name: {config}",
            *(["  default: true"] if config == "tasks" else []),
            "  data_files:",
        ]
        for split, names in splits.items():
            lines += [f"  - split: {split}", "    path:", *(f"    - {name}" for name in names)]
    return [*lines, "---", ""]


def _about(source: ExportSource, counts: DatasetCounts, applications: Sequence[str]) -> list[str]:
    called = source.warehouse.query(
        "SELECT DISTINCT provider, model FROM model_calls ORDER BY ALL"
    ).as_dicts()
    writers = [f"{row['provider']}/{row['model']}" for row in called]
    total, (replayed, known) = counts.tasks.total(), replay_coverage(source, counts)
    sizes, words = counts.sizes, counts.words
    covered, worlds = covered_tasks(source)
    return [
        f"# {_TITLE}",
        "",
        (
            f"{total} tasks composed of {len(counts.subtasks)} verified subtasks of {len(applications)}"
            " applications, with evaluation functions and recorded trajectories, made with taskloom. A task"
            " is a graph: its nodes are subtasks, its edges the resources that one subtask makes and another"
            " one needs; one instruction tells the whole."
        ),
        "",
        "| | |",
        "|--|--|",
        f"| tasks | {total}, of which {replayed} were replayed from beginning to end |",
        (
            f"| replay coverage | {replayed / total:.1%} of the tasks; {known} of {len(counts.subtasks)}"
            " subtasks stand in a replayed task |"
        ),
        (
            f"| covered | {covered} tasks: every component (same subtasks and links) was performed in an"
            " environment |"
        ),
        f"| worlds | {', '.join(worlds)} |",
        f"| subtasks per task | {sizes.least} to {sizes.most}, mean {sizes.mean:.1f} |",
        f"| words per instruction | {words.least} to {words.most}, mean {words.mean:.0f} |",
        f"| applications | {', '.join(applications)} |",
        *([f"| models | {', '.join(writers)} |"] if writers else []),
        *([f"| on simulated applications | {counts.simulated} tasks |"] if counts.simulated else []),
        f"| dataset version | {source.warehouse.version or 'unpublished state'} |",
        "",
    ]


def replay_coverage(source: ExportSource, counts: DatasetCounts) -> tuple[int, int]:
    """How many of the tasks were replayed with success, and how many of their subtasks stand in such a
    task."""
    rows = source.warehouse.query(
        "SELECT task_id, list_distinct([node.subtask_id FOR node IN nodes]) FROM tasks"
        " WHERE task_id IN (SELECT task_id FROM replays WHERE success)"
    ).table.to_pylist()
    own = set(source.task_ids)
    names = [set(row[1]) for row in (tuple(item.values()) for item in rows) if row[0] in own]
    seen: set[str] = set().union(*names)
    return len(names), len(seen & set(counts.subtasks))


def covered_tasks(source: ExportSource) -> tuple[int, list[str]]:
    """How many of the tasks have only components that were performed with success, and the worlds of all of
    them."""
    rows = source.warehouse.query("SELECT task_id, covered, world FROM tasks").rows()
    own = set(source.task_ids)
    found = [(bool(covered), str(world or "")) for name, covered, world in rows if name in own]
    return sum(covered for covered, _ in found), sorted({world or "the first" for _, world in found})


def _contents(
    files: Mapping[str, Mapping[str, Sequence[str]]], rows: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """How to load it, rows by set, and what the columns mean."""
    splits = [name for name in SPLITS if any(name in found for found in files.values())]
    lines = [
        "## Contents",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'tasks = load_dataset("path/of/this/folder", "tasks")',
        "```",
        "",
        f"| configuration | {' | '.join(splits)} |",
        f"|--|{'--|' * len(splits)}",
        *(
            f"| `{config}` | {' | '.join(str(rows[config].get(name, 0)) for name in splits)} |"
            for config in files
        ),
        "",
    ]
    for config, columns in _meanings(files).items():
        lines += [f"### {config}", "", "| column | meaning |", "|--|--|"]
        lines += [f"| `{name}` | {meaning.replace('|', '/')} |" for name, meaning in columns.items()]
        lines.append("")
    return lines


def _meanings(files: Iterable[str]) -> dict[str, Mapping[str, str]]:
    return {
        config: (
            STEP_COLUMNS
            if config == STEPS
            else {item.name: item.comment for item in TABLE_NAMED[config].columns}
        )
        for config in files
    }


def trust_lines(warehouse: Warehouse) -> list[str]:
    """The section on error rates of the evaluation functions, which says so where they are not known."""
    rates = error_rates(warehouse)
    lines = ["## Error rates of the evaluation functions", ""]
    if rates is None:
        return [*lines, UNKNOWN, ""]
    return [
        *lines,
        (
            f"{rates.functions} accepted functions of {rates.subtasks} subtasks judged work that was really"
            " performed and whose right or wrong is known from outside. Shares with 95 % confidence"
            " intervals:"
        ),
        "",
        as_markdown(rates),
        "",
    ]


def quality_lines(warehouse: Warehouse) -> list[str]:
    """The section on the judge of instructions and on how varied they are."""
    rows = task_quality(warehouse).lines()
    return [
        "## Instructions and their judge",
        "",
        "| | |",
        "|--|--|",
        *(f"| {name} | {value} |" for name, value in rows),
        "",
    ]


def _complexity(counts: Mapping[str, int]) -> list[str]:
    return [
        "## Complexity",
        "",
        f"| tasks by level | {' | '.join(LEVELS)} | counts |",
        f"|--|{'--|' * len(LEVELS)}--|",
        *(
            f"| {row.name} | {' | '.join(str(counts[f'{row.name}: {level}']) for level in LEVELS)} |"
            f" {row.plural} |"
            for row in TABLE
        ),
        "",
        "![Tasks per level](plots/levels.svg)",
        "",
        "![Tasks per application](plots/applications.svg)",
        "",
    ]


def _funnel(source: ExportSource) -> list[str]:
    rows = source.warehouse.query("SELECT step, reason, items FROM funnel").as_dicts()
    return [
        "## Where the tasks come from",
        "",
        "All that was tried in the warehouse from which these tasks were selected:",
        "",
        "| step | items |",
        "|--|--|",
        *(
            f"| {': '.join(str(row[name]) for name in ('step', 'reason') if row[name])} | {row['items']} |"
            for row in rows
        ),
        "",
    ]


def _licences(source: ExportSource, options: ExportOptions, names: Sequence[str]) -> list[str]:
    found = [source.applications[name] for name in names if name in source.applications]
    lines = ["## Licence", "", f"{options.licence}. The applications keep their own licences:", ""]
    return [
        *lines,
        "| application | version | licence |",
        "|--|--|--|",
        *(f"| {item.title} | {item.version} | {item.licence} |" for item in found),
        "",
    ]
