"""Common to both SDKs: keys, reading responses in which anything may be missing or have the wrong type, and
mapping their errors to ours."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

import httpx2
from pydantic import JsonValue, SecretStr

from taskloom.model_clients.errors import (
    AddressUnknownError,
    ConnectionLostError,
    FormatUnsupportedError,
    KeyMissingError,
    KeyRejectedError,
    ModelClientError,
    ProviderOverloadedError,
    RateLimitedError,
    RequestFilteredError,
    RequestRejectedError,
)
from taskloom.model_clients.messages import ModelReply
from taskloom.model_clients.rate_reports import read_rate_report
from taskloom.model_clients.settings import ModelSettings


def value_at(body: JsonValue, *path: str | int) -> JsonValue:
    """The value at `path`, or None if the path does not exist.

    >>> value_at({"usage": {"details": [{"tokens": 3}]}}, "usage", "details", 0, "tokens")
    3
    >>> value_at({"usage": None}, "usage", "details") is None
    True
    """
    value = body
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(body: JsonValue, *path: str | int) -> str:
    """The text at `path`, or an empty string."""
    value = value_at(body, *path)
    return value if isinstance(value, str) else ""


def count_at(body: JsonValue, *path: str | int) -> int:
    """The count at `path`, or zero."""
    value = value_at(body, *path)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def list_at(body: JsonValue, *path: str | int) -> list[JsonValue]:
    """The list at `path`, or an empty list."""
    value = value_at(body, *path)
    return value if isinstance(value, list) else []


_LONGEST_MESSAGE = 500
_OVERLOADED = frozenset({503, 529})
_TRANSIENT = frozenset({408, 409, 425, 499})
_NO_CREDIT = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_error",
    "credit balance is too low",
)
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_FORMAT_WORDS = (
    "response_format",
    "json_schema",
    "output_config",
    "text.format",
    "structured output",
    "guided_json",
    "tool_choice",
    "tools",
    "function calling",
)


def response_error(
    settings: ModelSettings,
    status: int,
    code: str,
    message: str,
    *,
    headers: Mapping[str, str] | None = None,
    request_id: str = "",
) -> ModelClientError:
    """The error for an error response, with the limits in its headers.

    The `code` is the provider's, such as `rate_limit_error`; neither it nor the `message` may hold a key.
    """
    error_type, advice = _error_type(status, code, message)
    detail = message[:_LONGEST_MESSAGE] or code or "no details"
    request = f" (request {request_id})" if request_id else ""
    error = error_type(f"{settings.provider} {settings.model} answered {status}: {detail}{request}{advice}")
    error.rate_report = read_rate_report(headers or {})
    error.request_id = request_id
    if isinstance(error, ProviderOverloadedError):
        error.too_busy = status in _OVERLOADED
    return error


def _error_type(status: int, code: str, message: str) -> tuple[type[ModelClientError], str]:
    """The type of the error, and advice."""
    lowered = f"{code} {message}".lower()
    if status == 400 and code in _FILTERED:
        return RequestFilteredError, ""
    if any(words in lowered for words in _NO_CREDIT) or status == 402:
        return KeyRejectedError, "; the account of the key has no credit left"
    if status in (401, 403):
        return KeyRejectedError, "; check the key, and that it may use this model"
    if status == 429:
        return RateLimitedError, ""
    if status >= 500 or status in _TRANSIENT:
        return ProviderOverloadedError, ""
    if status in (400, 404, 422) and any(words in lowered for words in _FORMAT_WORDS):
        return FormatUnsupportedError, ""
    if status in (404, 405):
        return AddressUnknownError, "; check the model's name and the base URL"
    return RequestRejectedError, ""


_NO_KEY = "no-key"


def read_key(settings: ModelSettings, usual_variable: str) -> SecretStr:
    """The key from the variable in the settings, or from the provider's usual one.

    A self-hosted server needs no key unless the settings name a variable for it.

    Raises:
        KeyMissingError: the variable is not set.
    """
    variable = settings.api_key_variable or usual_variable
    key = os.environ.get(variable, "").strip()
    if key:
        return SecretStr(key)
    if settings.base_url and not settings.api_key_variable:
        return SecretStr(_NO_KEY)
    raise KeyMissingError(
        f"no key for {settings.provider}: set the environment variable {variable}, or name another one in"
        " `api_key_variable`; the provider `offline` needs no key"
    )


def without_key(text: str, key: SecretStr) -> str:
    """The text with the key redacted, for servers that echo it in their responses."""
    secret = key.get_secret_value()
    return text.replace(secret, "[key]") if secret and secret != _NO_KEY else text


CONNECT_SECONDS = 10.0
"""Longest wait for a connection."""


@contextmanager
def map_errors(sdk: ModuleType, settings: ModelSettings, key: SecretStr) -> Iterator[None]:
    """Map an SDK's errors to ours, without the key and without the SDK's traceback, which may contain it.

    Both SDKs, `openai` and `anthropic`, use the same names; all derive from the base of `APIError`.

    Raises:
        ModelClientError: the response's error, or a `ConnectionLostError` if it broke off or none came.
    """
    who = f"{settings.provider} {settings.model}"
    try:
        yield
    except sdk.APIStatusError as error:
        code, message = _code_and_message(error.body, error.message, key)
        headers, request_id = dict(error.response.headers), error.request_id or ""
        raise response_error(
            settings, error.status_code, code, message, headers=headers, request_id=request_id
        ) from None
    except sdk.APITimeoutError:
        raise ConnectionLostError(
            f"{who}: no answer began within {settings.first_byte_seconds:g} s, or no connection"
            f" within {CONNECT_SECONDS:g} s"
        ) from None
    except sdk.APIError.__base__ as error:
        cause = f" ({type(error.__cause__).__name__}: {error.__cause__})" if error.__cause__ else ""
        raise ConnectionLostError(f"{who}: {without_key(f'{error}{cause}', key)}") from None
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        # Reading a body after the SDK has released the response fails with the HTTP library's own errors.
        raise ConnectionLostError(f"{who}: {without_key(f'{type(error).__name__}: {error}', key)}") from None


def read_json(who: str, content: bytes) -> JsonValue:
    """The JSON of a response's body.

    Raises:
        ConnectionLostError: it is not JSON, for example because a proxy sent a page or the body was cut off.
    """
    try:
        body: JsonValue = json.loads(content)
    except ValueError as error:
        message = f"{who} answered something that is not JSON: {error}; {content[:80]!r}"
        raise ConnectionLostError(message) from None
    return body


def complete_reply(
    reply: ModelReply, headers: Mapping[str, str], started: float, request_id: str
) -> ModelReply:
    """The reply with the request id, latency and limits of its HTTP response."""
    return reply.model_copy(
        update={
            "provider_request_id": request_id or reply.provider_request_id,
            "latency_seconds": time.monotonic() - started,
            "rate_report": read_rate_report(headers),
        }
    )


def filtered_reply(settings: ModelSettings, error: RequestFilteredError) -> ModelReply:
    """The outcome of a request blocked by a content filter."""
    return ModelReply(
        text=str(error),
        finish_reason="content_filter",
        answering_model=settings.model,
        provider_request_id=error.request_id,
        rate_report=error.rate_report,
    )


def _code_and_message(body: object, message: str, key: SecretStr) -> tuple[str, str]:
    """The provider's code and message in an error body, which some servers wrap in `error`."""
    plain: JsonValue = json.loads(json.dumps(body, default=str)) if isinstance(body, dict) else None
    code = text_at(plain, "code") or text_at(plain, "error", "code") or text_at(plain, "error", "type")
    text = text_at(plain, "message") or text_at(plain, "error", "message") or message
    return code or text_at(plain, "type"), without_key(text, key)
