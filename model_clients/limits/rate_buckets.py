"""A rate that fills a bucket: what may be admitted now, and how long until the next."""

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

    An amount larger than the bucket is admitted when the bucket is full, and paid back by the time it takes to
    fill again; a correction may leave the bucket below empty.
    """

    per_minute: float | None
    """The limit; None when unknown."""
    configured: bool = False
    """Whether it comes from the settings and not from headers."""
    burst_seconds: float = 0.25
    """A bucket holds what comes in during this time: little, so that a provider's own, finer window is not overrun
    when requests that left apart arrive together."""
    share: float = 1.0
    """Part of the limit in use: cut when the provider complains, regrown with time."""
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
        """Give back an amount that was estimated too high, or take (negative) one estimated too low."""
        if self.per_minute is not None:
            self._level = min(self._capacity, self._level + difference)

    def learn(self, per_minute: float | None, remaining: float | None, now: float) -> None:
        """Take over what a response's headers say, unless the settings know better."""
        if per_minute and not self.configured and per_minute != self.per_minute:
            if self.per_minute is None:
                self._level, self._filled_at = per_minute / 60 * self.burst_seconds, now
            self.per_minute = per_minute
        if remaining is not None and self.per_minute is not None:
            self._fill(now)
            self._level = min(self._level, remaining)

    def slow_down(self, admitted_per_minute: float, hold_seconds: float, now: float) -> None:
        """The provider says that this is too fast; several such answers within a second count once.

        A first complaint about a known rate only holds the next admissions back, for requests that left apart may
        have arrived together; a further one soon after cuts the rate. Where no rate is known, what was admitted
        lately becomes the rate, cut.
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
