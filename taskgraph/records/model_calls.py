"""Calls of language models: their roles, cost and outcome."""

from enum import StrEnum
from typing import Literal

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Screenshot


class ModelRole(StrEnum):
    """A role that a language model plays in the method; each may have its own provider and model.

    The role's name is also that of its prompt template, its input and reply records, and its offline rule.
    """

    EXPLORER = "explorer"
    """Proposes subtasks of an application (B.1)."""
    ACTOR = "actor"
    """Performs a subtask on the screen (B.2, E.1)."""
    EVALUATION_WRITER = "evaluation_writer"
    """Writes evaluation functions (B.2, E.2)."""
    INTENT_EXTRACTOR = "intent_extractor"
    """Finds goals that group subtasks (3.2)."""
    SUMMARIZER = "summarizer"
    """Turns a task graph into one instruction (B.4)."""
    DEPENDENCY_JUDGE = "dependency_judge"
    """Infers dependencies from an instruction alone (B.4)."""
    CRITIC = "critic"
    """Scores finished tasks; has no offline rule."""
    PLANNER = "planner"
    """Writes the plan that an agent under evaluation follows; has no offline rule."""


class RenderedPrompt(Record):
    """A prompt ready to send."""

    system: str
    """The long part that stays the same from call to call, so that providers can cache it."""
    user: str
    """The part that differs."""
    stable: int = 0
    """Number of leading characters of `user` that the next call repeats, such as a growing history; 0 for
    none."""
    images: tuple[Screenshot, ...] = ()
    """Pictures, in the order in which the text refers to them."""
    template_hash: str
    """SHA-256 of the template's two files."""


FinishReason = Literal["stop", "length", "refusal", "content_filter", "other"]
"""Why a model stopped."""

CallOutcome = Literal["answered", "truncated", "refused", "filtered", "rejected", "failed"]
"""Outcome of a call, in this order: a reply; a reply cut off at the token limit; the model refused; a content
filter stopped it; the provider rejected the request; all tries failed."""

CallPurpose = Literal["first", "repair", "longer"]
"""Why a call is made: the question itself, a repair of a malformed reply, a longer limit after truncation."""

FINAL_OUTCOMES: frozenset[CallOutcome] = frozenset({"answered", "truncated", "refused", "filtered"})
"""Outcomes that were paid for and are replayed; the next run tries calls with other outcomes again."""


class CallFigures(Record):
    """The cost of a call: tokens, price, time."""

    answering_model: str = ""
    """Model that answered, as the provider names it; often a dated snapshot of the one asked for."""
    input_tokens: int = 0
    """All input, including the cached part."""
    cached_input_tokens: int = 0
    """Input read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input written to the provider's cache."""
    output_tokens: int = 0
    """All output, including reasoning."""
    reasoning_tokens: int = 0
    """Output spent on reasoning."""
    cost_usd: float = 0.0
    """Price in US dollars, from the price table."""
    cost_known: bool = True
    """Whether a price is known; otherwise the cost is zero."""
    latency_seconds: float = 0.0
    """Time from sending to the last byte of the try that succeeded."""
    retries: int = 0
    """Earlier tries that failed transiently."""
    batched: bool = False
    """Whether the provider's batch interface was used."""
    provider_request_id: str = ""
    """The provider's id, for support."""

    @property
    def tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens


class ModelCall(CallFigures):
    """A call that was paid for, refused or abandoned, without the messages or the reply text.

    The only definition of a call, used for rows of both the ledger and the warehouse.
    """

    key: str = ""
    """SHA-256 of everything that determines the reply."""
    outcome: CallOutcome = "answered"
    """Its outcome."""
    run_id: str = ""
    """Run that made it."""
    stage: str = ""
    """Stage of the method."""
    item_id: str = ""
    """Subtask, task or application that it was first made for."""
    role: ModelRole
    """Role of the model."""
    provider: str
    """Provider that was called."""
    base_url: str = ""
    """Server, if it was not the provider's own."""
    model: str
    """Model that was called, as named in the settings."""
    template_hash: str = ""
    """SHA-256 of the prompt template."""
    attempt: int = 0
    """Number of this request among several equal ones."""
    purpose: CallPurpose = "first"
    """Why it was made."""
    fallback: int = 0
    """0 for the role's model, otherwise the number of the fallback model."""
    finish_reason: Literal["", "stop", "length", "refusal", "content_filter", "other"] = ""
    """Why the model stopped; empty without a reply."""
    error: str = ""
    """Why there is no reply."""
    finished_at: str = ""
    """When it ended, ISO 8601 in UTC."""
