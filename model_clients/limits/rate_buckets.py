"""A token bucket: what may be admitted now, and how long until the next admission."""

from __future__ import annotations

from dataclasses import dataclass

_SLOWEST_SHARE = 0.05
_SLOW_DOWN = 0.7
_RECOVERY_PER_SECOND = 0.02
_SAME_EVENT_SECONDS = 1.0
_SOON_SECONDS = 15.0
_LONGEST_HOLD_SECONDS = 5.0


@dataclass(slots=True)
class RateBucket:
    """Admits amounts at a rate per minute; unlimited while no rate is known.

    An amount larger than the bucket is admitted when the bucket is full, which leaves the level negative
    until it has refilled; a correction may do the same.
    """

    per_minute: float | None
    """The limit; None when unknown."""
    configured: bool = False
    """Whether the limit comes from the settings rather than from headers."""
    burst_seconds: float = 0.25
    """Capacity of the bucket, in seconds of the rate. Small, so that requests sent apart but arriving
    together do not exceed the finer window of a provider."""
    share: float = 1.0
    """Share of the limit in use: cut when the provider reports overload, recovering over time."""
    _level: float = 0.0
    _filled_at: float = 0.0
    _cut_at: float = float("-inf")

    def wait_seconds(self, amount: float, now: float) -> float:
        """Seconds until `amount` is admitted; zero means now."""
        if self.per_minute is None:
            return 0.0
        self._fill(now)
        missing = min(amount, self._capacity) - self._level
        return 0.0 if missing <= 1e-9 else missing / self._per_second

    def take(self, amount: float, now: float) -> None:
        """Admit `amount`."""
        if self.per_minute is not None:
            self._fill(now)
            self._level -= amount

    def correct(self, difference: float) -> None:
        """Give back what was overestimated or, if negative, take what was underestimated."""
        if self.per_minute is not None:
            self._level = min(self._capacity, self._level + difference)

    def learn(self, per_minute: float | None, remaining: float | None, now: float) -> None:
        """Adopt the limits from a response's headers, unless the settings define them."""
        if per_minute and not self.configured and per_minute != self.per_minute:
            if self.per_minute is None:
                self._level, self._filled_at = per_minute / 60 * self.burst_seconds, now
            self.per_minute = per_minute
        if remaining is not None and self.per_minute is not None:
            self._fill(now)
            self._level = min(self._level, remaining)

    def slow_down(self, admitted_per_minute: float, hold_seconds: float, now: float) -> None:
        """The provider reports that the rate is too high; several such responses within a second count once.

        With a known rate, the first report only delays the next admissions, because requests sent apart may
        have arrived together; another one soon after cuts the rate. If no rate is known, the recent rate of
        admissions, reduced, becomes the rate.
        """
        if now - self._cut_at < _SAME_EVENT_SECONDS:
            return
        repeated = now - self._cut_at < _SOON_SECONDS
        if self.per_minute is None and admitted_per_minute > 0:
            self.per_minute, self._filled_at, self._level, repeated = admitted_per_minute, now, 0.0, True
        self._fill(now)
        if repeated:
            self.share = max(_SLOWEST_SHARE, self.share * _SLOW_DOWN)
        self._level = min(self._level, -min(hold_seconds, _LONGEST_HOLD_SECONDS) * self._per_second)
        self._cut_at = now

    @property
    def _per_second(self) -> float:
        return (self.per_minute or 0.0) / 60 * self.share

    @property
    def _capacity(self) -> float:
        return max(1.0, (self.per_minute or 0.0) / 60 * self.burst_seconds)

    def _fill(self, now: float) -> None:
        passed = max(0.0, now - self._filled_at)
        self._level = min(self._capacity, self._level + passed * self._per_second)
        self.share = min(1.0, self.share + passed * _RECOVERY_PER_SECOND)
        self._filled_at = now
