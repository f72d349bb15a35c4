"""A model server that answers a whole run sensibly: by the offline rules, whose typed questions it
overhears."""

from __future__ import annotations

from typing import cast

import pytest

from taskloom.flows import wiring
from taskloom.flows.settings import Settings
from taskloom.model_clients.client import Question
from taskloom.model_clients.role_models import R, RoleModels
from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.replies import CriticReply
from taskloom.taskgraph.records.criticism import Score
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.servers.models.behaviour import WireCall

_GOOD = Score(score=4, reason="It will do.")
PLEASED = CriticReply(naturalness=_GOOD, sense=_GOOD, feasibility=_GOOD)
"""What the critic says to everything, whom no rule plays."""


class OverheardAnswers:
    """Knows the answer to each question before it is sent.

    The offline rules read typed questions, which no wire carries. So they answer when the question is asked,
    and the server looks the answer up by the text that arrives.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, simulated: Settings) -> None:
        """Listen to every run from now on."""
        rules = wiring.offline_rules(simulated)
        answers: dict[str, str] = {}
        self._answers = answers

        class OverheardModels(RoleModels):
            async def ask(self, question: Question[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
                if question.role is ModelRole.CRITIC:
                    answers[question.rendered().user] = PLEASED.model_dump_json()
                else:
                    reply = rules.answer(cast(PromptInput[R], question), attempt)
                    answers[question.rendered().user] = reply.model_dump_json()
                return await super().ask(question, stage=stage, item_id=item_id, attempt=attempt)

        monkeypatch.setattr(wiring, "RoleModels", OverheardModels)

    def __call__(self, call: WireCall) -> str:
        """The answer to a call."""
        return self.to(call.turns[0])

    def to(self, shown: str) -> str:
        """The answer to the question whose user's part is `shown`."""
        return self._answers[shown]
