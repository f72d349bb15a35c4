"""A chat model that is shown numbered boxes and the list of controls: the actor of the method.

Source: the paper (App. E.1). `pictures` in its settings shows earlier screens as well.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.typed import TypedAgent
from taskloom.omnieval.brief import AgentBrief

MODEL = True
"""It asks a model."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return TypedAgent(brief, "marks_and_list")
