"""The dataset card of a Hugging Face export, written from the data: statistics, funnel, plots, licence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from taskgraph.complexity import DIMENSIONS, LEVELS
from taskgraph.task import Task
from warehouse.exporting import ExportOptions, ExportSource

_BAR_HEIGHT, _LABEL_WIDTH, _PLOT_WIDTH = 22, 210, 560


def write_card(
    folder: Path,
    source: ExportSource,
    options: ExportOptions,
    files: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Write `README.md`, and its plots to `plots/`."""
    tasks = list(source.tasks())
    plots = folder / "plots"
    plots.mkdir()
    levels = [
        (
            f"{dimension}: {level}",
            sum(getattr(task.complexity, f"{dimension}_level") == level for task in tasks),
        )
        for dimension in DIMENSIONS
        for level in LEVELS
    ]
    applications = Counter(name for task in tasks for name in {node.application for node in task.graph.nodes})
    (plots / "levels.svg").write_text(bar_chart("Tasks per level", levels), encoding="utf-8")
    (plots / "applications.svg").write_text(
        bar_chart("Tasks per application", applications.most_common(25)), encoding="utf-8"
    )
    (folder / "README.md").write_text(_text(source, options, files, tasks, levels), encoding="utf-8")


def bar_chart(title: str, bars: Sequence[tuple[str, int]]) -> str:
    """A horizontal bar chart as SVG."""
    most = max((value for _, value in bars), default=0) or 1
    height = _BAR_HEIGHT * len(bars) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LABEL_WIDTH + _PLOT_WIDTH + 80}" height="{height}"'
        ' font-family="sans-serif" font-size="13">',
        f'<text x="8" y="22" font-size="16">{escape(title)}</text>',
    ]
    for position, (label, value) in enumerate(bars):
        top = 36 + position * _BAR_HEIGHT
        width = _PLOT_WIDTH * value / most
        parts.append(
            f'<text x="{_LABEL_WIDTH - 8}" y="{top + 14}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{_LABEL_WIDTH}" y="{top + 2}" width="{width:.1f}" height="{_BAR_HEIGHT - 6}" fill="#4477aa"/>'
            f'<text x="{_LABEL_WIDTH + width + 6:.1f}" y="{top + 14}">{value}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _text(
    source: ExportSource,
    options: ExportOptions,
    files: Mapping[str, Mapping[str, Sequence[str]]],
    tasks: Sequence[Task],
    levels: Sequence[tuple[str, int]],
) -> str:
    subtasks = {node.subtask_id for task in tasks for node in task.graph.nodes}
    applications = {node.application for task in tasks for node in task.graph.nodes}
    simulated = sum(task.simulated for task in tasks)
    sizes = [task.complexity.nodes for task in tasks]
    lines = [
        "---",
        f"license: {options.licence}",
        "language:",
        "- en",
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
    lines += [
        "---",
        "",
        "# Graph-structured tasks for computer-use agents",
        "",
        f"{len(tasks)} tasks composed of {len(subtasks)} verified subtasks of {len(applications)} applications, with"
        " evaluation functions and recorded trajectories, made with taskloom.",
        "",
        "| | |",
        "|--|--|",
        f"| tasks | {len(tasks)} |",
        f"| subtasks | {len(subtasks)} |",
        f"| applications | {', '.join(sorted(applications))} |",
        f"| subtasks per task | {min(sizes)} to {max(sizes)}, mean {sum(sizes) / len(sizes):.1f} |",
        f"| tasks on simulated applications | {simulated} |",
        f"| dataset version | {source.warehouse.version or 'unpublished state'} |",
        "",
        "## Sets",
        "",
        "| configuration | set | files |",
        "|--|--|--|",
        *(
            f"| {config} | {split} | {len(names)} |"
            for config, splits in files.items()
            for split, names in splits.items()
        ),
        "",
        "## Complexity",
        "",
        "Levels of the five dimensions (dependencies, subtasks, application categories, depth, width):",
        "",
        "| level | tasks |",
        "|--|--|",
        *(f"| {label} | {count} |" for label, count in levels),
        "",
        "![levels](plots/levels.svg)",
        "![applications](plots/applications.svg)",
        "",
        "## Funnel of the whole warehouse",
        "",
        "| step | reason | items |",
        "|--|--|--|",
        *(
            f"| {row['step']} | {row['reason']} | {row['items']} |"
            for row in source.warehouse.query("SELECT step, reason, items FROM funnel").as_dicts()
        ),
        "",
        "## Licence",
        "",
        f"{options.licence}. The applications keep their own licences.",
        "",
    ]
    return "\n".join(lines)
