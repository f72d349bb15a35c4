"""The model of an agent under evaluation: its own settings, the budget and the ledger of the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from taskloom.environments.errors import AttemptBudgetError
from taskloom.flows.stages.agents import asks_a_model
from taskloom.flows.wiring import Run, call_place_of
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.settings import RoleSettings
from taskloom.omnieval.experiments.plan import AgentOrder
from taskloom.omnieval.experiments.specification import Limits
from taskloom.prompts.prompt_input import PromptInput
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.model_calls import ModelRole

R = TypeVar("R", bound=BaseModel)
_SPENT = "SELECT total(cost_usd), total(input_tokens + output_tokens) FROM calls WHERE item_id = ?"


@asynccontextmanager
async def agent_model(run: Run, order: AgentOrder) -> AsyncIterator[None]:
    """While the block runs, the agent's model can be asked as `run.player(…)`, within what one attempt may
    cost."""
    title, entry = order.entry.title, order.entry
    if not asks_a_model(entry.agent):
        yield
        return
    if entry.model is None:
        run.players[title] = _Bounded(run.models, run.ledger, order.limits)
        yield
        return
    roles = {**run.settings.models.roles, ModelRole.ACTOR: RoleSettings(model=entry.model)}
    settings = run.settings.models.model_copy(update={"roles": roles})
    async with RoleModels(
        settings,
        run.ledger,
        run_id=run.run_id,
        shared_place=call_place_of(run.settings),
        account=run.calls.account,
    ) as models:
        run.players[title] = _Bounded(models, run.ledger, order.limits)
        yield


@dataclass(frozen=True, slots=True)
class _Bounded:
    """Models that are not asked once an attempt has cost what one may cost."""

    models: Models
    ledger: Ledger
    limits: Limits

    async def ask(self, question: PromptInput[R], *, stage: str, item_id: str, attempt: int = 0) -> R:
        usd, tokens = self.limits.attempt_usd, self.limits.attempt_tokens
        if usd or tokens:
            row = self.ledger.select(_SPENT, (item_id,))[0]
            spent, taken = float(str(row[0])), float(str(row[1]))
            if (usd and spent >= usd) or (tokens and taken >= tokens):
                raise AttemptBudgetError(f"The attempt has cost {spent:.4f} USD and {taken:.0f} tokens.")
        return await self.models.ask(question, stage=stage, item_id=item_id, attempt=attempt)
