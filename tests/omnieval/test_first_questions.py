"""What agents are asked has a hash: equal while nothing changes that a model is shown, and else another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from taskloom.omnieval.asking import model_agents
from taskloom.omnieval.asking.first_questions import prompt_hash
from taskloom.omnieval.experiments import AgentEntry
from taskloom.omnieval.lookup import AGENTS
from taskloom.prompts import rendering


def hashed(agent: str, protocol: str = "paper", **fields: Any) -> str:
    return asyncio.run(prompt_hash(AgentEntry(agent=agent, **fields), protocol))


def test_what_every_agent_asks_is_known_and_no_two_formats_ask_alike() -> None:
    """The provider's tool is no part of the prompt: its two agents are told the same."""
    found = {name: hashed(name) for name in AGENTS.names()}
    asking = {name for name in found if getattr(AGENTS.load(name), "MODEL", False)} - {"openai_computer"}
    assert len({found[name] for name in asking}) == len(asking) > 15
    assert {found[name] for name in found.keys() - asking - {"openai_computer"}} == {found["recorded"]}
    assert found == {name: hashed(name) for name in found}


def test_own_code_is_told_the_same_as_others_and_is_not_run() -> None:
    assert hashed("no_such_module:make") == hashed("recorded") != hashed("recorded", "notes")


def test_settings_prompts_formats_and_templates_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before, planned, other = hashed("qwen3_vl"), hashed("planner_executor"), hashed("pixels")
    assert hashed("qwen3_vl", prompt="Act.") != before
    assert hashed("pixels", settings={"coordinates": "pixels"}) != other
    assert hashed("planner_executor", settings={"executor": "pixels"}) != planned
    with monkeypatch.context() as changed:
        row = model_agents.ROWS["qwen3_vl"]
        assert row.form is not None
        form = row.form.model_copy(update={"shape": f"{row.form.shape}."})
        changed.setitem(model_agents.ROWS, "qwen3_vl", row.model_copy(update={"form": form}))
        assert hashed("qwen3_vl") != before
    usual = rendering.template_hash
    monkeypatch.setattr(
        rendering, "template_hash", lambda name: "edited" if name == "planner" else usual(name)
    )
    assert hashed("planner_executor") != planned
    assert (hashed("qwen3_vl"), hashed("pixels")) == (before, other)
