"""Maps failed responses to our errors, in the same way for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from taskloom.model_clients.errors import (
    AddressUnknownError,
    FormatUnsupportedError,
    KeyRejectedError,
    ModelClientError,
    ProviderOverloadedError,
    RateLimitedError,
    RequestFilteredError,
    RequestRejectedError,
)
from taskloom.model_clients.rate_reports import read_rate_report

_LONGEST_MESSAGE = 500
_TOO_BUSY = frozenset({503, 529})
_PASSING = frozenset({408, 409, 425, 499})
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


@dataclass(frozen=True, slots=True)
class FailedResponse:
    """An error response."""

    provider: str
    model: str
    status: int
    code: str
    """The provider's error code, such as `rate_limit_error`."""
    message: str
    """The provider's message, without any key."""
    headers: Mapping[str, str] = field(default_factory=dict)
    request_id: str = ""
    """The provider's id of the request."""

    def error(self) -> ModelClientError:
        """The error to raise, including the limits in the headers."""
        kind, advice = self._kind()
        detail = self.message[:_LONGEST_MESSAGE] or self.code or "no further word"
        request = f" (request {self.request_id})" if self.request_id else ""
        error = kind(f"{self.provider} {self.model} answered {self.status}: {detail}{request}{advice}")
        error.rate_report = read_rate_report(self.headers)
        error.request_id = self.request_id
        if isinstance(error, ProviderOverloadedError):
            error.too_busy = self.status in _TOO_BUSY
        return error

    def _kind(self) -> tuple[type[ModelClientError], str]:
        lowered = f"{self.code} {self.message}".lower()
        if self.status == 400 and self.code in _FILTERED:
            return RequestFilteredError, ""
        if any(words in lowered for words in _NO_CREDIT) or self.status == 402:
            return KeyRejectedError, "; the account of the key has no credit left"
        if self.status in (401, 403):
            return KeyRejectedError, "; check the key, and that it may use this model"
        if self.status == 429:
            return RateLimitedError, ""
        if self.status >= 500 or self.status in _PASSING:
            return ProviderOverloadedError, ""
        if self.status in (400, 404, 422) and any(words in lowered for words in _FORMAT_WORDS):
            return FormatUnsupportedError, ""
        if self.status in (404, 405):
            return AddressUnknownError, "; check the model's name and the base URL"
        return RequestRejectedError, ""
