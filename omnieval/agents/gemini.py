"""Gemini by its OpenAI-compatible address: the functions of its computer use, declared and called, 0 to 1000.

Source: Google's documentation of computer use. `magnitude` is in thousandths, 100 to a notch.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.arguments import Conventions
from taskloom.omnieval.replies.formats import ReplyFormat

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("json",),
    grid="thousand",
    shape='Call one function, such as {"name": "click_at", "args": {"x": 0, "y": 0}}',
    functions=(
        "click_at(x: int, y: int)",
        "hover_at(x: int, y: int)",
        "type_text_at(x: int, y: int, text: str, press_enter?: bool, clear_before_typing?: bool)",
        "key_combination(keys: keys)",
        "scroll_document(direction: str)",
        "scroll_at(x: int, y: int, direction: str, magnitude?: int)",
        "drag_and_drop(x: int, y: int, destination_x: int, destination_y: int)",
        "go_back()",
        "go_forward()",
        "wait_5_seconds()",
        "finished(text?: str)",
        "give_up(reason: str)",
    ),
    conventions=Conventions(notch=100),
    declared=True,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
