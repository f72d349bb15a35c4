"""Kimi K2.5 and K2.6, and OpenCUA models that point in fractions: PyAutoGUI code, 0 to 1.

Source: the agents of OSWorld for Kimi and OpenCUA; the last three pictures are shown.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import PYAUTOGUI, ReplyFormat

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("code",),
    grid="fractions",
    shape="## Thought\nwhy\n## Action\nwhat, in one sentence\n## Code\n```python\npyautogui.click(x, y)\n```",
    functions=PYAUTOGUI,
    pictures=3,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
