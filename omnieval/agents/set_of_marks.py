"""A chat model by set-of-marks: the screen with a numbered box around every control, and no list of them.

Source: the paper (App. E.1), and Yang et al. 2023, Set-of-Mark prompting. `pictures` in its
settings shows earlier screens as well.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.typed import TypedAgent
from taskloom.omnieval.brief import AgentBrief

MODEL = True
"""It asks a model."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return TypedAgent(brief, "marks")
