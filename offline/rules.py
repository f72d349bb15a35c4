"""The rules of all roles: from a typed question and the catalogue to a typed reply."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import BaseModel

from taskloom.offline.actor import act
from taskloom.offline.dependency_judge import infer
from taskloom.offline.evaluation_writer import write_function
from taskloom.offline.intent_extractor import extract
from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.summarizer import summarize
from taskloom.prompts.inputs import (
    ActorInput,
    DependencyJudgeInput,
    EvaluationWriterInput,
    ExplorerInput,
    IntentExtractorInput,
    SummarizerInput,
)
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.prompts.replies import ExplorerReply
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory

RULES_VERSION = 12
"""Raised whenever a rule answers differently, so that no reply of the old rules is taken for one of the
new."""


@dataclass(frozen=True, slots=True)
class OfflineRules:
    """Answers every role from what it is asked and the worked examples of the catalogue.

    Guarantees equal replies to equal questions. It is no model: it knows nothing that the question or the
    catalogue does not say, and its actor gives up on instructions that no worked example fits.
    """

    applications: Mapping[str, Application]
    """Applications whose worked examples the actor knows, by name."""
    categories: Mapping[str, ResourceCategory]

    def answer(self, question: PromptInput[Reply], attempt: int = 0) -> Reply:
        """The reply."""
        return cast(Reply, self._answer(question, attempt))

    def fingerprint(self) -> str:
        """Hash of all that determines replies besides the question and the attempt."""
        digest = hashlib.sha256(str(RULES_VERSION).encode())
        for name in sorted(self.applications):
            for example in self.applications[name].example_subtasks:
                digest.update(example.model_dump_json().encode())
        for category in sorted(self.categories):
            digest.update(self.categories[category].model_dump_json().encode())
        return digest.hexdigest()

    def _answer(self, question: PromptInput[Reply], attempt: int) -> BaseModel:
        match question:
            case ExplorerInput():
                return ExplorerReply(subtasks=[])  # The curated ones are in the pool already.
            case ActorInput():
                return act(question, self.applications.get(question.application))
            case EvaluationWriterInput():
                return write_function(question)
            case IntentExtractorInput():
                return extract(question, attempt, self._book())
            case SummarizerInput():
                return summarize(question, attempt, self._book())
            case DependencyJudgeInput():
                return infer(question, self._book())
            case _:
                raise TypeError(f"there is no rule for {type(question).__name__}")

    def _book(self) -> Phrasebook:
        return Phrasebook(self.applications, self.categories)
