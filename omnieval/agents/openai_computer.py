"""OpenAI's `computer` tool by the Responses protocol, one conversation per attempt.

Source: the types of the package `openai`. `computer_tool: computer_use_preview` in the model's settings
is the older tool; `safety_checks: acknowledge` in the agent's goes on where the provider has doubts.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.provider_tool import check_tool_settings, tool_agent
from taskloom.omnieval.brief import AgentBrief

MODEL = True
"""It asks a model."""
check = check_tool_settings
"""Refuses an unknown answer to the provider's doubts."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return tool_agent(brief)
