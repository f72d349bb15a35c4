"""Requests to a language model and its replies, the same for every provider."""

from typing import Literal

from pydantic import Field, JsonValue

from taskloom.model_clients.rate_reports import RateReport
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerTurn
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import CallFigures, FinishReason, ModelRole


class TextContent(Record):
    """Text in a message."""

    text: str
    """The text."""
    cacheable: bool = False
    """Whether the provider should cache the prompt up to here: the long unchanging part."""


class ImageContent(Record):
    """A picture in a message."""

    image: Screenshot
    """The picture; only its hash enters keys, logs and the ledger's rows."""


Content = TextContent | ImageContent
"""A part of a message."""


class Message(Record):
    """One turn of a conversation: who speaks, and texts and pictures in order."""

    role: Literal["system", "user", "assistant"]
    """Who speaks."""
    content: tuple[Content, ...]
    """Its parts."""


class ModelRequest(Record):
    """What determines a reply, and what is needed to account for it."""

    role: ModelRole
    """The role of the model."""
    messages: tuple[Message, ...]
    """The conversation."""
    reply_schema_name: str = ""
    """Name of the typed reply; empty for free text."""
    reply_schema: dict[str, JsonValue] | None = None
    """JSON schema of the typed reply."""
    computer: tuple[ComputerTurn, ...] | None = None
    """Asks the model to operate a computer through its provider's tool: its turns so far, which follow the
    messages. None for an ordinary question."""
    functions: tuple[dict[str, JsonValue], ...] = ()
    """Functions that the model may call in a free-text reply: name, description, parameters."""
    attempt: int = 0
    """Which of several identical requests this is; a new attempt may be answered differently."""
    template_hash: str = ""
    """SHA-256 of the prompt template."""
    stage: str = ""
    """Stage of the method, for accounting."""
    item_id: str = ""
    """Subtask, task or application the call serves, for accounting."""


class ModelReply(CallFigures):
    """The reply of a model."""

    text: str
    """The text, or the JSON text of a structured reply."""
    finish_reason: FinishReason = "stop"
    """Why the model stopped."""
    from_ledger: bool = False
    """Whether it was read from the ledger instead of paid for again."""
    rate_report: RateReport | None = Field(default=None, exclude=True, repr=False)
    """Limits in the response's headers; not stored."""


def first_picture_size(request: ModelRequest) -> tuple[int, int]:
    """Width and height of the first picture in a request, read from its PNG header; zeros without one."""
    for message in request.messages:
        for content in message.content:
            if isinstance(content, ImageContent) and content.image.png:
                head = content.image.png[16:24]
                return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
    return 0, 0
