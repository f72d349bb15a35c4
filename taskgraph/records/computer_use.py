"""Conversations with models that operate a computer: through the computer tool of any provider, or as text
in the format that the model was trained for."""

from typing import Literal

from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Button, Point
from taskloom.taskgraph.records.interaction import Screenshot


class SafetyCheck(Record):
    """A provider's doubt about a call, which must be acknowledged before the call counts."""

    id: str
    """The provider's id."""
    code: str = ""
    """Kind, such as `malicious_instructions`."""
    message: str = ""
    """The provider's message."""


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
    """One point; for `drag` two or more, for `zoom` two corners; empty for the pointer's position."""
    button: Button = "left"
    """`click`: mouse button."""
    times: int = 1
    """`click`: how many clicks; `press`: how often."""
    keys: tuple[str, ...] = ()
    """`press`, `hold`, `key_down` and `key_up`: the keys of one chord, by the provider's names; otherwise the
    keys held during the action."""
    text: str = ""
    """`type`: the text; `unknown`: the provider's name of the action."""
    wheel: tuple[int, int] = (0, 0)
    """`scroll`: notches to the right and upwards."""
    seconds: float = 1.0
    """`wait` and `hold`: how long."""


class ComputerCall(Record):
    """One call of the tool: one action, or several in a batch."""

    call_id: str
    """The provider's id, which the result repeats."""
    actions: tuple[ComputerAction, ...]
    """The actions, in order."""
    safety_checks: tuple[SafetyCheck, ...] = ()
    """Checks that must be acknowledged first."""


class ComputerReply(Record):
    """The model's reply in one turn."""

    said: str
    """The provider's items as JSON text, sent back unchanged in the next turn."""
    text: str = ""
    """Its text."""
    calls: tuple[ComputerCall, ...] = ()
    """Its calls; empty when it has finished."""


class ComputerResult(Record):
    """The result of a call."""

    call_id: str
    """Id of the call."""
    screenshot: Screenshot
    """The screen afterwards."""
    problem: str = ""
    """Why it could not be carried out, or only in part."""
    acknowledged: tuple[SafetyCheck, ...] = ()
    """Safety checks that were acknowledged."""


class ComputerTurn(Record):
    """A reply of the model with the results of its calls."""

    reply: ComputerReply
    """The reply."""
    results: tuple[ComputerResult, ...] = ()
    """One result per call."""


class Exchange(Record):
    """An earlier turn of the conversation."""

    told: str = ""
    """The message to the model."""
    pictures: tuple[Screenshot, ...] = ()
    """The pictures it was shown."""
    said: str
    """The model's reply."""


class SpokenReply(Record):
    """A reply as text; function calls appear in it as `<tool_call>{"name": …}</tool_call>`."""

    text: str
    """The text."""
