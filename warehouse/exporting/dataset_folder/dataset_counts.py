"""What a dataset card says of its tasks, counted by the database."""

from __future__ import annotations

from collections import Counter
from typing import Final

from taskloom.resources.dimensions import TABLE
from taskloom.warehouse.exporting.exporting import ExportSource

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
    """The counts by the names of the card's template: `sums` over all tasks, `tasks` by set, `levels` by set
    (or none), dimension and level, and how often each of the `applications`, `scenarios`, `subtasks` and
    `worlds` stands in them, the most frequent first."""
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
