"""Anthropic's `computer_toolset_20260801` by the Messages protocol, one conversation per attempt.

Source: the types of the package `anthropic`. `computer_tool: computer_20251124` or `computer_20250124` in
the model's settings are the older tools.
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
