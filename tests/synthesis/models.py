"""Models for tests: the offline rules without a ledger, and scripted replies in their place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from taskloom.model_clients.errors import ReplyInvalidError
from taskloom.offline.models import OfflineRules
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.resources.applications import Application
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.synthesis.mistakes import MistakeKind, MistakenRules


@dataclass(frozen=True)
class AnsweredCall:
    question: Any
    """The input of the role that was asked."""
    item_id: str
    attempt: int
    reply: BaseModel
    mistake: MistakeKind | None = None


class TestModels:
    """Answers offline; a role that has scripted replies left gives these first, as text or as typed
    replies."""

    __test__ = False

    def __init__(
        self,
        applications: Mapping[str, Application],
        *,
        mistakes: float = 0.0,
        seed: int = 0,
        scripted: Mapping[ModelRole, Sequence[BaseModel | str]] | None = None,
    ) -> None:
        self.rules = MistakenRules(OfflineRules(applications, load_resource_categories()), mistakes, seed)
        self.scripted = {role: list(replies) for role, replies in (scripted or {}).items()}
        self.calls: dict[ModelRole, list[AnsweredCall]] = defaultdict(list)

    async def ask(self, question: PromptInput[Reply], *, stage: str, item_id: str, attempt: int = 0) -> Reply:
        """As `taskloom.synthesis.ports.Models` has it."""
        question.rendered()
        mistake: MistakeKind | None = None
        if self.scripted.get(question.role):
            scripted = self.scripted[question.role].pop(0)
            text = scripted if isinstance(scripted, str) else scripted.model_dump_json()
            try:
                reply = question.reply_type.model_validate_json(text)
            except ValidationError as error:
                raise ReplyInvalidError(str(error)) from error
        else:
            reply, mistake = self.rules.answer(question, attempt)
        self.calls[question.role].append(AnsweredCall(question, item_id, attempt, reply, mistake))
        return reply
