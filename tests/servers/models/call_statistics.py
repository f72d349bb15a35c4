"""When the local server was asked and how long it took, for benchmarks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(slots=True)
class ServerStatistics:
    """Times of all calls, in seconds."""

    first_at: float = 0.0
    """When the first call came in."""
    last_at: float = 0.0
    """When the last answer went out."""
    calls: list[tuple[float, float, int]] = field(default_factory=list)
    """When each call came in, how long it took inside the server, and its status."""
    statuses: Counter[int] = field(default_factory=Counter)
    """Answers by status."""

    def add(self, status: int, started: float, ended: float) -> None:
        """Count one answer."""
        self.first_at = min(self.first_at, started) if self.calls else started
        self.last_at = max(self.last_at, ended)
        self.calls.append((started, ended - started, status))
        self.statuses[status] += 1

    def as_json(self) -> dict[str, JsonValue]:
        """The figures as JSON."""
        return {
            "first_at": self.first_at,
            "last_at": self.last_at,
            "calls": [{"latency": latency, "status": status} for _, latency, status in sorted(self.calls)],
            "statuses": {str(status): count for status, count in self.statuses.items()},
        }
