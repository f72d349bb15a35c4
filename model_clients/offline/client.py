"""The offline client: answers each role by rule, without a key, a network or a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from pydantic import BaseModel, Field, ValidationError

from model_clients.errors import RequestRejectedError
from model_clients.messages import ModelReply, ModelRequest, TokenUsage
from model_clients.offline.acting import act
from model_clients.offline.dependency_reading import infer
from model_clients.offline.evaluation_writing import write_function
from model_clients.offline.exploring import explore
from model_clients.offline.intent_extracting import extract
from model_clients.offline.mistakes import InjectedMistake, MistakeSource, mark
from model_clients.offline.request_views import (
    DependenciesView,
    EvaluationView,
    ExplorationView,
    InstructionView,
    IntentsView,
    TrajectoryView,
)
from model_clients.offline.summarizing import summarize
from model_clients.roles import ModelRole
from resources.applications import Application
from resources.goals import GoalWording
from resources.reading.catalog import load_applications, load_goal_wordings
from resources.record import Record

RULES_VERSION = 3
"""Raised whenever a rule answers differently, so that no reply of the old rules is taken for one of the new."""

_Answer = tuple[BaseModel, tuple[InjectedMistake, ...]]


class OfflineOptions(Record):
    """What the settings' `options` may hold for this provider."""

    mistakes: float = Field(default=0.0, ge=0, le=1)
    """Probability of a mistake per proposal, episode, function and instruction."""
    catalogue: str = ""
    """Folder of a user's catalogue, besides the shipped one."""
    applications: tuple[Application, ...] = ()
    """Further applications whose worked examples the actor knows, such as those that a platform brings."""


class OfflineClient:
    """Answers from the typed inputs of a request and the worked examples of the catalogue.

    Guarantees equal replies to equal requests. It is no model: it knows nothing that the request or the catalogue
    does not say, and its actor gives up on instructions that no worked example fits.
    """

    provider = "offline"

    def __init__(
        self,
        applications: Mapping[str, Application],
        wordings: Sequence[GoalWording],
        mistakes: MistakeSource,
        *,
        model: str = "rules",
    ) -> None:
        """Know the worked examples of `applications` and the goal `wordings`, and make `mistakes`."""
        self.model = model
        self._applications = applications
        self._wordings = wordings
        self._mistakes = mistakes
        self._roles: dict[ModelRole, Callable[[ModelRequest], _Answer]] = {
            ModelRole.EXPLORER: self._explore,
            ModelRole.ACTOR: self._act,
            ModelRole.EVALUATION_WRITER: self._write,
            ModelRole.INTENT_EXTRACTOR: self._extract,
            ModelRole.SUMMARIZER: self._summarize,
            ModelRole.DEPENDENCY_JUDGE: self._infer,
        }

    @classmethod
    def of(cls, options: OfflineOptions, *, seed: int = 0, model: str = "rules") -> OfflineClient:
        """The client for `options`, with the shipped catalogue.

        Raises:
            CatalogError: a catalogue folder is missing or holds mistakes.
        """
        extra = Path(options.catalogue) if options.catalogue else None
        applications = load_applications(extra) | {item.name: item for item in options.applications}
        return cls(applications, load_goal_wordings(), MistakeSource(options.mistakes, seed), model=model)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The reply by rule; mistakes made on purpose are named in its `provider_request_id`.

        Raises:
            RequestRejectedError: the request's inputs are not those of its role's prompt.
        """
        started = perf_counter()
        try:
            reply, mistakes = self._roles[request.model_role](request)
        except ValidationError as error:
            raise RequestRejectedError(
                f"the offline provider cannot read the inputs of role {request.model_role.value!r}: {error}"
            ) from error
        text = reply.model_dump_json()
        return ModelReply(
            text=text,
            usage=TokenUsage(
                input_tokens=sum(
                    len(part.text) // 4
                    for message in request.messages
                    for part in message.content
                    if part.kind == "text"
                ),
                output_tokens=len(text) // 4,
            ),
            provider=self.provider,
            model=self.model,
            provider_request_id=mark(mistakes),
            latency_seconds=perf_counter() - started,
        )

    async def close(self) -> None:
        """Nothing to release."""

    def determinant(self) -> str:
        """Hash of what determines replies besides the request: the rules and the worked examples."""
        digest = hashlib.sha256(str(RULES_VERSION).encode())
        for name in sorted(self._applications):
            for example in self._applications[name].example_subtasks:
                digest.update(example.model_dump_json().encode())
        return digest.hexdigest()

    def _explore(self, request: ModelRequest) -> _Answer:
        return explore(ExplorationView.model_validate(request.inputs), request.attempt, self._mistakes)

    def _act(self, request: ModelRequest) -> _Answer:
        view = TrajectoryView.model_validate(request.inputs)
        return act(view, self._applications.get(view.application), request.attempt, self._mistakes)

    def _write(self, request: ModelRequest) -> _Answer:
        return write_function(EvaluationView.model_validate(request.inputs), request.attempt, self._mistakes)

    def _extract(self, request: ModelRequest) -> _Answer:
        return extract(IntentsView.model_validate(request.inputs), request.attempt, self._wordings), ()

    def _summarize(self, request: ModelRequest) -> _Answer:
        return summarize(InstructionView.model_validate(request.inputs), request.attempt, self._mistakes)

    def _infer(self, request: ModelRequest) -> _Answer:
        return infer(DependenciesView.model_validate(request.inputs)), ()
