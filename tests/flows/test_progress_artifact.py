"""What Prefect's UI shows of a run that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from taskloom.flows.running.progress import StageProgress
from taskloom.flows.running.recording import Recorder
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Rejection


async def test_stages_rejections_and_calls_are_told(prefect_home: Path) -> None:
    from taskloom.flows.hosting import describe_progress

    class Forgetful:
        def write(self, records: Sequence[Record], replace: bool = False) -> None:
            pass

    recorder = Recorder(Forgetful())
    refused = Rejection(item_kind="task", item_id="t", stage="validation", reason="not_told", message="no")
    await recorder.record(refused, refused.model_copy(update={"item_id": "u"}))
    await recorder.close()
    calls = CallCounters(waiting=3, in_flight=2, pauses={"openai": "it is down"})
    calls.total.calls_made, calls.total.cost_usd = 7, 1.5
    stages = {"validation": StageProgress("validation", total=10, done=4, rejected=2)}
    told = describe_progress(stages, recorder.rejections, calls)
    assert "| validation | 4/10 done, 2 rejected, 0 s |" in told
    assert "| validation | not_told | 2 |" in told
    for line in ("made | 7", "waiting | 3", "in flight | 2", "spent | $1.50", "openai pauses | it is down"):
        assert f"| {line} |" in told
