"""OpenCUA 7B to 72B, and EvoCUA S1: PyAutoGUI code in pixels of a picture whose sides are multiples of 28.

Source: xlang-ai/OpenCUA; the last three pictures are shown.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import PYAUTOGUI, ReplyFormat
from taskloom.omnieval.replies.grids import Sizing

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("code",),
    grid="pixels",
    shape="## Thought\nwhy\n## Action\nwhat, in one sentence\n## Code\n```python\npyautogui.click(x, y)\n```",
    functions=PYAUTOGUI,
    sizing=Sizing(factor=28, least_pixels=3136, most_pixels=12845056),
    pictures=3,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
