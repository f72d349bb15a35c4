"""Qwen3.5 and Qwen-CUA: `computer_use` as XML or JSON, several calls for a batch, 0 to 999.

Source: xlang-ai/Qwen-CUA, `protocol.py`. Pictures have sides that are multiples of 32.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import QWEN_ACTIONS, ReplyFormat
from taskloom.omnieval.replies.grids import Sizing

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("xml", "json"),
    grid="thousand_less_one",
    shape=(
        "One or more calls after a sentence of why:\n"
        "<tool_call><function=computer_use><parameter=action>left_click</parameter>"
        "<parameter=coordinate>[x, y]</parameter></function></tool_call>"
    ),
    functions=(
        *QWEN_ACTIONS,
        "key_down(keys: list) and key_up(keys: list)",
        "left_mouse_down() and left_mouse_up()",
        "call_user(text: str)",
    ),
    sizing=Sizing(factor=32, least_pixels=4 * 32 * 32, most_pixels=16384 * 32 * 32),
    pictures=4,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
