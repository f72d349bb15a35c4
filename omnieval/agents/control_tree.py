"""A chat model by the list of controls alone, without a picture (the paper's A11Y).

Source: the paper, section 4.2.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.typed import TypedAgent
from taskloom.omnieval.brief import AgentBrief

MODEL = True
"""It asks a model."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return TypedAgent(brief, "list")
