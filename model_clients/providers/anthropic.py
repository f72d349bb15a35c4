"""Anthropic's Messages protocol, through the official SDK."""

import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, SecretStr

from taskloom.model_clients.client import BatchAnswer, BatchState
from taskloom.model_clients.errors import FormatUnsupportedError, ModelClientError, RequestFilteredError
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.anthropic_computer import computer_body, computer_headers, computer_reply
from taskloom.model_clients.wire.anthropic_json import messages_body, messages_reply
from taskloom.model_clients.wire.reply_schemas import NEXT_MODE, Mode
from taskloom.model_clients.wire.sdk_calls import (
    CONNECT_SECONDS,
    complete_reply,
    filtered_reply,
    map_errors,
    read_json,
    read_key,
    response_error,
    text_at,
    value_at,
    without_key,
)

if TYPE_CHECKING:
    from anthropic.types.messages.batch_create_params import Request

PROTOCOLS = ("",)
"""There is only one protocol."""

_OWN_ADDRESS = "https://api.anthropic.com"
_STATUS_OF_ERROR = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


def create(settings: ModelSettings) -> "AnthropicClient":
    """A client of Anthropic, or of the server at the settings' base URL."""
    return AnthropicClient(settings, read_key(settings, "ANTHROPIC_API_KEY"))


class AnthropicClient:
    """Sends requests in the Messages protocol, for typed replies with structured output or a tool call."""

    def __init__(self, settings: ModelSettings, key: SecretStr) -> None:
        """Prepare; the SDK is imported here and nothing is sent."""
        import anthropic

        self.provider, self.model = settings.provider, settings.model
        self._settings, self._key = settings, key
        self._mode: Mode = settings.structured_output
        self._map_errors = partial(map_errors, anthropic, settings, key)
        self._sdk = anthropic.AsyncAnthropic(
            api_key=key.get_secret_value(),
            base_url=settings.base_url or _OWN_ADDRESS,
            max_retries=0,
            timeout=anthropic.Timeout(settings.first_byte_seconds, connect=CONNECT_SECONDS),
        )

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The reply to one request, sent once; see `ModelClient`."""
        headers = computer_headers(self._settings) if request.computer is not None else {}
        while True:
            mode = self._mode
            body: dict[str, object] = {**self._body(request, mode)}
            started = time.monotonic()
            try:
                with self._map_errors():
                    raw = await self._sdk.messages.with_raw_response.create(
                        model=self.model,
                        messages=[],
                        max_tokens=1,
                        extra_body=body,
                        extra_headers=headers,
                    )
            except RequestFilteredError as error:
                return filtered_reply(self._settings, error)
            except FormatUnsupportedError:
                if mode not in NEXT_MODE:
                    raise
                self._mode = NEXT_MODE[mode] if self._mode == mode else self._mode
            else:
                response = raw.http_response
                content = read_json(f"{self.provider} {self.model}", response.content)
                read = messages_reply if request.computer is None else computer_reply
                reply = read(self._settings, content)
                request_id = response.headers.get("request-id", "")
                return complete_reply(reply, response.headers, started, request_id)

    async def close(self) -> None:
        """Release connections."""
        await self._sdk.close()

    async def submit_batch(self, requests: Sequence[tuple[str, ModelRequest]]) -> str:
        """Start a batch of the requests."""
        entries = [{"custom_id": key, "params": self._body(request, self._mode)} for key, request in requests]
        with self._map_errors():
            batch = await self._sdk.messages.batches.create(requests=cast("list[Request]", entries))
        return batch.id

    async def batch_state(self, batch_id: str) -> BatchState:
        """The progress of the batch."""
        with self._map_errors():
            batch = await self._sdk.messages.batches.retrieve(batch_id)
        return BatchState(batch.processing_status == "ended")

    async def batch_answers(self, batch_id: str) -> AsyncIterator[tuple[str, BatchAnswer]]:
        """The answers in the batch's results."""
        with self._map_errors():
            raw = await self._sdk.messages.batches.with_raw_response.results(batch_id)
            content = await raw.http_response.aread()
        for line in content.splitlines():
            answer = self._batch_answer(read_json(self.provider, line)) if line.strip() else None
            if answer is not None:
                yield answer

    def _batch_answer(self, line: JsonValue) -> tuple[str, BatchAnswer] | None:
        key, kind = text_at(line, "custom_id"), text_at(line, "result", "type")
        if kind == "succeeded":
            try:
                reply = messages_reply(self._settings, value_at(line, "result", "message"))
            except ModelClientError as error:
                return key, error
            return key, reply.model_copy(update={"batched": True})
        if kind != "errored":
            return None
        problem = value_at(line, "result", "error")
        detail = problem if text_at(problem, "message") else value_at(problem, "error")
        code = text_at(detail, "type")
        message = without_key(text_at(detail, "message"), self._key)
        request_id = text_at(problem, "request_id")
        status = _STATUS_OF_ERROR.get(code, 500)
        return key, response_error(self._settings, status, code, message, request_id=request_id)

    def _body(self, request: ModelRequest, mode: Mode) -> dict[str, JsonValue]:
        if request.computer is not None:
            return computer_body(self._settings, request, request.computer)
        return messages_body(self._settings, request, mode)
