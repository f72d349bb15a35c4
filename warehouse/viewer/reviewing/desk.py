"""Takes reviews from the viewer's own pages and stores them."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from taskloom.taskgraph.records.review import Review
from taskloom.warehouse.store import Warehouse


class ReviewDesk:
    """Stores reviews in the present state of a warehouse. May be used from several threads.

    Each viewer has a token of its own, made when it starts: a form without it was not made by this viewer.
    """

    def __init__(self, address: str | Path) -> None:
        """Write to the warehouse at `address`; it is opened for each review and closed again."""
        self.token = secrets.token_urlsafe(32)
        self._address = address
        self._guard = threading.Lock()

    def knows(self, token: str) -> bool:
        """Whether a form was made by this viewer."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def store(self, review: Review) -> None:
        """Store a review; when this returns, it is committed.

        Raises:
            WarehouseUnavailableError: the place cannot be written; nothing was stored.
            WarehouseBusyError: other writers, such as a build, took too long; nothing was stored.
        """
        with self._guard, Warehouse(self._address) as opened:
            opened.write([review])
