"""Holo 3.1: one JSON object with a thought and a call, 0 to 1000.

Source: the agents of OpenComputer and cua-agent for Holo.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import ReplyFormat

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("json",),
    grid="thousand",
    shape='{"note": "…", "thought": "…", "tool_call": {"tool_name": "click_desktop", "x": 0, "y": 0}}',
    functions=(
        "click_desktop(x, y)",
        "double_click_desktop(x, y)",
        "triple_click_desktop(x, y)",
        "right_click_desktop(x, y)",
        "hover_desktop(x, y)",
        "write_at_desktop(x, y, content)",
        "drag_and_drop_desktop(x1, y1, x2, y2)",
        "hotkey_desktop(keys), such as ctrl+c",
        "scroll_desktop(x, y, direction, amount)",
        "wait_desktop(seconds)",
        "answer(content), which ends the task",
    ),
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
