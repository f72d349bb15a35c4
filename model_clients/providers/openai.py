"""OpenAI and every server that speaks one of its two protocols, through the official SDK."""

import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Literal

from pydantic import JsonValue, SecretStr

from taskloom.model_clients.client import BatchAnswer, BatchState
from taskloom.model_clients.errors import (
    AddressUnknownError,
    FormatUnsupportedError,
    ModelClientError,
    RequestFilteredError,
    RequestRejectedError,
)
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.openai_computer import computer_body, computer_reply
from taskloom.model_clients.wire.openai_json import (
    chat_body,
    chat_reply,
    either_reply,
    responses_body,
    responses_reply,
    spoken_reply,
)
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

logger = logging.getLogger(__name__)

PROTOCOLS = ("responses", "chat_completions")
"""Protocols that the settings can choose between."""

_OWN_ADDRESS = "https://api.openai.com/v1"
_END_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
_NO_ANSWER_CODES = frozenset({"batch_expired", "batch_cancelled"})


def create(settings: ModelSettings) -> "OpenAIClient":
    """A client of OpenAI, or of the server at the settings' base URL."""
    return OpenAIClient(settings, read_key(settings, "OPENAI_API_KEY"))


class OpenAIClient:
    """Sends requests in the Responses protocol, or in Chat Completions if the settings say so.

    What a server does not support is discovered once and remembered. Without the Responses protocol, Chat
    Completions is used (unless the settings name a protocol); without JSON schemas, a tool call; without
    tools, plain words.
    """

    def __init__(self, settings: ModelSettings, key: SecretStr) -> None:
        """Prepare; the SDK is imported here and nothing is sent."""
        import openai

        self.provider, self.model = settings.provider, settings.model
        self._settings, self._key = settings, key
        self._mode: Mode = settings.structured_output
        self._chat = settings.protocol == "chat_completions"
        self._map_errors = partial(map_errors, openai, settings, key)
        self._sdk = openai.AsyncOpenAI(
            api_key=key.get_secret_value(),
            base_url=settings.base_url or _OWN_ADDRESS,
            max_retries=0,
            timeout=openai.Timeout(settings.first_byte_seconds, connect=CONNECT_SECONDS),
        )

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The reply to one request, sent once; see `ModelClient`."""
        while True:
            mode, chat = self._mode, self._chat
            body: dict[str, object] = {**self._body(request, mode)}
            started = time.monotonic()
            try:
                with self._map_errors():
                    if chat:
                        completion = await self._sdk.chat.completions.with_raw_response.create(
                            model=self.model, messages=[], extra_body=body
                        )
                        response = completion.http_response
                    else:
                        raw = await self._sdk.responses.with_raw_response.create(extra_body=body)
                        response = raw.http_response
            except RequestFilteredError as error:
                return filtered_reply(self._settings, error)
            except FormatUnsupportedError:
                if mode not in NEXT_MODE:
                    raise
                self._mode = NEXT_MODE[mode] if self._mode == mode else self._mode
            except AddressUnknownError:
                if not self._switch_protocol(chat):
                    raise
            else:
                content = read_json(f"{self.provider} {self.model}", response.content)
                read = chat_reply if chat else responses_reply
                if request.reply_schema is None:
                    read = spoken_reply if request.computer is None else computer_reply
                reply = read(self._settings, content)
                request_id = response.headers.get("x-request-id", "")
                return complete_reply(reply, response.headers, started, request_id)

    async def close(self) -> None:
        """Release connections."""
        await self._sdk.close()

    async def submit_batch(self, requests: Sequence[tuple[str, ModelRequest]]) -> str:
        """Upload the requests as a file and start a batch of it."""
        url: Literal["/v1/responses", "/v1/chat/completions"] = "/v1/responses"
        if self._chat:
            url = "/v1/chat/completions"
        lines = [
            {"custom_id": key, "method": "POST", "url": url, "body": self._body(request, self._mode)}
            for key, request in requests
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        with self._map_errors():
            file = await self._sdk.files.create(file=("requests.jsonl", content), purpose="batch")
            batch = await self._sdk.batches.create(
                input_file_id=file.id, endpoint=url, completion_window="24h"
            )
        return batch.id

    async def batch_state(self, batch_id: str) -> BatchState:
        """The progress of the batch."""
        with self._map_errors():
            batch = await self._sdk.batches.retrieve(batch_id)
        problems = [error.message or "" for error in (batch.errors.data or [])] if batch.errors else []
        return BatchState(batch.status in _END_STATES, without_key("; ".join(problems), self._key))

    async def batch_answers(self, batch_id: str) -> AsyncIterator[tuple[str, BatchAnswer]]:
        """The answers in the batch's output file and error file."""
        with self._map_errors():
            batch = await self._sdk.batches.retrieve(batch_id)
            files = [name for name in (batch.output_file_id, batch.error_file_id) if name]
            contents = [(await self._sdk.files.content(name)).content for name in files]
        for content in contents:
            for line in content.splitlines():
                answer = self._batch_answer(read_json(self.provider, line)) if line.strip() else None
                if answer is not None:
                    yield answer

    def _batch_answer(self, line: JsonValue) -> tuple[str, BatchAnswer] | None:
        key = text_at(line, "custom_id")
        if text_at(line, "error", "code") in _NO_ANSWER_CODES:
            return None
        status, body = value_at(line, "response", "status_code"), value_at(line, "response", "body")
        if status == 200 and isinstance(body, dict):
            try:
                return key, either_reply(self._settings, body).model_copy(update={"batched": True})
            except ModelClientError as error:
                return key, error
        rejection = response_error(
            self._settings,
            status if isinstance(status, int) else 500,
            text_at(body, "error", "code") or text_at(line, "error", "code"),
            without_key(text_at(body, "error", "message") or text_at(line, "error", "message"), self._key),
            request_id=text_at(line, "response", "request_id"),
        )
        if isinstance(rejection, RequestFilteredError):
            return key, filtered_reply(self._settings, rejection).model_copy(update={"batched": True})
        return key, rejection

    def _switch_protocol(self, chat: bool) -> bool:
        """After a 404, switch protocols if permitted; returns whether it switched to Chat Completions."""
        if self._settings.protocol or not self._settings.base_url:
            return False
        self._chat = not chat
        if not chat:
            logger.info("%s has no Responses protocol; trying Chat Completions", self._settings.base_url)
        return not chat

    def _body(self, request: ModelRequest, mode: Mode) -> dict[str, JsonValue]:
        if request.computer is not None:
            if self._chat:
                raise RequestRejectedError(
                    f"{self.model} is called through Chat Completions, which has no computer tool; set"
                    " trajectories.actor=reply, or protocol=responses if the server speaks it."
                )
            return computer_body(self._settings, request, request.computer)
        make = chat_body if self._chat else responses_body
        return make(self._settings, request, mode)
