"""One model of one provider behind its limits: sends a request until it is answered or given up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import tenacity

from model_clients.client import ModelClient
from model_clients.counters import CallCounters
from model_clients.errors import ConnectionLostError, KeyMissingError, KeyRejectedError, ModelClientError
from model_clients.limits.circuits import Circuit
from model_clients.limits.estimates import TokenEstimates
from model_clients.limits.limiter import CallLimiter, Priority
from model_clients.lookup import create_client
from model_clients.messages import ModelReply, ModelRequest
from model_clients.settings import ModelSettings, RetrySettings

_LONGEST_ASKED_WAIT_SECONDS = 600.0


@dataclass(slots=True)
class Sender:
    """Sends requests to one model, with retries that share one number of tries and pass the limiter anew."""

    settings: ModelSettings
    """The model."""
    retries: RetrySettings
    """How to try again."""
    limiter: CallLimiter
    """Who admits."""
    circuit: Circuit
    """Whether the provider is paused."""
    estimates: TokenEstimates
    """Token estimates."""
    counters: CallCounters
    """Live figures."""
    refused_key: ModelClientError | None = None
    """Why no request can succeed; then none is sent."""
    _client: ModelClient | None = field(default=None)

    def client(self) -> ModelClient:
        """The provider's client, made when first needed.

        Raises:
            KeyMissingError: no key in the environment.
        """
        if self._client is None:
            self._client = create_client(self.settings)
        return self._client

    async def send(
        self, request: ModelRequest, priority: Priority, before_try: Callable[[], Awaitable[None]]
    ) -> ModelReply:
        """The reply, with the number of tries that failed before it.

        Raises:
            ModelClientError: the last error, when it is not transient or the tries are used up.
        """
        if self.refused_key is not None:
            raise self.refused_key
        failed_tries = 0
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self.retries.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception(_may_be_repeated),
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                failed_tries = attempt.retry_state.attempt_number - 1
                if failed_tries:
                    for counters in self.counters.of(request.stage):
                        counters.retries += 1
                await before_try()
                reply = await self._try(request, priority)
        return reply.model_copy(update={"retries": failed_tries})

    async def close(self) -> None:
        """Release the client's connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _try(self, request: ModelRequest, priority: Priority) -> ModelReply:
        client = self.client()
        estimate = self.estimates.of(self.settings, request)
        self.counters.waiting += 1
        try:
            admission = await self.limiter.admit(estimate.tokens, priority)
        finally:
            self.counters.waiting -= 1
        self.counters.in_flight += 1
        try:
            async with asyncio.timeout(self.settings.total_seconds):
                reply = await client.complete(request)
        except TimeoutError:
            error = ConnectionLostError(
                f"{self.settings.provider} {self.settings.model}: no whole answer within"
                f" {self.settings.total_seconds:g} s"
            )
            admission.failed(error)
            raise error from None
        except ModelClientError as error:
            if isinstance(error, KeyRejectedError | KeyMissingError):
                self.refused_key = error
            admission.failed(error)
            raise
        except BaseException:
            admission.withdrawn()
            raise
        finally:
            self.counters.in_flight -= 1
        used = reply.usage.input_tokens + reply.usage.output_tokens
        admission.answered(used, reply.rate_report)
        self.estimates.learn(self.settings, request, reply)
        return reply

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """A random wait that doubles its bound, never shorter than what the provider asked for."""
        drawn = tenacity.wait_random_exponential(
            multiplier=self.retries.first_wait_seconds, max=self.retries.longest_wait_seconds
        )(state)
        error = state.outcome.exception() if state.outcome is not None else None
        report = error.rate_report if isinstance(error, ModelClientError) else None
        asked = report.retry_after_seconds if report is not None else None
        return drawn if asked is None else min(asked, _LONGEST_ASKED_WAIT_SECONDS) + drawn / 4


def _may_be_repeated(error: BaseException) -> bool:
    return isinstance(error, ModelClientError) and error.transient
