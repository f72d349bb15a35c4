"""Summarizer by rule: tells a task graph in the catalogue's phrases, tersely or politely."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from random import Random

from taskloom.offline.mistakes import InjectedMistake, MistakeSource
from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.telling import Telling
from taskloom.prompts.inputs import SummarizerInput
from taskloom.prompts.replies import SummarizerReply

_OPENINGS = ("", "Please ")


def summarize(
    view: SummarizerInput, attempt: int, mistakes: MistakeSource, book: Phrasebook
) -> tuple[SummarizerReply, tuple[InjectedMistake, ...]]:
    """The goal, as far as none is given, and the instruction; from the second attempt everything is called by
    its name every time."""
    tellers = book.tellers(view.subtasks)
    goal = view.goal or Telling(tellers, view.links).goal()
    key = "\n".join(subtask.instruction for subtask in view.subtasks)
    pairs = {(link.producer, link.consumer) for link in view.links}
    order = [subtask.number for subtask in view.subtasks]
    drawn = mistakes.draw(("dependency_lost", "dependency_reversed"), "summarizer", key, attempt)
    spoilt = _turned_round(order, pairs, drawn[1]) if drawn else None
    telling = Telling(tellers, view.links, explicit=attempt > 0 or spoilt is not None)
    text = telling.instruction(spoilt or order)
    opening = Random(f"{key}\0{attempt}").choice(_OPENINGS)
    text = opening + text[:1].lower() + text[1:] if opening else text
    made = (InjectedMistake(drawn[0]),) if drawn and spoilt else ()
    return SummarizerReply(goal=goal, instruction=text), made


def _turned_round(order: Sequence[int], pairs: set[tuple[int, int]], random: Random) -> list[int] | None:
    """An order in which one subtask is told before the one whose result it needs; None where there is
    none."""
    for producer, consumer in random.sample(sorted(pairs), len(pairs)):
        others = pairs - {(producer, consumer)}
        sorter = TopologicalSorter({number: [a for a, b in others if b == number] for number in order})
        sorter.add(producer, consumer)
        try:
            return list(sorter.static_order())
        except CycleError:
            continue
    return None
