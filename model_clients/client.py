"""The ports of model calls: questions, and the provider clients that send them, found by name."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, JsonValue

from taskloom.model_clients.errors import ModelClientError, UnknownProviderError
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import ModelSettings
from taskloom.resources.plugins import PluginKind
from taskloom.taskgraph.records.computer_use import ComputerTurn, Exchange
from taskloom.taskgraph.records.model_calls import ModelRole, RenderedPrompt

Reply_co = TypeVar("Reply_co", bound=BaseModel, covariant=True)


class Question(Protocol[Reply_co]):
    """A question of a stage to the model that plays a role."""

    @property
    def role(self) -> ModelRole:
        """The role that is asked."""

    @property
    def reply_type(self) -> type[Reply_co]:
        """The record type of the reply."""

    @property
    def computer(self) -> tuple[ComputerTurn, ...] | None:
        """The turns with the provider's computer tool so far; None for a question without the tool."""

    @property
    def past(self) -> tuple[Exchange, ...]:
        """Earlier turns of the conversation, between the unchanging part and the current question."""

    @property
    def functions(self) -> tuple[dict[str, JsonValue], ...]:
        """Functions that a free-text reply may call: name, description, parameters."""

    def rendered(self) -> RenderedPrompt:
        """The question as text and pictures."""


class ModelClient(Protocol):
    """Sends requests to one model of one provider."""

    provider: str
    model: str

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The model's reply to one request, sent once: retries belong to the caller.

        A refusal, a content filter and a reply cut off at the token limit are replies with that finish
        reason; a provider's error is mapped once to a `ModelClientError`.
        """

    async def close(self) -> None:
        """Release connections. May be called twice."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """The progress of a batch."""

    ended: bool
    """Whether it has ended, so that its finished answers can be collected."""
    message: str = ""
    """The provider's message about a batch that failed as a whole."""


BatchAnswer = ModelReply | ModelClientError
"""The result of one request of a batch."""


@runtime_checkable
class BatchClient(Protocol):
    """A client whose provider also accepts batches of requests, at a lower price."""

    async def submit_batch(self, requests: Sequence[tuple[str, ModelRequest]]) -> str:
        """Submit requests, each with its own id, and return the provider's id of the batch."""

    async def batch_state(self, batch_id: str) -> BatchState:
        """The progress of the batch."""

    def batch_answers(self, batch_id: str) -> AsyncIterator[tuple[str, BatchAnswer]]:
        """The answers of an ended batch with the ids of their requests; unanswered requests are left out."""


PROVIDERS: PluginKind["Provider"] = PluginKind(
    "model provider",
    UnknownProviderError,
    folder="taskloom.model_clients.providers",
    group="taskloom.providers",
    needs=("create",),
)


class Provider(Protocol):
    """What a provider module offers."""

    @staticmethod
    def create(settings: ModelSettings) -> ModelClient:
        """A client of the settings' model."""


def create_client(settings: ModelSettings) -> ModelClient:
    """A client of the settings' provider and model; raises what `PluginKind.load` raises, and a
    `KeyMissingError` if the provider needs a key and the environment holds none."""
    return PROVIDERS.load(settings.provider).create(settings)
