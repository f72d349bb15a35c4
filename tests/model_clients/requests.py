"""Requests, prompts and replies that the tests of this folder share."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.messages import ModelRequest
from taskloom.model_clients.settings import CallSettings, LimitSettings, ModelSettings, RetrySettings
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerTurn, Exchange
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole, RenderedPrompt
from tests.servers.models.behaviour import WireCall

KEY_VARIABLE = "TASKLOOM_TEST_KEY"
KEY = "sk-test-7c1f0e5b9d2a4836"


class Verdict(Record):
    """A typed reply."""

    answer: str
    """What was asked."""


@dataclass(frozen=True)
class PlainQuestion:
    """A question made by hand."""

    user: str
    system: str = "You answer in JSON. " * 40
    images: tuple[Screenshot, ...] = ()
    template_hash: str = "0" * 64
    role: ModelRole = ModelRole.SUMMARIZER
    reply_type: type[Verdict] = Verdict
    stable: int = 0
    computer: tuple[ComputerTurn, ...] | None = None
    past: tuple[Exchange, ...] = ()
    functions: tuple[dict[str, JsonValue], ...] = ()

    def rendered(self) -> RenderedPrompt:
        return RenderedPrompt(
            system=self.system,
            user=self.user,
            stable=self.stable,
            images=self.images,
            template_hash=self.template_hash,
        )


def request_for(
    user: str, images: tuple[Screenshot, ...] = (), role: ModelRole = ModelRole.SUMMARIZER
) -> ModelRequest:
    question = PlainQuestion(user=user, images=images, role=role)
    return first_request(question, stage="instructions", item_id=user)


def model_at(url: str, provider: str = "openai", protocol: str = "", **changes: object) -> ModelSettings:
    return ModelSettings.model_validate(
        {
            "provider": provider,
            "protocol": protocol,
            "model": "test-model",
            "base_url": url,
            "api_key_variable": KEY_VARIABLE,
            **changes,
        }
    )


def call_settings(model: ModelSettings, **changes: object) -> CallSettings:
    fast = RetrySettings(first_wait_seconds=0.01, longest_wait_seconds=0.05, pause_seconds=0.05)
    limits = {model.provider: LimitSettings(concurrency=16)}
    return CallSettings.model_validate({"default": model, "retries": fast, "limits": limits, **changes})


def verdict_about(call: WireCall) -> str:
    return json.dumps({"answer": f"about {call.turns[0]}"})
