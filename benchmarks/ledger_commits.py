"""The cost of durability: `python -m benchmarks.ledger_commits`.

32 tasks record replies as fast as they can, first with the ledger as it is (every reply is on disk before it
is used, waiting writes share a transaction), then with one transaction per reply and equal synchronisation.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.questions import Question
from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.ledger.ledger import Ledger, format_time
from taskloom.taskgraph.records.model_calls import ModelCall

REPLIES = 2000
TASKS = 32


async def record_all(ledger: Ledger, tasks: int) -> float:
    """Replies recorded per second."""
    numbers = iter(range(REPLIES))

    async def work() -> None:
        for number in numbers:
            request = first_request(Question(f"item {number}"), stage="s", item_id="i")
            call = ModelCall(
                key=f"{number:064}",
                outcome="answered",
                role=request.role,
                provider="openai",
                model="m",
                finished_at=format_time(datetime.now(UTC)),
            )
            await ledger.record(call, request, '{"answer": "x"}' * 20)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(tasks)))
    return REPLIES / (time.perf_counter() - started)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        with Ledger(Path(folder) / "shared.sqlite") as ledger:
            shared = asyncio.run(record_all(ledger, TASKS))
        with Ledger(Path(folder) / "single.sqlite") as ledger:
            single = asyncio.run(record_all(ledger, 1))
    print(f"{shared:.0f} replies/s by {TASKS} tasks that share transactions, {single:.0f} one after another")
    print(f"ratio {shared / single:.1f}")


if __name__ == "__main__":
    main()
