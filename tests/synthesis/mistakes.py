"""Seeded mistakes of the kinds that models make, put into replies of the offline rules."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, cast

from taskloom.offline.models import OfflineRules
from taskloom.prompts.inputs import ActorInput, EvaluationWriterInput, SummarizerInput
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.prompts.replies import ActorReply, EvaluationWriterReply, SummarizerReply

MistakeKind = Literal[
    "wrong_control",
    "stops_early",
    "claims_success",
    "check_too_weak",
    "check_too_strict",
    "dependency_reversed",
]
TOO_EARLY = "Everything is as the instruction wants it."
"""The last thought of work that was not done."""

_NO_ERROR = "(not check_text_exists_via_control('Error'), 'an error is shown')"
_Answer = tuple[Reply, MistakeKind | None]


@dataclass(frozen=True, slots=True)
class MistakenRules:
    """Answers as the rules do, but for mistakes: the same ones for one seed, question and attempt."""

    rules: OfflineRules
    rate: float
    """Probability per episode, function or instruction, from 0 to 1."""
    seed: int = 0

    def answer(self, question: PromptInput[Reply], attempt: int = 0) -> _Answer[Reply]:
        """The reply, and the mistake made in it, if any."""
        reply = self.rules.answer(question, attempt)
        spoilt: tuple[object, MistakeKind | None] = reply, None
        match question:
            case ActorInput():
                spoilt = self._acted(question, cast(ActorReply, reply), attempt)
            case EvaluationWriterInput():
                spoilt = self._written(question, cast(EvaluationWriterReply, reply), attempt)
            case SummarizerInput():
                spoilt = self._told(question, cast(SummarizerReply, reply), attempt)
        return cast(Reply, spoilt[0]), spoilt[1]

    def draw(self, kinds: Sequence[MistakeKind], *key: object) -> tuple[MistakeKind, Random] | None:
        """A kind out of `kinds` with randomness for its details, or None, always the same for one `key`."""
        digest = hashlib.sha256("\0".join(map(str, (self.seed, *key))).encode()).digest()
        random = Random(int.from_bytes(digest[:8], "big"))
        return None if random.random() >= self.rate else (random.choice(kinds), random)

    def _acted(self, view: ActorInput, reply: ActorReply, attempt: int) -> _Answer[ActorReply]:
        kinds: tuple[MistakeKind, ...] = ("wrong_control", "stops_early", "claims_success")
        drawn = self.draw(kinds, "actor", view.application, view.instruction, attempt)
        if drawn is None or reply.status != "CONTINUE":
            return reply, None
        kind, random = drawn
        stop, done = random.randrange(1, 4), sum(item.outcome == "done" for item in view.history)
        if (kind == "claims_success" and not done) or (kind == "stops_early" and done == stop):
            return ActorReply(status="FINISH", thought=TOO_EARLY), kind
        right = next((item for item in view.controls if item.label == reply.control_label), None)
        others = [
            item
            for item in view.controls
            if right is not None
            and (item.control_type, item.disabled) == (right.control_type, False)
            and item.text not in ("", right.text)
        ]
        if kind == "wrong_control" and len(view.history) == stop - 1 and others:
            wrong = random.choice(others)
            target = {"control_label": wrong.label, "control_text": wrong.text}
            return reply.model_copy(update=target), kind
        return reply, None

    def _written(
        self, view: EvaluationWriterInput, reply: EvaluationWriterReply, attempt: int
    ) -> _Answer[EvaluationWriterReply]:
        kinds: tuple[MistakeKind, ...] = ("check_too_weak", "check_too_strict")
        drawn = self.draw(kinds, "writer", view.application, view.instruction_template, attempt)
        tree = ast.parse(reply.source)
        rows = next(node for node in ast.walk(tree) if isinstance(node, ast.List))
        used = _used(rows.elts, view)
        if drawn is None or not used:
            return reply, None
        kind, random = drawn
        if kind == "check_too_strict":
            _freeze(rows.elts, random.choice(view.performances).parameters)
        else:
            weaker = [rows.elts[:number] + rows.elts[number + 1 :] for number in range(len(rows.elts))]
            blind = [kept for kept in weaker if kept and _used(kept, view) < used]
            rows.elts = random.choice(blind) if blind else [ast.parse(_NO_ERROR, mode="eval").body]
        return EvaluationWriterReply(source=ast.unparse(tree)), kind

    def _told(self, view: SummarizerInput, reply: SummarizerReply, attempt: int) -> _Answer[SummarizerReply]:
        key = "\n".join(subtask.instruction for subtask in view.subtasks)
        drawn = self.draw(("dependency_reversed",), "summarizer", key, attempt) if view.links else None
        if drawn is None:
            return reply, None
        told_last = drawn[1].choice(view.links).producer
        order = sorted(view.subtasks, key=lambda subtask: subtask.number == told_last)
        told = self.rules.answer(view.model_copy(update={"subtasks": tuple(order)}), max(1, attempt))
        return SummarizerReply(goal=reply.goal, instruction=told.instruction), drawn[0]


def _used(rows: Sequence[ast.expr], view: EvaluationWriterInput) -> set[str]:
    """The parameters in conditions."""
    nodes = [node for row in rows if isinstance(row, ast.Tuple) for node in ast.walk(row.elts[0])]
    return {node.id for node in nodes if isinstance(node, ast.Name)}.intersection(view.parameter_names)


def _freeze(rows: Sequence[ast.expr], parameters: Mapping[str, str]) -> None:
    """Values in place of parameters: right for one set only."""
    for row in rows:
        if isinstance(row, ast.Tuple):
            for node in ast.walk(row.elts[0]):
                if isinstance(node, ast.Name) and node.id in parameters:
                    node.id = repr(parameters[node.id])
