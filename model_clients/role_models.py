"""How the stages call models: by role, with a typed reply, paid for once."""

from typing import TypeVar

from pydantic import BaseModel

from taskloom.model_clients.client import Question
from taskloom.model_clients.conversation import first_request, next_request, parse_reply
from taskloom.model_clients.errors import (
    BudgetExhaustedError,
    ModelClientError,
    ReplyInvalidError,
    ReplyRefusedError,
    ReplyUnavailableError,
    TryFailedError,
)
from taskloom.model_clients.ledger.budget import Amount, Budget, CallCounters, RunAccount
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.limiter import Priority
from taskloom.model_clients.messages import ModelRequest
from taskloom.model_clients.paid_calls import Call, PaidCalls
from taskloom.model_clients.senders import Senders
from taskloom.model_clients.settings import CallSettings
from taskloom.taskgraph.records.model_calls import CallPurpose, ModelRole

R = TypeVar("R", bound=BaseModel)

_GRACE_SECONDS = 5.0
_ORDER = {role: number for number, role in enumerate(ModelRole)}


class RoleModels:
    """Asks the models that play the roles.

    Guarantees that every reply is in the ledger before it is returned, that no finished call is made again,
    that limits and budget apply to all stages together, and that late stages take precedence over early ones.
    Bound to one event loop; use it as an asynchronous context manager.
    """

    def __init__(
        self,
        settings: CallSettings,
        ledger: Ledger,
        *,
        run_id: str = "",
        account: RunAccount | None = None,
    ) -> None:
        """Ask according to `settings` and keep replies in `ledger`, which stays open after this is closed.

        Several instances may share the `account` of a run, including its budget and figures. What `run_id`
        has already spent, according to the ledger, counts against its budget.
        """
        self.settings = settings
        if account is None:
            spent = Amount(*ledger.spent(run_id)) if run_id else Amount()
            budget = Budget.of(settings.budget, spent)
            account = RunAccount(ledger, budget, CallCounters(), run_id, settings.replay)
        self.account = account
        self._senders = Senders(settings, ledger, self.counters)
        self._calls = PaidCalls(settings, self.account, self._senders)
        self._started_items: set[str] = set()

    async def __aenter__(self) -> "RoleModels":
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close; if the budget is used up, first wait for all calls in flight, because they are paid for."""
        players = self.settings.roles.values()
        models = (model for player in players for model in (player.model, *player.fallbacks))
        longest = max(model.total_seconds for model in (self.settings.default, *models))
        await self.close(longest if isinstance(error, BudgetExhaustedError) else _GRACE_SECONDS)

    async def close(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Wait up to this long for calls in flight, then release all connections. May be called twice."""
        await self._calls.finish(grace_seconds)
        await self._senders.close()

    @property
    def counters(self) -> CallCounters:
        """Live figures."""
        return self.account.counters

    async def ask(self, question: Question[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        """The typed reply of the model that plays the question's role.

        A malformed reply gets one repair round with the parser's message; a truncated reply is requested
        again with twice the output limit. A fallback model is asked only if the settings name one.

        The `item_id` is that of the subtask, task or application that the call serves; a new `attempt` asks
        the same question again instead of reading the ledger.

        Raises:
            CallFailedError: there is no usable reply: it breaks its schema, the model or a content filter
                refused, the provider did not answer or does not accept the request.
            RunStoppedError: no call can succeed now: no key, no budget, no such reply to replay, a provider
                that is down.
        """
        first = first_request(question, stage=stage, item_id=item_id, attempt=attempt)
        player = self.settings.role(question.role)
        for number, model in enumerate((player.model, *player.fallbacks)):
            request: ModelRequest = first
            purpose: CallPurpose = "first"
            try:
                while True:
                    call = Call(model, request, self._priority(request), purpose, number)
                    reply = await self._calls.reply(call)
                    if reply.finish_reason in ("refusal", "content_filter"):
                        refuser = "the model" if reply.finish_reason == "refusal" else "a content filter"
                        reason = reply.text[:300] or "no reason given"
                        raise ReplyRefusedError(f"{refuser} of {call.description} refused: {reason}")
                    try:
                        return parse_reply(reply.text, question.reply_type)
                    except ReplyInvalidError as error:
                        if purpose != "first":
                            problem = f"no usable {request.reply_schema_name} after a repair round"
                            raise ReplyInvalidError(f"{call.description}: {problem}: {error}") from None
                        model, request, purpose = next_request(model, request, reply, str(error))
            except ModelClientError as error:
                if number == len(player.fallbacks):
                    if isinstance(error, TryFailedError):
                        message = f"no reply to {question.role} for {stage} {item_id}: {error}"
                        raise ReplyUnavailableError(message) from error
                    raise
                if not error.another_model_may_answer:
                    raise
        raise AssertionError("a role has at least one model")

    def _priority(self, request: ModelRequest) -> Priority:
        """Late roles before early ones, started items before new ones."""
        started = request.item_id in self._started_items
        self._started_items.add(request.item_id)
        return len(_ORDER) - _ORDER[request.role], 0 if started else 1
