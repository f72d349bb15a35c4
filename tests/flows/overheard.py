"""A model server that answers a whole run sensibly: by the offline rules, whose typed inputs it overhears."""

from __future__ import annotations

from typing import TypeVar

import pytest
from pydantic import BaseModel

import flows.wiring
from flows.settings import Settings
from model_clients.asking import RoleModels
from model_clients.client import Prompt
from model_clients.conversation import first_request
from model_clients.local_server.behaviour import WireCall
from model_clients.lookup import create_client
from model_clients.roles import ModelRole

R = TypeVar("R", bound=BaseModel)


class OverheardAnswers:
    """Knows the answer to each question before it is sent.

    The offline rules read the typed inputs of a prompt, which no wire carries. So they answer when the question is
    asked, and the server looks the answer up by the text that arrives.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, simulated: Settings) -> None:
        """Listen to every run from now on."""
        client = create_client(
            flows.wiring.role_settings(
                simulated.model_copy(update={"models": type(simulated.models)()})
            ).default
        )
        answers: dict[str, str] = {}
        self._answers = answers

        class OverheardModels(RoleModels):
            async def ask(
                self,
                role: ModelRole,
                prompt: Prompt,
                reply_type: type[R],
                *,
                stage: str,
                item_id: str,
                attempt: int = 0,
            ) -> R:
                request = first_request(
                    role, prompt, reply_type, stage=stage, item_id=item_id, attempt=attempt
                )
                answers[prompt.user] = (await client.complete(request)).text
                return await super().ask(
                    role, prompt, reply_type, stage=stage, item_id=item_id, attempt=attempt
                )

        monkeypatch.setattr(flows.wiring, "RoleModels", OverheardModels)

    def __call__(self, call: WireCall) -> str:
        """The answer to a call."""
        return self._answers[call.turns[0]]
