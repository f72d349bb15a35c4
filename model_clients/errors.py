"""Errors of model calls.

ModelClientError
├── UnknownProvider            no such provider module (names the known ones)
├── CallFailed                 this one call has no usable reply; its item is rejected with the reason
│   ├── ReplyInvalid           the reply breaks its schema, after the repair round
│   └── ReplyRefused           the model or a content filter refused
│       └── ReplyUnavailable   the provider did not answer, or does not take the request
├── RunStopped                 no call can succeed now; nothing is rejected, a rerun continues
│   ├── KeyMissing             no key in the environment (says which variable)
│   ├── KeyRejected            401, 402 or 403: the key is wrong, may not, or has no credit
│   ├── ProviderDown           the provider has answered nothing for a long time
│   ├── BudgetExhausted        the next call would exceed the budget
│   ├── BudgetInvalid          a budget that cannot be read, or kept
│   ├── LedgerBroken           the ledger cannot be read or written
│   └── ReplyMissing           replaying from the ledger, and the ledger has no such reply
├── BatchPending               the request waits in a file for an answer from elsewhere; the item goes on later
└── TryFailed                  one try of a call, seen by `RoleModels` only
    ├── RequestRejected        400, 404, 413, 422: sending it again cannot help
    │   ├── FormatUnsupported  the server does not take this way of asking for a typed reply
    │   └── RequestFiltered    a content filter stopped the request; recorded as an outcome
    ├── RateLimited            429 (transient; may carry Retry-After)
    ├── ProviderOverloaded     500, 502, 503, 529 (transient)
    └── ConnectionLost         reset, refused, cut off, timed out (transient)
"""

from __future__ import annotations

from model_clients.limits.rate_reports import RateReport


class ModelClientError(Exception):
    """Anything that goes wrong with a model call; messages never hold a key.

    Attributes:
        transient: whether sending the same request again can help.
        rate_report: what the response's headers said about limits, when there was a response.
        request_id: the provider's id of the request, for support.
    """

    transient = False
    rate_report: RateReport | None = None
    request_id: str = ""


class UnknownProvider(ModelClientError):
    """No provider of that name."""


class CallFailed(ModelClientError):
    """One call has no usable reply."""


class ReplyInvalid(CallFailed):
    """The reply does not follow its schema."""


class ReplyRefused(CallFailed):
    """There is no answer: the model or a content filter would not give one."""


class ReplyUnavailable(ReplyRefused):
    """The provider could not be brought to answer."""


class RunStopped(ModelClientError):
    """No call can succeed as things are."""


class KeyMissing(RunStopped):
    """The environment holds no key for the provider."""


class KeyRejected(RunStopped):
    """The provider does not accept the key."""


class ProviderDown(RunStopped):
    """The provider has answered nothing for a long time."""


class BudgetExhausted(RunStopped):
    """The budget does not allow the call."""


class BudgetInvalid(RunStopped):
    """A budget that cannot be read, or kept because a price is unknown."""


class LedgerBroken(RunStopped):
    """The ledger cannot be read or written."""


class ReplyMissing(RunStopped):
    """The ledger holds no such reply, and no call may be made."""


class BatchPending(ModelClientError):
    """The request was written to a file and waits for an answer from elsewhere."""


class TryFailed(ModelClientError):
    """One try of a call failed."""


class RequestRejected(TryFailed):
    """The provider does not accept the request."""


class FormatUnsupported(RequestRejected):
    """The server does not take this way of asking for a typed reply."""


class RequestFiltered(RequestRejected):
    """A content filter stopped the request."""


class RateLimited(TryFailed):
    """Too many requests."""

    transient = True
    too_busy = True


class ProviderOverloaded(TryFailed):
    """The provider has trouble.

    Attributes:
        too_busy: whether it says that it has too much to do (503, 529), and not that something broke (500, 502).
    """

    transient = True
    too_busy = False


class ConnectionLost(TryFailed):
    """No whole answer arrived."""

    transient = True
