"""The limiter admits as fast as it may, in order of priority, and slows down for the calls to come only."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.model_clients.errors import (
    ConnectionLostError,
    ModelClientError,
    ProviderDownError,
    ProviderOverloadedError,
    RateLimitedError,
)
from taskloom.model_clients.limiter import CallLimiter, Circuit, Priority, RateBucket
from taskloom.model_clients.rate_reports import Allowance, RateReport
from taskloom.model_clients.settings import LimitSettings, RetrySettings
from tests.model_clients.virtual_time import run_in_virtual_time

RETRIES = RetrySettings(
    failures_until_pause=3, pause_seconds=5, longest_pause_seconds=20, longest_outage_seconds=60
)


def limiter_of(concurrency: int = 1000, rpm: float | None = None, tpm: float | None = None) -> CallLimiter:
    limits = LimitSettings(concurrency=concurrency, requests_per_minute=rpm, tokens_per_minute=tpm)
    return CallLimiter(limits, Circuit("server", RETRIES))


async def call(limiter: CallLimiter, tokens: float = 0, seconds: float = 0.0, used: int = 0) -> float:
    admission = await limiter.admit(tokens, (0, 0))
    admitted_at = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds)
    admission.answered(used or int(tokens), None)
    return admitted_at


def overloaded(*, too_busy: bool = True) -> ModelClientError:
    error = ProviderOverloadedError("busy")
    error.too_busy = too_busy
    return error


def test_gives_the_whole_rate_and_never_more() -> None:
    async def scenario() -> list[float]:
        limiter = limiter_of(rpm=600)
        return sorted(await asyncio.gather(*(call(limiter, seconds=3) for _ in range(200))))

    times = run_in_virtual_time(scenario())
    assert times[-1] == pytest.approx(200 / 10, abs=0.5)
    for first in range(0, 190):
        assert times[first + 10] - times[first] >= 10 / 10 - 0.26


def test_tokens_are_estimated_before_and_corrected_after() -> None:
    async def scenario(used: int) -> float:
        limiter = limiter_of(concurrency=1, tpm=6000)
        for _ in range(30):
            last = await call(limiter, tokens=200, used=used)
        return last

    assert run_in_virtual_time(scenario(used=200)) == pytest.approx(58, abs=2)
    assert run_in_virtual_time(scenario(used=100)) == pytest.approx(29, abs=3)


def test_a_call_larger_than_the_bucket_is_admitted_and_paid_back() -> None:
    async def scenario() -> tuple[float, float]:
        limiter = limiter_of(tpm=6000)
        return await call(limiter, tokens=3000), await call(limiter, tokens=10)

    first, second = run_in_virtual_time(scenario())
    assert first <= 0.3
    assert second == pytest.approx(30, abs=1)


def test_concurrency_is_never_exceeded() -> None:
    async def scenario() -> int:
        limiter = limiter_of(concurrency=7)
        most = 0

        async def one() -> None:
            nonlocal most
            admission = await limiter.admit(0, (0, 0))
            most = max(most, limiter.in_flight)
            await asyncio.sleep(1)
            admission.answered(0, None)

        await asyncio.gather(*(one() for _ in range(50)))
        return most

    assert run_in_virtual_time(scenario()) == 7


def test_the_smallest_priority_goes_first_and_equals_in_order_of_arrival() -> None:
    async def scenario() -> list[tuple[Priority, int]]:
        limiter = limiter_of(concurrency=1)
        order: list[tuple[Priority, int]] = []
        holding = await limiter.admit(0, (0, 0))

        async def one(priority: Priority, number: int) -> None:
            admission = await limiter.admit(0, priority)
            order.append((priority, number))
            admission.answered(0, None)

        waiting = [asyncio.create_task(one((number % 3, 1 - number % 2), number)) for number in range(12)]
        await asyncio.sleep(0)
        holding.answered(0, None)
        await asyncio.gather(*waiting)
        return order

    order = run_in_virtual_time(scenario())
    assert order == sorted(order)


def test_a_cancelled_waiter_gives_its_place_back() -> None:
    async def scenario() -> int:
        limiter = limiter_of(concurrency=1)
        holding = await limiter.admit(0, (0, 0))
        waiting = [asyncio.create_task(limiter.admit(0, (0, 0))) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        holding.answered(0, None)
        waiting[1].cancel()
        admission = await waiting[2]
        admission.answered(0, None)
        return limiter.in_flight

    assert run_in_virtual_time(scenario()) == 0


def test_limits_are_learned_from_headers_unless_the_settings_know_better() -> None:
    async def scenario(rpm: float | None) -> float | None:
        limiter = limiter_of(rpm=rpm)
        admission = await limiter.admit(0, (0, 0))
        admission.answered(0, RateReport(requests=Allowance(per_minute=300, remaining=299)))
        return limiter.requests.per_minute

    assert run_in_virtual_time(scenario(None)) == 300
    assert run_in_virtual_time(scenario(60)) == 60


def test_complaints_narrow_the_calls_to_come_and_success_widens_them_again() -> None:
    async def scenario() -> tuple[int, int]:
        limiter = CallLimiter(LimitSettings(concurrency=20), Circuit("server", RetrySettings()))

        async def wave(count: int, error: ModelClientError | None = None) -> int:
            most = 0

            async def one() -> None:
                nonlocal most
                admission = await limiter.admit(0, (0, 0))
                most = max(most, limiter.in_flight)
                await asyncio.sleep(2)
                admission.failed(error) if error is not None else admission.answered(0, None)

            await asyncio.gather(*(one() for _ in range(count)))
            return most

        await wave(8, overloaded())
        narrowed = await wave(60)
        for _ in range(6):
            await wave(60)
        return narrowed, await wave(60)

    narrowed, widened = run_in_virtual_time(scenario())
    assert 1 <= narrowed < 20
    assert widened == 20


def test_a_complaint_without_a_known_limit_makes_one_and_others_go_on() -> None:
    async def scenario() -> tuple[float | None, int]:
        limiter = limiter_of(concurrency=50)
        finished = 0

        async def one(number: int) -> None:
            nonlocal finished
            admission = await limiter.admit(0, (0, 0))
            await asyncio.sleep(1)
            if number == 20:
                error = RateLimitedError("too fast")
                error.rate_report = RateReport(retry_after_seconds=30)
                admission.failed(error)
            else:
                admission.answered(0, None)
            finished += 1

        await asyncio.wait_for(asyncio.gather(*(one(number) for number in range(200))), timeout=60)
        return limiter.requests.per_minute, finished

    rate, finished = run_in_virtual_time(scenario())
    assert rate is not None
    assert finished == 200


def test_a_failing_provider_is_paused_probed_with_one_call_and_taken_up_again() -> None:
    async def scenario() -> tuple[list[float], str, str]:
        circuit = Circuit("server", RETRIES)
        limiter = CallLimiter(LimitSettings(concurrency=1000), circuit)
        for _ in range(3):
            (await limiter.admit(0, (0, 0))).failed(ConnectionLostError("refused"))
        paused = circuit.reason
        times: list[float] = []

        async def one(number: int) -> None:
            admission = await limiter.admit(0, (0, 0))
            times.append(asyncio.get_running_loop().time())
            await asyncio.sleep(1)
            admission.failed(ConnectionLostError("refused")) if number == 0 else admission.answered(0, None)

        await asyncio.gather(*(one(number) for number in range(4)))
        return times, paused, circuit.reason

    times, paused, after = run_in_virtual_time(scenario())
    assert paused.startswith("server paused for 5 s after 3 failures")
    assert times == pytest.approx([5, 16, 17, 17])
    assert after == ""


def test_a_provider_that_stays_down_stops_the_run() -> None:
    async def scenario() -> float:
        limiter = limiter_of()
        while True:
            try:
                admission = await limiter.admit(0, (0, 0))
            except ProviderDownError as error:
                assert "refused" in str(error)
                return asyncio.get_running_loop().time()
            admission.failed(ConnectionLostError("refused"))

    assert 60 <= run_in_virtual_time(scenario()) <= 90


def test_a_request_that_is_refused_says_nothing_bad_about_the_provider() -> None:
    async def scenario() -> str:
        circuit = Circuit("server", RETRIES)
        limiter = CallLimiter(LimitSettings(), circuit)
        for _ in range(10):
            (await limiter.admit(0, (0, 0))).failed(ModelClientError("rejected"))
        return circuit.reason

    assert run_in_virtual_time(scenario()) == ""


@given(
    rate=st.floats(min_value=1, max_value=100_000),
    amounts=st.lists(st.floats(min_value=0.1, max_value=50), min_size=1, max_size=60),
    pauses=st.lists(st.floats(min_value=0, max_value=3), min_size=60, max_size=60),
)
def test_no_bucket_admits_more_than_its_rate_and_one_filling(
    rate: float, amounts: list[float], pauses: list[float]
) -> None:
    bucket = RateBucket(rate)
    now = admitted = 0.0
    capacity = max(1.0, rate / 60 * bucket.burst_seconds)
    for amount, pause in zip(amounts, pauses, strict=False):
        now += pause
        now += bucket.wait_seconds(amount, now)
        assert bucket.wait_seconds(amount, now) <= 1e-6
        bucket.take(amount, now)
        assert admitted <= rate / 60 * now + capacity + 1e-6
        admitted += amount
