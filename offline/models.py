"""The stages' port to models, answered by rules: from a typed question and the catalogue to a typed reply,
without a key, a network or a model. Replies go through the ledger like any other."""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import cast

from pydantic import BaseModel

from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.ledger.budget import Amount, RunAccount
from taskloom.model_clients.ledger.ledger import call_record, canonical_json
from taskloom.model_clients.messages import ModelReply, TextContent
from taskloom.model_clients.settings import ModelSettings
from taskloom.offline.actor import act
from taskloom.offline.dependency_judge import infer
from taskloom.offline.evaluation_writer import write_function
from taskloom.offline.intent_extractor import extract
from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.summarizer import summarize
from taskloom.prompts.inputs import (
    ActorInput,
    DependencyJudgeInput,
    EvaluationWriterInput,
    ExplorerInput,
    IntentExtractorInput,
    SummarizerInput,
)
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.prompts.replies import ExplorerReply
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.model_calls import ModelRole

RULES_VERSION = 12
"""Raised whenever a rule changes its answers, so that no reply of the old rules is used again."""
PROVIDER = "offline"
"""Provider of these rules in the ledger, the settings and provenance."""
MODEL = "rules"
"""Name of its only model."""
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class OfflineRules:
    """Answers every role from the question and the worked examples of the catalogue.

    Guarantees equal replies to equal questions. It is not a model: it knows only what the question and the
    catalogue say, and its actor gives up on instructions that fit no worked example.
    """

    applications: Mapping[str, Application]
    """Applications whose worked examples the actor knows, by name."""
    categories: Mapping[str, ResourceCategory]

    def answer(self, question: PromptInput[Reply], attempt: int = 0) -> Reply:
        """The reply."""
        return cast(Reply, self._answer(question, attempt))

    def fingerprint(self) -> str:
        """Hash of everything that determines replies besides the question and the attempt."""
        digest = hashlib.sha256(str(RULES_VERSION).encode())
        for name in sorted(self.applications):
            for example in self.applications[name].example_subtasks:
                digest.update(example.model_dump_json().encode())
        for category in sorted(self.categories):
            digest.update(self.categories[category].model_dump_json().encode())
        return digest.hexdigest()

    def _answer(self, question: PromptInput[Reply], attempt: int) -> BaseModel:
        match question:
            case ExplorerInput():
                return ExplorerReply(subtasks=[])  # the curated ones are in the pool already
            case ActorInput():
                return act(question, self.applications.get(question.application))
            case EvaluationWriterInput():
                return write_function(question)
            case IntentExtractorInput():
                return extract(question, attempt, self._book())
            case SummarizerInput():
                return summarize(question, attempt, self._book())
            case DependencyJudgeInput():
                return infer(question, self._book())
            case _:
                raise TypeError(f"there is no rule for {type(question).__name__}")

    def _book(self) -> Phrasebook:
        return Phrasebook(self.applications, self.categories)


class OfflineModels:
    """Plays some roles by rule and leaves the others to models.

    Guarantees that a reply is in the ledger before it is returned and that a reply in the ledger is used
    again, so that runs resume and replay as they do with models. Tokens are those of the prompt that a model
    would have got, at four characters each.
    """

    def __init__(
        self, rules: OfflineRules, account: RunAccount, roles: Iterable[ModelRole], others: Models
    ) -> None:
        """Play `roles` by `rules`, charge the replies to `account`, and ask `others` for every other role."""
        self._rules, self._account, self._others = rules, account, others
        self._roles = frozenset(roles)
        self._fingerprint = rules.fingerprint()
        self._running: dict[str, asyncio.Future[None]] = {}

    async def ask(self, question: PromptInput[Reply], *, stage: str, item_id: str, attempt: int = 0) -> Reply:
        """The reply by rule, or that of the model that plays the role.

        Raises:
            ReplyMissingError: only the ledger may answer, and it has no reply.
            BudgetExhaustedError: the call could exceed the budget.
            LedgerBrokenError: the reply cannot be kept.
            ModelClientError: a model that plays the role gives no usable reply.
        """
        if question.role not in self._roles:
            return await self._others.ask(question, stage=stage, item_id=item_id, attempt=attempt)
        key = self._key(question, attempt)
        while key in self._running:
            await asyncio.wait([self._running[key]])
        known = self._account.ledger.find(key)
        if known is not None:
            self._account.counters.total.from_ledger += 1
            return question.reply_type.model_validate_json(known.text)
        self._running[key] = asyncio.get_running_loop().create_future()
        try:
            return await self._answer(key, question, stage, item_id, attempt)
        finally:
            self._running.pop(key).set_result(None)

    async def _answer(
        self, key: str, question: PromptInput[Reply], stage: str, item_id: str, attempt: int
    ) -> Reply:
        account = self._account
        request = first_request(question, stage=stage, item_id=item_id, attempt=attempt)
        if account.replay:
            raise account.missing_reply(key, request, f"{PROVIDER}/{MODEL}")
        started = perf_counter()
        reply = self._rules.answer(question, attempt)
        text = reply.model_dump_json()
        parts = (part for message in request.messages for part in message.content)
        characters = sum(len(part.text) for part in parts if isinstance(part, TextContent))
        answer = ModelReply(
            text=text,
            answering_model=MODEL,
            input_tokens=characters // _CHARACTERS_PER_TOKEN,
            output_tokens=len(text) // _CHARACTERS_PER_TOKEN,
            latency_seconds=perf_counter() - started,
        )
        spent = Amount(tokens=answer.tokens)
        await account.budget.reserve(spent)
        try:
            settings = ModelSettings(provider=PROVIDER, model=MODEL)
            record = call_record(answer, key=key, request=request, model=settings, run_id=account.run_id)
            await account.ledger.record(record, request, text)
        finally:
            await account.budget.settle(spent, spent)
        account.counters.total.add(answer)
        return reply

    def _key(self, question: PromptInput[Reply], attempt: int) -> str:
        content = canonical_json(
            [PROVIDER, self._fingerprint, question.role.value, question.model_dump(mode="json"), attempt]
        )
        return hashlib.sha256(content.encode()).hexdigest()
