"""GLM-4.5V and 4.6V: `left_click(start_box='[x,y]')` between box marks, 0 to 999.

Source: zai-org/GLM-V, its page on agents.
"""

from __future__ import annotations

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import ReplyFormat

MODEL = True
"""It asks a model."""
FORMAT = ReplyFormat(
    syntaxes=("code",),
    grid="thousand_less_one",
    shape=("Action: <|begin_of_box|>left_click(start_box='[x,y]', element_info='what it is')<|end_of_box|>"),
    functions=(
        "left_click(start_box='[x,y]', element_info='')",
        "right_click(start_box='[x,y]', element_info='')",
        "middle_click(start_box='[x,y]', element_info='')",
        "left_double_click(start_box='[x,y]', element_info='')",
        "hover(start_box='[x,y]', element_info='')",
        "left_drag(start_box='[x,y]', end_box='[x,y]', element_info='')",
        "key(keys='ctrl+c')",
        "type(content='')",
        "scroll(start_box='[x,y]', direction='down', step=5)",
        "WAIT()",
        "DONE()",
        "FAIL()",
    ),
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
