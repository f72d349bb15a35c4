"""UI-TARS 1.5: boxes in pixels of a picture whose sides are multiples of 28.

Source: bytedance/UI-TARS, `prompt.py` and its action parser; the last five pictures are shown.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import BOX, ui_tars
from taskloom.omnieval.replies.grids import Sizing

MODEL = True
"""It asks a model."""
FORMAT = ui_tars(BOX, "pixels", Sizing(factor=28, least_pixels=100 * 28 * 28, most_pixels=16384 * 28 * 28))
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
