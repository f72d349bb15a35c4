"""Sends requests: one sender per model, with its limits and retries, and one circuit per server."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import tenacity

from taskloom.model_clients.batches import Batcher, BatchJournal
from taskloom.model_clients.client import BatchClient, ModelClient, create_client
from taskloom.model_clients.errors import (
    ConnectionLostError,
    KeyMissingError,
    KeyRejectedError,
    ModelClientError,
)
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.model_clients.ledger.ledger import Ledger, canonical_json
from taskloom.model_clients.limiter import CallLimiter, Circuit, Priority
from taskloom.model_clients.messages import ModelReply, ModelRequest, TextContent
from taskloom.model_clients.settings import CallSettings, ModelSettings, RetrySettings

_CHARACTERS_PER_TOKEN = 3.5
_TOKENS_PER_IMAGE = 1600
_TOKENS_PER_MESSAGE = 8
_INITIAL_OUTPUT_TOKENS = 800
_UNLIMITED_OUTPUT_TOKENS = 8192
_LEARNING_RATE = 0.2
_SAFETY_FACTOR = 1.25


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Expected and maximum token counts of a call."""

    input_tokens: int
    output_tokens: int
    highest_input_tokens: int
    """Input tokens that a call hardly ever exceeds."""
    highest_output_tokens: int
    """Output tokens that a call cannot exceed if the request sets a limit, and hardly ever exceeds
    otherwise."""

    @property
    def tokens(self) -> int:
        """Expected input and output."""
        return self.input_tokens + self.output_tokens


@dataclass(slots=True)
class _Usage:
    input_ratio: float = 1.0
    output_tokens: float = float(_INITIAL_OUTPUT_TOKENS)
    largest_output: int = 0


class TokenEstimates:
    """Estimates by model and role, corrected by actual usage."""

    def __init__(self) -> None:
        self._by_place: defaultdict[tuple[str, str, str], _Usage] = defaultdict(_Usage)

    def of(self, settings: ModelSettings, request: ModelRequest) -> TokenEstimate:
        """The estimate for `request`."""
        learned = self._by_place[settings.provider, settings.model, request.role]
        expected_input = int(_plain_input_tokens(request) * learned.input_ratio) + 1
        limit = settings.parameters.max_output_tokens
        highest = limit or max(_UNLIMITED_OUTPUT_TOKENS, 2 * learned.largest_output)
        return TokenEstimate(
            input_tokens=expected_input,
            output_tokens=min(int(learned.output_tokens), highest),
            highest_input_tokens=int(expected_input * _SAFETY_FACTOR) + 1,
            highest_output_tokens=highest,
        )

    def learn(self, settings: ModelSettings, request: ModelRequest, reply: ModelReply) -> None:
        """Correct the estimates with the usage of a reply."""
        if not reply.input_tokens:
            return
        learned = self._by_place[settings.provider, settings.model, request.role]
        ratio = reply.input_tokens / _plain_input_tokens(request)
        learned.input_ratio += _LEARNING_RATE * (ratio - learned.input_ratio)
        learned.output_tokens += _LEARNING_RATE * (reply.output_tokens - learned.output_tokens)
        learned.largest_output = max(learned.largest_output, reply.output_tokens)


def _plain_input_tokens(request: ModelRequest) -> int:
    tokens = 0.0
    for message in request.messages:
        tokens += _TOKENS_PER_MESSAGE
        for content in message.content:
            if isinstance(content, TextContent):
                tokens += len(content.text.encode("utf-8", errors="surrogatepass")) / _CHARACTERS_PER_TOKEN
            else:
                tokens += _TOKENS_PER_IMAGE
    for turn in request.computer or ():
        tokens += len(turn.reply.said) / _CHARACTERS_PER_TOKEN + _TOKENS_PER_IMAGE * len(turn.results)
    if request.reply_schema is not None:
        tokens += len(canonical_json(request.reply_schema)) / _CHARACTERS_PER_TOKEN
    return max(1, int(tokens))


_LONGEST_RETRY_AFTER_SECONDS = 600.0


@dataclass(slots=True)
class Sender:
    """Sends requests to one model; all retries count against one limit and pass the rate limiter again."""

    settings: ModelSettings
    retries: RetrySettings
    limiter: CallLimiter
    estimates: TokenEstimates
    counters: CallCounters
    key_error: ModelClientError | None = None
    """Why the key is missing or was refused; once set, no request is sent."""
    _client: ModelClient | None = field(default=None)

    def client(self) -> ModelClient:
        """The provider's client, created on first use."""
        if self._client is None:
            self._client = create_client(self.settings)
        return self._client

    async def send(
        self, request: ModelRequest, priority: Priority, before_try: Callable[[], Awaitable[None]]
    ) -> ModelReply:
        """The reply, with the number of failed tries before it; raises the last error if it is not transient
        or no tries are left."""
        if self.key_error is not None:
            raise self.key_error
        failed_tries = 0
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self.retries.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception(lambda error: getattr(error, "transient", False)),
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                failed_tries = attempt.retry_state.attempt_number - 1
                if failed_tries:
                    self.counters.total.retries += 1
                await before_try()
                client = self.client()
                async with self._admission(request, priority) as answers:
                    reply = await client.complete(request)
                    answers.append(reply)
        return reply.model_copy(update={"retries": failed_tries})

    async def close(self) -> None:
        """Release the client's connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    @asynccontextmanager
    async def _admission(self, request: ModelRequest, priority: Priority) -> AsyncIterator[list[ModelReply]]:
        """Wait for admission, limit the time of one try, and report its end; the body appends the reply."""
        answers: list[ModelReply] = []
        self.counters.waiting += 1
        try:
            admission = await self.limiter.admit(self.estimates.of(self.settings, request).tokens, priority)
        finally:
            self.counters.waiting -= 1
        self.counters.in_flight += 1
        try:
            async with asyncio.timeout(self.settings.total_seconds):
                yield answers
        except TimeoutError:
            model, seconds = f"{self.settings.provider} {self.settings.model}", self.settings.total_seconds
            error = ConnectionLostError(f"{model}: no complete answer within {seconds:g} s")
            admission.failed(error)
            raise error from None
        except ModelClientError as error:
            if isinstance(error, KeyRejectedError | KeyMissingError):
                self.key_error = error
            admission.failed(error)
            raise
        except BaseException:
            admission.withdrawn()
            raise
        finally:
            self.counters.in_flight -= 1
        reply = answers[0]
        admission.answered(reply.tokens, reply.rate_report)
        self.estimates.learn(self.settings, request, reply)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """A random wait whose bound doubles with each try, never shorter than the provider asked for."""
        random_wait = tenacity.wait_random_exponential(
            multiplier=self.retries.first_wait_seconds, max=self.retries.longest_wait_seconds
        )(state)
        error = state.outcome.exception() if state.outcome is not None else None
        report = error.rate_report if isinstance(error, ModelClientError) else None
        retry_after = report.retry_after_seconds if report is not None else None
        if retry_after is None:
            return random_wait
        return min(retry_after, _LONGEST_RETRY_AFTER_SECONDS) + random_wait / 4


class Senders:
    """Creates senders on first use.

    Models that differ only in parameters share one rate limiter, because the provider counts them together;
    models of one server share its circuit.
    """

    def __init__(self, settings: CallSettings, ledger: Ledger, counters: CallCounters) -> None:
        self.estimates = TokenEstimates()
        self._settings, self._ledger, self._counters = settings, ledger, counters
        self._senders: dict[str, Sender] = {}
        self._limiters: dict[tuple[str, str, str], CallLimiter] = {}
        self._circuits: dict[tuple[str, str], Circuit] = {}
        self._batchers: dict[str, Batcher] = {}

    def of(self, model: ModelSettings) -> Sender:
        """The sender of that model."""
        identity = model.model_dump_json()
        if identity not in self._senders:
            circuit = self._circuit(model)
            place = (model.provider, model.base_url, model.model)
            if place not in self._limiters:
                self._limiters[place] = CallLimiter(self._settings.limit(model), circuit)
            limiter, retries = self._limiters[place], self._settings.retries
            self._senders[identity] = Sender(model, retries, limiter, self.estimates, self._counters)
        return self._senders[identity]

    def batcher(self, model: ModelSettings) -> Batcher | None:
        """The batcher of that model; None if batch mode is off or the provider does not support batches."""
        if self._settings.batch is None:
            return None
        identity = model.model_dump_json()
        if identity not in self._batchers:
            client = self.of(model).client()
            if not isinstance(client, BatchClient):
                return None
            journal = BatchJournal(self._ledger, f"{model.provider} {model.base_url} {model.model}")
            self._batchers[identity] = Batcher(client, self._settings.batch, journal, self._counters)
        return self._batchers[identity]

    def stop(self) -> None:
        """Send no more requests; calls in flight continue."""
        for limiter in self._limiters.values():
            limiter.stop()

    async def close(self) -> None:
        """Release all connections."""
        for batcher in self._batchers.values():
            await batcher.close()
        for sender in self._senders.values():
            await sender.close()

    def _circuit(self, model: ModelSettings) -> Circuit:
        place = (model.provider, model.base_url)
        if place not in self._circuits:
            name = model.provider + (f" at {model.base_url}" if model.base_url else "")
            circuit = Circuit(name, self._settings.retries)
            circuit.changed.append(lambda: self._report(circuit))
            self._circuits[place] = circuit
        return self._circuits[place]

    def _report(self, circuit: Circuit) -> None:
        if circuit.reason:
            self._counters.pauses[circuit.name] = circuit.reason
        else:
            self._counters.pauses.pop(circuit.name, None)
