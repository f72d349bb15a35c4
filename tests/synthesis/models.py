"""Models for tests: the offline provider without a ledger, and scripted replies in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from model_clients.conversation import first_request
from model_clients.errors import ReplyInvalidError
from model_clients.messages import ModelRequest
from model_clients.offline.client import OfflineClient
from model_clients.offline.mistakes import InjectedMistake, MistakeSource, read_mark
from model_clients.roles import ModelRole
from resources.applications import Application
from resources.reading.catalog import load_goal_wordings


@dataclass(frozen=True)
class AnsweredCall:
    request: ModelRequest
    reply: BaseModel
    mistakes: tuple[InjectedMistake, ...] = ()


class TestModels:
    """Answers offline; a role that has scripted replies left gives these first, as text or as typed replies."""

    __test__ = False

    def __init__(
        self,
        applications: Mapping[str, Application],
        *,
        mistakes: float = 0.0,
        seed: int = 0,
        scripted: Mapping[ModelRole, Sequence[BaseModel | str]] | None = None,
    ) -> None:
        self.client = OfflineClient(applications, load_goal_wordings(), MistakeSource(mistakes, seed))
        self.scripted = {role: list(replies) for role, replies in (scripted or {}).items()}
        self.calls: dict[ModelRole, list[AnsweredCall]] = defaultdict(list)

    async def ask(self, role, prompt, reply_type, **purpose):
        """As `synthesis.ports.Models` has it."""
        request = first_request(role, prompt, reply_type, **{"attempt": 0, **purpose})
        mistakes: tuple[InjectedMistake, ...] = ()
        if self.scripted.get(role):
            scripted = self.scripted[role].pop(0)
            text = scripted if isinstance(scripted, str) else scripted.model_dump_json()
        else:
            answer = await self.client.complete(request)
            text, mistakes = answer.text, read_mark(answer.provider_request_id)
        try:
            reply = reply_type.model_validate_json(text)
        except ValidationError as error:
            raise ReplyInvalidError(str(error)) from error
        self.calls[role].append(AnsweredCall(request, reply, mistakes))
        return reply
