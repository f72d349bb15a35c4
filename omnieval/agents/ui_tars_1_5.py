"""UI-TARS 1.5: boxes in pixels of a picture whose sides are multiples of 28.

Source: bytedance/UI-TARS, `prompt.py` and its action parser; the last five pictures are shown.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import ReplyFormat, ui_tars
from taskloom.omnieval.replies.grids import Sizing

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("code",),
    grid="pixels",
    shape="Thought: why, in a sentence or two\nAction: click(start_box='<|box_start|>(x,y)<|box_end|>')",
    functions=ui_tars("start_box='<|box_start|>(x,y)<|box_end|>'", "end_box='<|box_start|>(x,y)<|box_end|>'"),
    sizing=Sizing(factor=28, least_pixels=100 * 28 * 28, most_pixels=16384 * 28 * 28),
    pictures=5,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
