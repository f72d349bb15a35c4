"""What became of the deliberate mistakes of the offline provider, by kind.

A mistake slipped through if the answer that contains it (a trajectory, a function, an instruction) is in the
dataset unchanged; it was repaired if the item is in the dataset with something else in its place, and
rejected if the item is not in the dataset at all.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.offline.mistakes import InjectedMistake, read_mark
from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelCall, ModelRole
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.store import Warehouse


class MistakeFate(Record):
    """What became of the mistakes of one kind."""

    kind: str
    """Kind of mistake."""
    made: int
    """How many were made."""
    repaired: int
    """The item got into the dataset without it."""
    rejected: int
    """The item did not get into the dataset."""
    slipped_through: int
    """It stands in the dataset."""

    def describe(self) -> str:
        """The fate in one line."""
        return (
            f"{self.kind}: {self.made} made, {self.repaired} repaired, {self.rejected} rejected,"
            f" {self.slipped_through} slipped through"
        )


@dataclass(frozen=True, slots=True)
class _Dataset:
    subtasks: dict[str, Subtask]
    trajectories: frozenset[str]
    functions: frozenset[str]
    instructions: dict[str, str]


def account_of_mistakes(ledger: Ledger, warehouse: Warehouse, run_id: str) -> tuple[MistakeFate, ...]:
    """The fate of every mistake made in answers to `run_id`, by kind; empty if there were none."""
    marked = [
        (call, mistake) for call in ledger.calls(run_id) for mistake in read_mark(call.provider_request_id)
    ]
    if not marked:
        return ()
    dataset = _read(warehouse)
    fates: dict[str, Counter[str]] = {}
    for call, mistake in marked:
        fates.setdefault(mistake.kind, Counter())[_fate(call, mistake, ledger, dataset)] += 1
    return tuple(
        MistakeFate(
            kind=kind,
            made=counts.total(),
            repaired=counts["repaired"],
            rejected=counts["rejected"],
            slipped_through=counts["slipped through"],
        )
        for kind, counts in sorted(fates.items())
    )


def _read(warehouse: Warehouse) -> _Dataset:
    accepted = warehouse.query(
        "SELECT DISTINCT subtask_id, source FROM evaluation_functions WHERE accepted"
    ).rows()
    verified = {str(row[0]) for row in accepted}
    trajectories = warehouse.query("SELECT DISTINCT trajectory_id FROM verifications WHERE accepted").rows()
    tasks = warehouse.query("SELECT task_id, instruction FROM tasks WHERE status = 'validated'").rows()
    return _Dataset(
        subtasks={item.subtask_id: item for item in warehouse.read(Subtask) if item.subtask_id in verified},
        trajectories=frozenset(str(row[0]) for row in trajectories),
        functions=frozenset(str(row[1]) for row in accepted),
        instructions={str(row[0]): str(row[1]) for row in tasks},
    )


def _fate(call: ModelCall, mistake: InjectedMistake, ledger: Ledger, dataset: _Dataset) -> str:
    reply = ledger.find(call.key)
    text = reply.text if reply else "{}"
    if call.role is ModelRole.SUMMARIZER:
        kept = dataset.instructions.get(call.item_id)
        return _settled(kept is not None, kept == json.loads(text).get("instruction", "").strip())
    if call.role is ModelRole.EVALUATION_WRITER:
        return _settled(call.item_id in dataset.subtasks, json.loads(text).get("source") in dataset.functions)
    subtask_id = call.item_id.rpartition(":")[0]
    return _settled(subtask_id in dataset.subtasks, f"{call.item_id}:{call.attempt}" in dataset.trajectories)


def _settled(item_is_in: bool, mistake_is_in: bool) -> str:
    if item_is_in and mistake_is_in:
        return "slipped through"
    return "repaired" if item_is_in else "rejected"
