"""The rate limiter of one model: admits calls as fast as its limits allow, nearly finished items first. A
circuit breaker pauses a failing provider, then probes it with one call."""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from taskloom.model_clients.errors import (
    ModelClientError,
    ProviderDownError,
    ProviderOverloadedError,
    RateLimitedError,
    RunStoppedError,
)
from taskloom.model_clients.rate_reports import RateReport
from taskloom.model_clients.settings import LimitSettings, RetrySettings


@dataclass(slots=True)
class Circuit:
    """Pauses a provider after many failures in a row; one success closes the circuit.

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
        """Whether the provider has been failing for longer than the longest outage to wait for."""
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
        """A call ended without showing the provider's state."""
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


_OBSERVED_SECONDS = 10.0

Priority = tuple[int, int]
"""Smaller goes first: the number of stages left for the item, then 0 for a started item, 1 for a new one."""


@dataclass(slots=True, order=True)
class _Waiter:
    priority: Priority
    number: int
    tokens: float = field(compare=False)
    admitted: asyncio.Future[None] = field(compare=False)


@dataclass(slots=True)
class Admission:
    """Permission to send one request; exactly one of its methods must be called to end it."""

    _limiter: "CallLimiter"
    _tokens: float
    _ended: bool = False

    def answered(self, tokens: int, report: RateReport | None) -> None:
        """The call was answered and used `tokens` tokens."""
        self._end()
        self._limiter._answered(self._tokens - tokens, report)

    def failed(self, error: ModelClientError) -> None:
        """The call failed; later calls slow down if the provider asks for it."""
        self._end()
        self._limiter._failed(self._tokens, error)

    def withdrawn(self) -> None:
        """The call was cancelled; it may or may not have reached the provider."""
        if not self._ended:
            self._end()
            self._limiter._withdrawn()

    def _end(self) -> None:
        if self._ended:
            raise RuntimeError("an admission ends once")
        self._ended = True


class CallLimiter:
    """Limits requests per minute, tokens per minute and concurrency of one model; calls queue by priority.

    Calls count against the limits on admission, as they do at the providers, and every retry is admitted
    separately. Limits missing from the settings are learned from response headers. Responses 429, 503 and 529
    reduce the rate and concurrency of later calls, which recover while calls succeed. No response ever stops
    calls already in flight.
    """

    def __init__(self, settings: LimitSettings, circuit: Circuit) -> None:
        self._settings, self._circuit = settings, circuit
        self.requests = RateBucket(settings.requests_per_minute, settings.requests_per_minute is not None)
        self._tokens = RateBucket(settings.tokens_per_minute, settings.tokens_per_minute is not None)
        self._width = float(settings.concurrency)
        self._cut_at = float("-inf")
        self.in_flight = 0
        self._numbers = itertools.count()
        self._waiters: list[_Waiter] = []
        self._admitted_at: deque[float] = deque(maxlen=10_000)
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        circuit.changed.append(self._admit_waiting)

    def stop(self) -> None:
        """Admit no more calls; calls in flight continue."""
        self._stopped = True
        self._admit_waiting()

    async def admit(self, tokens: float, priority: Priority) -> Admission:
        """Wait until a request of about `tokens` tokens may be sent; raises `RunStoppedError` if none
        will be, because the run is ending or the provider has not answered for a long time."""
        waiter = _Waiter(priority, next(self._numbers), tokens, asyncio.get_running_loop().create_future())
        heapq.heappush(self._waiters, waiter)
        self._admit_waiting()
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            if waiter.admitted.done() and not waiter.admitted.cancelled():
                self._withdrawn()
            raise
        return Admission(self, tokens)

    def _admit_waiting(self) -> None:
        """Admit calls from the head of the queue while they fit; otherwise set a timer for when the head will
        fit."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiters:
            waiter = self._waiters[0]
            if waiter.admitted.done():
                heapq.heappop(self._waiters)
                continue
            if self._stopped:
                heapq.heappop(self._waiters)
                waiter.admitted.set_exception(RunStoppedError("the run is ending; the call was not sent"))
                continue
            if self.in_flight >= max(1, int(self._width)):
                return
            now = asyncio.get_running_loop().time()
            pause = self._circuit.wait_seconds(now)
            if pause != 0 and self._circuit.given_up(now):
                heapq.heappop(self._waiters)
                since = self._circuit.failing_since
                seconds = 0.0 if since is None else now - since
                waiter.admitted.set_exception(
                    ProviderDownError(
                        f"{self._circuit.name} has answered nothing for {seconds:.0f} s;"
                        f" {self._circuit.reason}. What was paid for is kept; run again when the provider"
                        " answers"
                    )
                )
                continue
            if pause is None:
                return
            wait = max(
                pause, self.requests.wait_seconds(1, now), self._tokens.wait_seconds(waiter.tokens, now)
            )
            if wait > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._admit_waiting)
                return
            heapq.heappop(self._waiters)
            self.requests.take(1, now)
            self._tokens.take(waiter.tokens, now)
            self._circuit.admitted()
            self.in_flight += 1
            self._admitted_at.append(now)
            waiter.admitted.set_result(None)

    def _answered(self, unused_tokens: float, report: RateReport | None) -> None:
        now = asyncio.get_running_loop().time()
        self.in_flight -= 1
        self._width = min(self._settings.concurrency, self._width + 1 / self._width)
        self._tokens.correct(unused_tokens)
        self._learn(report, now)
        self._circuit.succeeded()
        self._admit_waiting()

    def _failed(self, tokens: float, error: ModelClientError) -> None:
        now = asyncio.get_running_loop().time()
        self.in_flight -= 1
        self._tokens.correct(tokens)
        self._learn(error.rate_report, now)
        if isinstance(error, RateLimitedError):
            report = error.rate_report
            hold = report.retry_after_seconds if report is not None else None
            self.requests.slow_down(self._observed_rate(now), hold or 0.0, now)
        too_busy = isinstance(error, RateLimitedError | ProviderOverloadedError) and error.too_busy
        if too_busy and now - self._cut_at >= _SAME_EVENT_SECONDS:
            self._width, self._cut_at = max(1.0, self._width * _SLOW_DOWN), now
        if error.transient and not isinstance(error, RateLimitedError):
            self._circuit.failed(str(error), now)
        else:
            self._circuit.succeeded()
        self._admit_waiting()

    def _withdrawn(self) -> None:
        self.in_flight -= 1
        self._circuit.withdrawn()
        self._admit_waiting()

    def _learn(self, report: RateReport | None, now: float) -> None:
        if report is not None:
            self.requests.learn(report.requests.per_minute, report.requests.remaining, now)
            self._tokens.learn(report.tokens.per_minute, report.tokens.remaining, now)

    def _observed_rate(self, now: float) -> float:
        recent = sum(1 for moment in self._admitted_at if now - moment <= _OBSERVED_SECONDS)
        span = min(_OBSERVED_SECONDS, max(1.0, now - self._admitted_at[0])) if self._admitted_at else 1.0
        return recent / span * 60
