"""A circuit breaker: pauses a failing provider, then probes it with one call."""

from collections.abc import Callable
from dataclasses import dataclass, field

from taskloom.model_clients.settings import RetrySettings


@dataclass(slots=True)
class Circuit:
    """Pauses a provider after many failures in a row; one success closes it.

    While it is open, no calls are admitted. After the pause, one call is admitted as a probe; if that fails
    too, the next pause is twice as long.
    """

    name: str
    settings: RetrySettings
    changed: list[Callable[[], None]] = field(default_factory=list)
    """Called after every opening and closing."""
    reason: str = ""
    """Why it is open; empty while it is closed."""
    failing_since: float | None = None
    """When the failures in a row began; None after a success."""
    _failures: int = 0
    _open_until: float = 0.0
    _pause: float = 0.0
    _probing: bool = False

    def wait_seconds(self, now: float) -> float | None:
        """Seconds until a call may be admitted: zero means now, None means once the probe has returned."""
        if not self.reason:
            return 0.0
        if self._probing:
            return None
        return max(0.0, self._open_until - now)

    def given_up(self, now: float) -> bool:
        """Whether the provider has been failing for longer than is worth waiting for."""
        since = self.failing_since
        return bool(self.reason) and since is not None and now - since >= self.settings.longest_outage_seconds

    def admitted(self) -> None:
        """A call was admitted; if the circuit is open, it is the probe."""
        self._probing = bool(self.reason)

    def succeeded(self) -> None:
        """A call was answered, even if only with a refusal: the provider works."""
        self._failures, self._pause, self._probing = 0, 0.0, False
        was_open, self.reason, self.failing_since = bool(self.reason), "", None
        if was_open:
            self._notify()

    def withdrawn(self) -> None:
        """A call ended without saying anything about the provider's state."""
        if self._probing:
            self._probing = False
            self._notify()

    def failed(self, message: str, now: float) -> None:
        """A call failed through the provider's fault."""
        self._failures += 1
        self.failing_since = now if self.failing_since is None else self.failing_since
        if self._failures < self.settings.failures_until_pause or (self.reason and not self._probing):
            return
        self._pause = min(
            self.settings.longest_pause_seconds,
            self._pause * 2 if self._pause else self.settings.pause_seconds,
        )
        self._open_until, self._probing = now + self._pause, False
        self.reason = (
            f"{self.name} paused for {self._pause:.0f} s after {self._failures} failures in a row: {message}"
        )
        self._notify()

    def _notify(self) -> None:
        for listener in self.changed:
            listener()
