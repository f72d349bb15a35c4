"""UI-TARS 1.0: places in `<|box_start|>(x,y)<|box_end|>`, 0 to 1000.

Source: bytedance/UI-TARS, `prompt.py`; the last five pictures are shown.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import BOX, ui_tars

MODEL = True
"""It asks a model."""
FORMAT = ui_tars(BOX)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
