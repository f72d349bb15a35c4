"""The dataset card of a Hugging Face export, written from the data: statistics, funnel, licence."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Final

from jinja2 import Environment, StrictUndefined, Template

from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.taskgraph.measures.acceptance_rates import as_markdown
from taskloom.warehouse import exporting
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportSource
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.sets.key_table import SPLITS
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import UNKNOWN, error_rates, task_quality
from taskloom.warehouse.versions import REASONS, ScoreValidity, score_validity

_CHOSEN: Final = """
WITH listed AS (SELECT unnest($ids::VARCHAR[]) AS task_id, unnest($sets::VARCHAR[]) AS split),
chosen AS (SELECT *, task_id IN (SELECT task_id FROM replays WHERE success) AS replayed FROM tasks JOIN listed USING (task_id)),
of_nodes AS (SELECT unnest(nodes).subtask_id AS name, replayed FROM chosen),
of_applications AS (SELECT unnest(applications) AS name FROM chosen)
"""  # noqa: E501
_SUMS: Final = r"""
SELECT min(node_count) AS least_nodes, max(node_count) AS most_nodes, avg(node_count) AS mean_nodes,
    min(said) AS least_words, max(said) AS most_words, avg(said) AS mean_words,
    count(*) FILTER (simulated) AS simulated, count(*) FILTER (covered) AS covered, count(*) FILTER (replayed) AS replayed,
    (SELECT count(DISTINCT name) FROM of_nodes WHERE replayed) AS replayed_subtasks
FROM (SELECT *, len(regexp_extract_all(coalesce(instruction, ''), '[^\s\p{Z}]+')) AS said FROM chosen)
"""  # noqa: E501


def dataset_counts(source: ExportSource) -> dict[str, object]:
    """The counts by the names of the card's template.

    `sums` over all tasks, `tasks` by set, `levels` by set (or none), dimension and level, and how often
    each of the `applications`, `scenarios`, `subtasks` and `worlds` stands in them, the most frequent
    first.
    """
    members = [(name, split) for split, names in source.by_set() for name in names]
    values = {"ids": [name for name, _ in members], "sets": [split for _, split in members]}

    def counted(name: str, table: str = "chosen") -> Counter[str]:
        sql = f"SELECT {name}, count(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1"
        found = source.warehouse.query(_CHOSEN + sql, values).rows()
        return Counter({str(value): int(str(count)) for value, count in found if value is not None})

    levels: Counter[tuple[str, str, str]] = Counter()
    for row in TABLE:
        sql = f"SELECT split, {row.level_column}, count(*) FROM chosen GROUP BY ALL"
        for split, level, count in source.warehouse.query(_CHOSEN + sql, values).rows():
            for name in (str(split), ""):
                levels[name, row.name, str(level)] += int(str(count))
    return {
        "tasks": Counter(split for _, split in members),
        "sums": source.warehouse.query(_CHOSEN + _SUMS, values).as_dicts()[0],
        "levels": levels,
        "applications": counted("name", "of_applications"),
        "scenarios": counted("scenario"),
        "subtasks": counted("name", "of_nodes"),
        "worlds": counted("CASE WHEN coalesce(world, '') = '' THEN 'the first' ELSE world END"),
    }


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
_SHOWN: Final = 5
_MARKS: Final = re.compile(r"[\\|`\[\]]")
"""Marks that make columns, code, links and pictures, and the one that takes that from them."""


def card_text(
    source: ExportSource,
    options: ExportOptions,
    files: Mapping[str, Mapping[str, Sequence[str]]],
    rows: Mapping[str, Mapping[str, int]],
) -> str:
    """The card, from the template beside it; `files` and numbers of `rows` are by configuration and set."""
    warehouse, total = source.warehouse, len(source.task_ids)
    counts = dataset_counts(source)
    rates = error_rates(warehouse)
    called = warehouse.query("SELECT DISTINCT provider, model FROM model_calls ORDER BY ALL").as_dicts()
    return _template().render(
        title=_TITLE,
        options=options,
        files=files,
        rows=rows,
        counts=counts,
        total=total,
        size=next((name for limit, name in _SIZES if total < limit), "n>1M"),
        models=[f"{row['provider']}/{row['model']}" for row in called],
        version=warehouse.version,
        splits=[name for name in SPLITS if any(name in found for found in files.values())],
        meanings=_meanings(files),
        report=source.leakage,
        sets=[name for name in SPLITS if source.splits.get(name)],
        rates=rates,
        rates_table=as_markdown(rates) if rates else "",
        quality=task_quality(warehouse),
        scores=_earlier_scores(warehouse),
        funnel=warehouse.query("SELECT step, reason, items FROM funnel").as_dicts(),
        known=source.applications,
    )


def _template() -> Template:
    environment = Environment(  # noqa: S701 - Markdown
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["quoted"] = json.dumps
    environment.filters["plain"] = _plain
    environment.filters["percent"] = lambda share: "-" if share is None else f"{share:.1%}"
    environment.globals.update(
        dimensions=TABLE, levels=LEVELS, reasons=REASONS, rates_unknown=UNKNOWN, often=_often
    )
    return environment.from_string(resources.files(exporting).joinpath("card.md.jinja").read_text("utf-8"))


def _plain(text: object) -> str:
    line = " ".join(str(text).split())
    return escape(_MARKS.sub(r"\\\g<0>", line), quote=False)


def _often(found: Counter[str], total: int) -> str:
    return ", ".join(
        f"{_plain(name or 'none')} {count / total:.0%}" for name, count in found.most_common(_SHOWN)
    )


def _meanings(files: Iterable[str]) -> dict[str, Mapping[str, str]]:
    return {
        config: (
            STEP_COLUMNS
            if config == STEPS
            else {item.name: item.comment for item in TABLE_NAMED[config].columns}
        )
        for config in files
    }


def _earlier_scores(warehouse: Warehouse) -> ScoreValidity | None:
    """Scores of the version before that do not count in this one; None where there is no such version."""
    if warehouse.version is None:
        return None
    with warehouse.reopened() as present:
        names = [item.name for item in present.versions()]
        return score_validity(present, warehouse.version) if warehouse.version in names[1:] else None
