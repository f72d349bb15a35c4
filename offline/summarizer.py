"""Summarizer by rule: tells a task graph in the catalogue's phrases, tersely or politely."""

from __future__ import annotations

from random import Random

from taskloom.offline.mistakes import MistakeKind, MistakeSource
from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.telling import Telling
from taskloom.prompts.inputs import SummarizerInput
from taskloom.prompts.replies import SummarizerReply

_OPENINGS = ("", "Please ")


def summarize(
    view: SummarizerInput, attempt: int, mistakes: MistakeSource, book: Phrasebook
) -> tuple[SummarizerReply, MistakeKind | None]:
    """The goal, as far as none is given, and the instruction; from the second attempt everything is called by
    its name every time."""
    tellers = book.tellers(view.subtasks)
    goal = view.goal or Telling(tellers, view.links).goal()
    key = "\n".join(subtask.instruction for subtask in view.subtasks)
    order = [subtask.number for subtask in view.subtasks]
    drawn = mistakes.draw(("dependency_reversed",), "summarizer", key, attempt) if view.links else None
    if drawn:
        told_last = drawn[1].choice(view.links).producer
        order.sort(key=lambda number: number == told_last)
    telling = Telling(tellers, view.links, explicit=attempt > 0 or drawn is not None)
    text = telling.instruction(order)
    opening = Random(f"{key}\0{attempt}").choice(_OPENINGS)
    text = opening + text[:1].lower() + text[1:] if opening else text
    return SummarizerReply(goal=goal, instruction=text), drawn[0] if drawn else None
