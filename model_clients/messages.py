"""Requests to a language model and its replies, the same for every provider."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from model_clients.limits.rate_reports import RateReport
from resources.record import Record
from taskgraph.records.interaction import Screenshot
from taskgraph.records.model_roles import ModelRole


class TextContent(Record):
    """Text in a message."""

    kind: Literal["text"] = "text"
    """Discriminator."""
    text: str
    """The text."""
    cacheable: bool = False
    """Whether the provider should cache the prompt up to here: the long unchanging part."""


class ImageContent(Record):
    """A picture in a message."""

    kind: Literal["image"] = "image"
    """Discriminator."""
    image: Screenshot
    """The picture; only its hash enters keys, logs and the ledger's rows."""


Content = Annotated[TextContent | ImageContent, Field(discriminator="kind")]
"""A part of a message."""


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    """Who speaks."""
    content: tuple[Content, ...]
    """Its parts."""


class ModelRequest(Record):
    """All that determines a reply, and what is needed to account for it."""

    model_role: ModelRole
    """Who is called."""
    messages: tuple[Message, ...]
    """The conversation."""
    reply_schema_name: str = ""
    """Name of the typed reply; empty for free text."""
    reply_schema: dict[str, JsonValue] | None = None
    """JSON schema of the typed reply."""
    attempt: int = 0
    """Which of several equal requests this is; a new attempt may be answered differently."""
    template: str = ""
    """Prompt template."""
    template_hash: str = ""
    """SHA-256 of its text."""
    stage: str = ""
    """Stage of the method, for accounting."""
    item_id: str = ""
    """Subtask, task or application the call serves, for accounting."""


FinishReason = Literal["stop", "length", "refusal", "content_filter", "other"]
"""Why a model stopped."""


class TokenUsage(Record):
    """Tokens of one call."""

    input_tokens: int = 0
    """All input, cached part included."""
    cached_input_tokens: int = 0
    """Input read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input written to the provider's cache."""
    output_tokens: int = 0
    """All output, reasoning included."""
    reasoning_tokens: int = 0
    """Output spent on reasoning."""


class ModelReply(Record):
    """What a model answered."""

    text: str
    """The text, or the JSON text of a structured reply."""
    finish_reason: FinishReason = "stop"
    """Why it stopped."""
    usage: TokenUsage = TokenUsage()
    """Tokens used."""
    provider: str
    """Who answered."""
    model: str
    """Model that answered."""
    provider_request_id: str = ""
    """The provider's id, for support."""
    latency_seconds: float = 0.0
    """Time from sending to the last byte."""
    retries: int = 0
    """Attempts before this one that failed transiently."""
    cost_usd: float = 0.0
    """Price in US dollars, from the price table."""
    cost_known: bool = True
    """Whether a price was known; without one the cost reads zero."""
    from_ledger: bool = False
    """Whether it was read from the ledger instead of paid for again."""
    batched: bool = False
    """Whether it came through the provider's batch interface."""
    rate_report: RateReport | None = Field(default=None, exclude=True, repr=False)
    """What the response's headers said about limits; not kept."""
