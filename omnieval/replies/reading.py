"""Reads what a model said in its format: its thought, its actions, and how it ends."""

import re
from dataclasses import dataclass

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.calls import LONGEST, calls_in
from taskloom.omnieval.replies.formats import ReplyFormat
from taskloom.omnieval.replies.grids import on_screen
from taskloom.omnieval.replies.verbs import Ending, meaning_of
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Point

_CALLS_BEGIN = (
    "Action:",
    "## Action",
    "## Code",
    "<tool_call",
    "<seed:tool_call",
    "<function=",
    "<|begin_of_box|>",
    "```",
    "{",
)
_LABEL = re.compile(r"^\W*(?:Thought|Reasoning|Step \d+)\W*?:?\s*", re.IGNORECASE)
_THOUGHT_IN_JSON = re.compile(r'"(?:thought|reasoning|note)"\s*:\s*"((?:[^"\\]|\\.)+)"')
_LONGEST_THOUGHT = 4000


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply as it was read."""

    thought: str = ""
    """Why, in the model's words."""
    actions: tuple[ComputerAction, ...] = ()
    ending: Ending | None = None
    """How it ends after that; None where it goes on."""


def read_reply(text: str, form: ReplyFormat, *, sent: tuple[int, int], screen: tuple[int, int]) -> ReadReply:
    """What the `text` of a reply in the format `form` means, from the sizes of the picture that was sent and
    of the screen.

    Calls inside of `<think>` are thoughts and never done. What follows an end is left out.

    Raises:
        CallUnusableError: it holds no action of its format, or one that is not known or lacks something.
    """
    thinking, spoken = _parted(text[:LONGEST])

    def place(point: tuple[float, float]) -> Point:
        return on_screen(point, form.grid, sent, screen)

    actions: list[ComputerAction] = []
    ending: Ending | None = None
    for call in calls_in(spoken, form.syntaxes):
        meant = meaning_of(call, place, form.conventions)
        if isinstance(meant, Ending):
            ending = meant
            break
        actions += meant
    if not actions and ending is None:
        raise CallUnusableError(
            f"The reply holds no action; write it like this: {form.shape.strip().splitlines()[-1]}"
        )
    return ReadReply(_thought(thinking, spoken), tuple(actions), ending)


def _parted(text: str) -> tuple[str, str]:
    """What was thought, and what was said after it."""
    thinking, closed, spoken = text.rpartition("</think>")
    if not closed:
        spoken, opened, thinking = text.partition("<think>")
        return (thinking, spoken) if opened else ("", text)
    return thinking.replace("<think>", ""), spoken


def _thought(thinking: str, spoken: str) -> str:
    ends = [place for sign in _CALLS_BEGIN if (place := spoken.find(sign)) >= 0]
    words = _LABEL.sub("", spoken[: min(ends, default=len(spoken))].strip(), count=1).strip()
    if not words and (found := _THOUGHT_IN_JSON.search(spoken)) is not None:
        words = found[1]
    return (words or thinking.strip())[:_LONGEST_THOUGHT]
