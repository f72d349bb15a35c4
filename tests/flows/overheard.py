"""A model server that answers a whole run sensibly: by the offline rules, whose typed inputs it overhears."""

from __future__ import annotations

import pytest

import flows.wiring
from flows.settings import Settings
from model_clients.asking import RoleModels
from model_clients.conversation import first_request
from model_clients.lookup import create_client
from tests.servers.models.behaviour import WireCall


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
            async def ask(self, role, prompt, reply_type, **purpose):
                request = first_request(role, prompt, reply_type, **{"attempt": 0, **purpose})
                answers[prompt.user] = (await client.complete(request)).text
                return await super().ask(role, prompt, reply_type, **purpose)

        monkeypatch.setattr(flows.wiring, "RoleModels", OverheardModels)

    def __call__(self, call: WireCall) -> str:
        """The answer to a call."""
        return self._answers[call.turns[0]]
