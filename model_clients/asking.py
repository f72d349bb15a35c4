"""How the stages call models: by role, with a typed reply, paid for once."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TypeVar

from pydantic import BaseModel

from model_clients.batches.request_files import ReplyFile, RequestFile
from model_clients.client import Question
from model_clients.conversation import first_request, parse_reply, repair_request
from model_clients.counters import CallCounters
from model_clients.errors import (
    BatchPendingError,
    BudgetExhaustedError,
    CallFailedError,
    KeyMissingError,
    KeyRejectedError,
    ModelClientError,
    ProviderDownError,
    ReplyInvalidError,
    ReplyRefusedError,
    ReplyUnavailableError,
    RunStoppedError,
)
from model_clients.ledger.accounts import RunAccount
from model_clients.ledger.budget import Budget
from model_clients.ledger.call_records import Purpose
from model_clients.ledger.ledger import Ledger
from model_clients.ledger.paid_calls import Call, PaidCalls
from model_clients.limits.senders import Senders
from model_clients.messages import ModelReply, ModelRequest
from model_clients.settings import CallSettings, ModelSettings
from taskgraph.records.model_roles import ModelRole

R = TypeVar("R", bound=BaseModel)

_GRACE_SECONDS = 5.0
_LONGER = 2
_OF_ONE_PROVIDER = (KeyMissingError, KeyRejectedError, ProviderDownError)
_ORDER = {role: number for number, role in enumerate(ModelRole)}


class RoleModels:
    """Asks the models that play the roles.

    Guarantees that every reply is in the ledger before it is returned, that no finished call is made again, that
    limits and budget hold over all stages together, and that roles late in the method go before early ones.
    Belongs to one event loop; use it as an asynchronous context manager.
    """

    def __init__(self, settings: CallSettings, ledger: Ledger, *, run_id: str = "") -> None:
        """Ask by `settings` and keep replies in `ledger`, which stays open after this is closed.

        What the ledger says that `run_id` spent before counts against its budget.

        Raises:
            BudgetInvalidError: a budget cannot be read.
            RequestRejectedError: the file of replies cannot be read.
        """
        self.settings = settings
        spent = ledger.spent(run_id) if run_id else {}
        budget = Budget.of(settings.budget, settings.stage_budgets, spent)
        self.account = RunAccount(ledger, budget, CallCounters(), run_id, settings.replay)
        self._senders = Senders(settings, ledger, self.counters)
        self._asked = RequestFile(settings.batch_out) if settings.batch_out is not None else None
        self._calls = PaidCalls(
            settings,
            self.account,
            self._senders,
            asked=self._asked,
            answered=ReplyFile.read(settings.batch_in) if settings.batch_in is not None else None,
        )
        self._begun: set[str] = set()

    async def __aenter__(self) -> RoleModels:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; when the budget is used up, every call on the wire is awaited, for it is paid for."""
        longest = max((model.total_seconds for model in self._models()), default=_GRACE_SECONDS)
        await self.close(longest if isinstance(error, BudgetExhaustedError) else _GRACE_SECONDS)

    def _models(self) -> Iterator[ModelSettings]:
        yield self.settings.default
        for player in self.settings.roles.values():
            yield from (player.model, *player.fallbacks)

    async def close(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Wait so long for calls that are paid for, then release all connections. May be called twice."""
        await self._calls.finish(grace_seconds)
        await self._senders.close()

    @property
    def written_requests(self) -> int:
        """Calls written to the file of requests by this process."""
        return self._asked.written if self._asked is not None else 0

    @property
    def counters(self) -> CallCounters:
        """Live figures."""
        return self.account.counters

    async def ask(self, question: Question[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        """The typed reply of the model that plays the question's role.

        A malformed reply gets one repair round with the parser's message, a truncated one is asked for again with
        twice the room. A fallback model is asked only where the settings name one.

        Args:
            question: what is asked, of which role, and what the reply must be.
            stage: stage of the method, for accounting and the stage's budget.
            item_id: subtask, task or application the call serves.
            attempt: a new number asks an equal question anew instead of reading the ledger.

        Raises:
            ReplyInvalidError: the reply breaks its schema, after the repair round.
            ReplyRefusedError: the model or a content filter refused.
            ReplyUnavailableError: the provider could not be brought to answer, or does not take the request.
            RunStoppedError: no call can succeed now: no key, no budget, no such reply to replay, a provider that is down.
            BatchPendingError: the request was written to a file; the item goes on in a later run.
        """
        request = first_request(question, stage=stage, item_id=item_id, attempt=attempt)
        players = self.settings.role(question.role)
        models = (players.model, *players.fallbacks)
        for number, model in enumerate(models):
            try:
                return await self._ask_model(model, number, request, question.reply_type)
            except BatchPendingError:
                raise
            except ModelClientError as error:
                another = number + 1 < len(models)
                if isinstance(error, RunStoppedError) and not (
                    another and isinstance(error, _OF_ONE_PROVIDER)
                ):
                    raise
                if not another:
                    if isinstance(error, CallFailedError):
                        raise
                    raise ReplyUnavailableError(
                        f"no reply to {question.role} for {stage} {item_id}: {error}"
                    ) from error
                for counters in self.counters.of(stage):
                    counters.fallbacks += 1
        raise AssertionError("a role has at least one model")

    async def _ask_model(
        self, model: ModelSettings, number: int, request: ModelRequest, reply_type: type[R]
    ) -> R:
        reply = await self._reply(model, number, request, "first")
        try:
            return parse_reply(reply.text, reply_type)
        except ReplyInvalidError as error:
            problem = str(error)
        room = model.parameters.max_output_tokens
        if reply.finish_reason == "length" and room is not None:
            parameters = model.parameters.model_copy(update={"max_output_tokens": room * _LONGER})
            model = model.model_copy(update={"parameters": parameters})
            reply = await self._reply(model, number, request, "longer")
        else:
            if reply.finish_reason == "length":
                problem = f"it was cut off at the longest length allowed, so it must be shorter; {problem}"
            reply = await self._reply(model, number, repair_request(request, reply, problem), "repair")
        try:
            parsed = parse_reply(reply.text, reply_type)
        except ReplyInvalidError as error:
            for counters in self.counters.of(request.stage):
                counters.invalid += 1
            raise ReplyInvalidError(
                f"{model.provider}/{model.model} as {request.model_role} for {request.stage} {request.item_id}:"
                f" no usable {request.reply_schema_name} after a repair round: {error}"
            ) from None
        for counters in self.counters.of(request.stage):
            counters.repaired += 1
        return parsed

    async def _reply(
        self, model: ModelSettings, number: int, request: ModelRequest, purpose: Purpose
    ) -> ModelReply:
        begun = request.item_id in self._begun
        self._begun.add(request.item_id)
        priority = (len(_ORDER) - _ORDER[request.model_role], 0 if begun else 1)
        reply = await self._calls.reply(Call(model, request, priority, purpose, number))
        if reply.finish_reason in ("refusal", "content_filter"):
            for counters in self.counters.of(request.stage):
                counters.refused += 1
            who = "the model" if reply.finish_reason == "refusal" else "a content filter"
            raise ReplyRefusedError(
                f"{who} of {model.provider}/{model.model} refused, as {request.model_role} for {request.stage}"
                f" {request.item_id}: {reply.text[:300] or 'no reason given'}"
            )
        return reply
