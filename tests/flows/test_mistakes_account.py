"""What became of deliberate mistakes is told of one run, not of those before it."""

import asyncio
import json
from pathlib import Path

from taskloom.flows.summaries.summary import MistakeFate, account_of_mistakes
from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.offline.mistakes import mark
from taskloom.taskgraph.records.model_calls import ModelCall, ModelRole
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.store import Warehouse
from tests.model_clients.requests import PlainQuestion
from tests.warehouse.samples import records

TASKS = [item for item in records() if isinstance(item, Task)]


def answered(ledger: Ledger, run_id: str, task_id: str, instruction: str) -> None:
    """A summarizer's answer in `run_id` that leaves something out on purpose."""
    call = ModelCall(
        key=f"{run_id}/{task_id}",
        outcome="answered",
        run_id=run_id,
        stage="instructions",
        item_id=task_id,
        role=ModelRole.SUMMARIZER,
        provider="offline",
        model="rules",
        finish_reason="stop",
        provider_request_id=mark("dependency_reversed"),
    )
    request = first_request(PlainQuestion(call.key), stage=call.stage, item_id=task_id)
    asyncio.run(ledger.record(call, request, json.dumps({"instruction": instruction})))


def test_mistakes_of_earlier_runs_do_not_count(tmp_path: Path) -> None:
    task = TASKS[0].model_copy(update={"status": "validated", "instruction": "Do all of it."})
    with Ledger(tmp_path / "ledger.sqlite") as ledger, Warehouse(tmp_path / "warehouse") as store:
        store.write([task])
        answered(ledger, "earlier", task.task_id, "Do half of it.")
        answered(ledger, "earlier", "none such", "Do nothing.")
        answered(ledger, "this", task.task_id, "Do all of it.")

        def account(run_id: str) -> list[MistakeFate]:
            return list(account_of_mistakes(ledger, store, run_id))

        kind = "dependency_reversed"
        assert account("earlier") == [
            MistakeFate(kind=kind, made=2, repaired=1, rejected=1, slipped_through=0)
        ]
        assert account("this") == [MistakeFate(kind=kind, made=1, repaired=0, rejected=0, slipped_through=1)]
        assert account("later") == []
