"""Qwen3-VL, and models that answer as it does (GUI-Owl 1.5, EvoCUA S2): `computer_use` as JSON, 0 to 1000.

Source: QwenLM/Qwen3-VL, `computer_use` cookbook. Pictures have sides that are multiples of 32.
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
    syntaxes=("json", "xml"),
    grid="thousand",
    shape=(
        "Action: what is done next, in one sentence\n"
        '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [x, y]}}'
        "</tool_call>"
    ),
    functions=QWEN_ACTIONS,
    sizing=Sizing(factor=32, least_pixels=4 * 32 * 32, most_pixels=16384 * 32 * 32),
    pictures=4,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
