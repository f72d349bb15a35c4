"""Sets whose shares count recordings or steps instead of tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from taskloom.warehouse.sets.names import SPLITS, ShareUnit, SplitName
from taskloom.warehouse.store import Warehouse

Kind = Literal["subtasks", "replays", "attempts"]
"""Whose recordings an export holds."""
_AMONG: Final = "task_id IN (SELECT unnest($ids::VARCHAR[]))"
_OWNERS: Final[Mapping[Kind, str]] = {
    "subtasks": f"""SELECT DISTINCT task_id, subtask_id AS item, trajectory_id FROM (
        SELECT task_id, unnest(nodes).subtask_id AS subtask_id FROM tasks WHERE {_AMONG}
    ) JOIN trajectories USING (subtask_id) WHERE provenance_stage = 'import'
        OR trajectory_id IN (SELECT trajectory_id FROM verifications WHERE accepted)""",
    "replays": f"""SELECT task_id, task_id AS item, trajectory_id FROM replays
        WHERE success AND trajectory_id <> '' AND {_AMONG}""",
    "attempts": f"""SELECT task_id, task_id AS item, trajectory_id FROM agent_runs
        WHERE trajectory_id <> '' AND ended <> 'invalid' AND {_AMONG}
            AND (success OR $every) AND ($agent = '' OR agent = $agent)""",
}
"""The task, what its recordings belong to, and each of them."""


@dataclass(frozen=True, slots=True)
class CountedItems:
    """What each task brings into an export; a recording of a subtask is written once for all of its tasks."""

    unit: ShareUnit
    """What is counted."""
    held: Mapping[str, Sequence[str]]
    """The items of each task."""
    amounts: Mapping[str, int]
    """What each item counts."""

    def weights(self) -> dict[str, float]:
        """What each task counts: an item of several counts for each in part."""
        users = Counter(item for items in self.held.values() for item in items)
        return {
            task: sum(self.amounts[item] / users[item] for item in items) for task, items in self.held.items()
        }

    def of_sets(self, sets: Mapping[SplitName, Sequence[str]]) -> dict[SplitName, int]:
        """What each set gets; an item that several may have is the first one's."""
        taken: set[str] = set()
        found: dict[SplitName, int] = {}
        for name in SPLITS:
            own = {item for task in sets.get(name, ()) for item in self.held.get(task, ())} - taken
            found[name] = sum(self.amounts[item] for item in own)
            taken |= own
        return found


def counted_items(
    warehouse: Warehouse,
    task_ids: Sequence[str],
    unit: ShareUnit,
    kind: Kind,
    *,
    every: bool = False,
    agent: str = "",
) -> CountedItems:
    """What the recordings of some tasks count; of attempts only the successful ones unless `every`."""
    amount = (
        "1"
        if unit == "recordings"
        else "(SELECT count(*) FROM trajectory_steps AS s WHERE s.trajectory_id = m.id)"
    )
    given: dict[str, object] = {"ids": list(task_ids)}
    if kind == "attempts":
        given |= {"every": every, "agent": agent}
    rows = warehouse.query(
        f"WITH owned AS ({_OWNERS[kind]}), made AS (SELECT DISTINCT item, trajectory_id AS id FROM owned),"
        f" counted AS (SELECT item, sum({amount}) AS amount FROM made AS m GROUP BY item)"
        " SELECT DISTINCT task_id, item, amount FROM owned JOIN counted USING (item) ORDER BY ALL",
        given,
    ).rows()
    held: dict[str, list[str]] = defaultdict(list)
    amounts: dict[str, int] = {}
    for task, item, count in rows:
        held[str(task)].append(str(item))
        amounts[str(item)] = int(str(count))
    return CountedItems(unit, held, amounts)
