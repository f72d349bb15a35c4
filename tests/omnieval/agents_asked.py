"""Agents at work on the simulated notes, whose model answers from a script behind a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue

from taskloom.environments.environment import Environment
from taskloom.environments.episode import Assignment, run_episode
from taskloom.environments.lookup import platform
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import CallSettings, ModelSettings
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.lookup import AGENTS
from taskloom.prompts.agent_inputs import ApplicationInView
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.model_clients.requests import KEY
from tests.servers.models.behaviour import WireCall
from tests.servers.models.server import LocalModelServer

NOTES = next(item for item in platform("simulated").applications() if item.name == "simulated_notes")
INSTRUCTION = "Write a note."
Answerer = Callable[[WireCall], str]


@asynccontextmanager
async def simulated() -> AsyncIterator[Environment]:
    """A simulated environment."""
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({}))
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def asking(
    answerer: Answerer, folder: Path, provider: str = "openai", protocol: str = "chat_completions"
) -> AsyncIterator[tuple[RoleModels, LocalModelServer]]:
    """Models behind a server that answers from `answerer`."""
    async with LocalModelServer(answerer=answerer, key=KEY) as server:
        url = server.url if provider == "openai" else server.url.removesuffix("/v1")
        model = ModelSettings.model_validate(
            {
                "provider": provider,
                "model": "m",
                "base_url": url,
                "api_key_variable": "TEST_KEY",
                "protocol": protocol if provider == "openai" else "",
            }
        )
        with Ledger(folder / "ledger.sqlite") as ledger:
            async with RoleModels(CallSettings(default=model), ledger) as models:
                yield models, server


def brief(models: RoleModels | None, settings: Mapping[str, JsonValue] | None = None) -> AgentBrief:
    """What an agent is told of the task to write a note."""
    told = ApplicationInView(name=NOTES.name, title=NOTES.title, manual=NOTES.manual)
    task = AgentTask(task_id="t", instruction=INSTRUCTION, applications=(told,), step_limit=12)
    return AgentBrief(task=task, models=models, attempt_id="t#1", settings=settings or {})


async def attempted(
    name: str,
    models: RoleModels | None,
    environment: Environment,
    settings: Mapping[str, JsonValue] | None = None,
) -> Trajectory:
    """What the agent `name` did."""
    return await run_episode(
        environment,
        AGENTS.load(name).create(brief(models, settings)),
        assignment=Assignment(subtask_id="t", instance_id="t#1", instruction=INSTRUCTION),
        applications=[NOTES],
        step_limit=12,
    )
