"""Errors of model calls.

ModelClientError
├── UnknownProviderError            no such provider module (names the known ones)
├── CallFailedError                 this one call has no usable reply; its item is rejected with the reason
│   ├── ReplyInvalidError           the reply breaks its schema, after the repair round
│   ├── ReplyRefusedError           the model or a content filter refused
│   └── ReplyUnavailableError       the provider did not answer, or does not take the request
├── RunStoppedError                 no call can succeed now; nothing is rejected, a rerun continues
│   ├── KeyMissingError             no key in the environment (says which variable)
│   ├── KeyRejectedError            401, 402 or 403: the key is wrong, lacks permission, or has no credit
│   ├── ProviderDownError           the provider has answered nothing for a long time
│   ├── BudgetExhaustedError        the next call would exceed the budget
│   ├── BudgetInvalidError          a budget that cannot be read, or kept
│   ├── LedgerBrokenError           the ledger cannot be read or written
│   └── ReplyMissingError           replaying from the ledger, and the ledger has no such reply
└── TryFailedError                  one try of a call, seen by `RoleModels` only
    ├── RequestRejectedError        400, 404, 413, 422: sending it again cannot help
    │   ├── AddressUnknownError     404, 405: no such model, or no such path on the server
    │   ├── FormatUnsupportedError  the server does not take this way of asking for a typed reply
    │   └── RequestFilteredError    a content filter stopped the request; recorded as an outcome
    ├── RateLimitedError            429 (transient; may carry Retry-After)
    ├── ProviderOverloadedError     500, 502, 503, 529 (transient)
    └── ConnectionLostError         reset, refused, cut off, timed out (transient)
"""

from taskloom.model_clients.rate_reports import RateReport
from taskloom.resources.errors import ExitCode, TaskloomError


class ModelClientError(TaskloomError):
    """Anything that goes wrong with a model call; messages never hold a key."""

    another_model_may_answer = True
    """Whether a fallback model is worth asking."""
    rate_report: RateReport | None = None
    """Limits in the response's headers, if there was a response."""
    request_id: str = ""
    """The provider's id of the request, for support."""


class UnknownProviderError(ModelClientError):
    """No provider of that name."""

    another_model_may_answer = False


class CallFailedError(ModelClientError):
    """One call has no usable reply."""


class ReplyInvalidError(CallFailedError):
    """The reply does not follow its schema."""


class ReplyRefusedError(CallFailedError):
    """The model or a content filter refused to answer."""


class ReplyUnavailableError(CallFailedError):
    """The provider did not answer."""


class RunStoppedError(ModelClientError):
    """No call can succeed now."""

    another_model_may_answer = False


class KeyMissingError(RunStoppedError):
    """The environment holds no key for the provider."""

    exit_code = ExitCode.MISSING_REQUIREMENT
    another_model_may_answer = True


class KeyRejectedError(RunStoppedError):
    """The provider does not accept the key."""

    exit_code = ExitCode.MISSING_REQUIREMENT
    another_model_may_answer = True


class ProviderDownError(RunStoppedError):
    """The provider has answered nothing for a long time."""

    another_model_may_answer = True


class BudgetExhaustedError(RunStoppedError):
    """The budget does not allow the call."""

    exit_code = ExitCode.BUDGET_EXHAUSTED


class BudgetInvalidError(RunStoppedError):
    """A budget that cannot be read, or cannot be kept because a price is unknown."""


class LedgerBrokenError(RunStoppedError):
    """The ledger cannot be read or written."""


class ReplyMissingError(RunStoppedError):
    """The ledger holds no such reply, and no call may be made."""


class TryFailedError(ModelClientError):
    """One try of a call failed."""


class RequestRejectedError(TryFailedError):
    """The provider does not accept the request."""


class AddressUnknownError(RequestRejectedError):
    """The server knows no such model or no such path."""


class FormatUnsupportedError(RequestRejectedError):
    """The server does not take this way of asking for a typed reply."""


class RequestFilteredError(RequestRejectedError):
    """A content filter stopped the request."""


class RateLimitedError(TryFailedError):
    """Too many requests."""

    transient = True
    too_busy = True


class ProviderOverloadedError(TryFailedError):
    """The provider is overloaded or failing."""

    transient = True
    too_busy = False
    """Whether it reports overload (503, 529) rather than a failure (500, 502)."""


class ConnectionLostError(TryFailedError):
    """No complete response arrived."""

    transient = True
