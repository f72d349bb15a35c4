"""Yutori n1: calls of functions, 0 to 1000 over a picture of 1280 by 800.

Source: cua-agent, its loop for Yutori.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import ReplyFormat
from taskloom.omnieval.replies.grids import Sizing

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("json",),
    grid="thousand",
    shape='Call one function, such as {"name": "left_click", "arguments": {"coordinates": [0, 0]}}',
    functions=(
        "left_click(coordinates: place)",
        "double_click(coordinates: place)",
        "triple_click(coordinates: place)",
        "right_click(coordinates: place)",
        "hover(coordinates: place)",
        "drag(start_coordinates: place, coordinates: place)",
        "scroll(coordinates: place, direction: str, amount?: int)",
        "type(text: str, press_enter?: bool, clear_before_typing?: bool)",
        "key_press(key_comb: keys)",
        "wait()",
        "go_back()",
        "stop(answer: str)",
    ),
    sizing=Sizing(fixed=(1280, 800)),
    declared=True,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
