"""Which call is in which batch, kept in the ledger, so that batches survive a restart."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Sequence

from model_clients.ledger.ledger import Ledger


class BatchJournal:
    """The ledger's tables of batches of one model."""

    def __init__(self, ledger: Ledger, place: str) -> None:
        """Keep batches of `place`, the provider, server and model they were handed to."""
        self._ledger, self._place = ledger, place

    def batch_of(self, key: str) -> str | None:
        """The batch that a call was handed in with and not yet collected from."""
        rows = self._ledger.select(
            "SELECT batch_id FROM batch_requests JOIN batches USING (batch_id) WHERE key = ? AND place = ?",
            (key, self._place),
        )
        return str(rows[0][0]) if rows else None

    async def submitted(self, batch_id: str, keys: Sequence[str]) -> None:
        """Write down a batch that was handed in; returns when it is on the disk."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", (batch_id, self._place, time.time())
            )
            connection.executemany(
                "INSERT OR REPLACE INTO batch_requests VALUES (?, ?)", [(key, batch_id) for key in keys]
            )

        await asyncio.wrap_future(self._ledger.writer.submit(write))

    async def forget(self, batch_id: str, keys: Iterable[str]) -> None:
        """Calls that the batch did not answer; they may go into another."""

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "DELETE FROM batch_requests WHERE key = ? AND batch_id = ?", [(key, batch_id) for key in keys]
            )

        await asyncio.wrap_future(self._ledger.writer.submit(write))
