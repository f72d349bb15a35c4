"""Records in the ledger which call is in which batch, so that batches survive a restart."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Sequence

from taskloom.model_clients.ledger.ledger import Ledger


class BatchJournal:
    """The batches of one model, in the ledger's tables."""

    def __init__(self, ledger: Ledger, place: str) -> None:
        """Use the batches of `place`: the provider, server and model they were submitted to."""
        self._ledger, self._place = ledger, place

    def batch_of(self, key: str) -> str | None:
        """The batch in which a call was submitted; None if there is none."""
        rows = self._ledger.select(
            "SELECT batch_id FROM batch_requests JOIN batches USING (batch_id) WHERE key = ? AND place = ?",
            (key, self._place),
        )
        return str(rows[0][0]) if rows else None

    async def submitted(self, batch_id: str, keys: Sequence[str]) -> None:
        """Record a submitted batch; returns once the record is on disk."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", (batch_id, self._place, time.time())
            )
            connection.executemany(
                "INSERT OR REPLACE INTO batch_requests VALUES (?, ?)", [(key, batch_id) for key in keys]
            )

        await asyncio.wrap_future(self._ledger.writer.submit(write))

    async def forget(self, batch_id: str, keys: Iterable[str]) -> None:
        """Remove calls that the batch did not answer, so that they may go into another."""

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "DELETE FROM batch_requests WHERE key = ? AND batch_id = ?", [(key, batch_id) for key in keys]
            )

        await asyncio.wrap_future(self._ledger.writer.submit(write))
