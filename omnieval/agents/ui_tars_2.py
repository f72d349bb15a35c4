"""UI-TARS 2 (Seed): calls as `<function=…>` inside of `<seed:tool_call>`, 0 to 1000.

Source: the loop of cua-agent. `press` holds a key until `release`.
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
    syntaxes=("xml", "code"),
    grid="thousand",
    shape=(
        "<think>why, in a sentence or two</think>\n"
        "<seed:tool_call><function=click><parameter=point><point>x y</point></parameter></function>"
        "</seed:tool_call>"
    ),
    functions=(
        "click(point)",
        "left_double(point)",
        "right_single(point)",
        "drag(start_point, end_point)",
        "scroll(point, direction)",
        "move_to(point)",
        "mouse_down(point)",
        "mouse_up(point)",
        "type(content)",
        "hotkey(key), such as ctrl c",
        "press(key) and release(key)",
        "wait(time)",
        "take_screenshot()",
        "call_user(content)",
        "finished(content)",
    ),
    conventions=Conventions(press_holds=True),
    pictures=5,
)
"""Its row in the table of formats."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return SpokenAgent(brief, FORMAT)
