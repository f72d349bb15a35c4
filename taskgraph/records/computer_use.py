"""Conversations with models that operate a computer: through their provider's own tool, the same for every
provider, or in their own words, in a format that they were trained for."""

from typing import Literal

from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Button, Point
from taskloom.taskgraph.records.interaction import Screenshot


class SafetyCheck(Record):
    """A doubt of the provider about a call, to be acknowledged before the call counts."""

    id: str
    """The provider's id."""
    code: str = ""
    """Kind, such as `malicious_instructions`."""
    message: str = ""
    """What it says."""


class ComputerAction(Record):
    """One action in pixels of the screenshot that was sent."""

    kind: Literal[
        "click",
        "move",
        "drag",
        "scroll",
        "type",
        "press",
        "hold",
        "wait",
        "button_down",
        "button_up",
        "key_down",
        "key_up",
        "screenshot",
        "zoom",
        "unknown",
    ]
    """What to do."""
    path: tuple[Point, ...] = ()
    """Where: one point, for `drag` two or more, for `zoom` two corners; empty for the pointer's place."""
    button: Button = "left"
    """`click`: mouse button."""
    times: int = 1
    """`click`: how many clicks; `press`: how often."""
    keys: tuple[str, ...] = ()
    """`press`, `hold`, `key_down` and `key_up`: the keys of one chord, as the provider names them; otherwise
    keys held meanwhile."""
    text: str = ""
    """`type`: the text; `unknown`: what the provider calls the action."""
    wheel: tuple[int, int] = (0, 0)
    """`scroll`: notches to the right and upwards."""
    seconds: float = 1.0
    """`wait` and `hold`: how long."""


class ComputerCall(Record):
    """One call of the tool: one action, or several in a batch."""

    call_id: str
    """The provider's id, which its result repeats."""
    actions: tuple[ComputerAction, ...]
    """The actions, in order."""
    safety_checks: tuple[SafetyCheck, ...] = ()
    """What must be acknowledged first."""


class ComputerReply(Record):
    """What the model said in one turn."""

    said: str
    """The provider's items as JSON text, sent back unchanged in the next turn."""
    text: str = ""
    """Its words."""
    calls: tuple[ComputerCall, ...] = ()
    """Its calls; none when it has finished."""


class ComputerResult(Record):
    """What became of a call."""

    call_id: str
    """Its id."""
    screenshot: Screenshot
    """The screen afterwards."""
    problem: str = ""
    """Why it could not be carried out, or not as a whole."""
    acknowledged: tuple[SafetyCheck, ...] = ()
    """Safety checks that were acknowledged."""


class ComputerTurn(Record):
    """A reply of the model with the results of its calls."""

    reply: ComputerReply
    """The reply."""
    results: tuple[ComputerResult, ...] = ()
    """One result per call."""


class Exchange(Record):
    """An earlier turn: what the model was told and shown, and what it said."""

    told: str = ""
    """What it was told."""
    pictures: tuple[Screenshot, ...] = ()
    """What it was shown."""
    said: str
    """What it said."""


class SpokenReply(Record):
    """A reply as it was said; calls of functions stand in it as `<tool_call>{"name": …}</tool_call>`."""

    text: str
    """The words."""
