"""Summarizer by rule: tells a task graph in the catalogue's phrases, and what it is for."""

from random import Random

from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.telling import Telling
from taskloom.prompts.inputs import SummarizerInput
from taskloom.prompts.replies import SummarizerReply

_OPENINGS = ("", "Please ")


def summarize(view: SummarizerInput, attempt: int, book: Phrasebook) -> SummarizerReply:
    """The goal, as far as none is given, and the instruction; from the second attempt everything is called by
    its name every time."""
    tellers = book.tellers(view.subtasks)
    goal = view.goal or Telling(tellers, view.links).goal()
    key = "\n".join(subtask.instruction for subtask in view.subtasks)
    telling = Telling(tellers, view.links, explicit=attempt > 0)
    text = telling.instruction([subtask.number for subtask in view.subtasks])
    opening = Random(f"{key}\0{attempt}").choice(_OPENINGS)
    uses = dict.fromkeys(view.uses.values())
    opening = f"For {next(iter(uses))}, {opening.lower()}" if len(uses) == 1 else opening
    text = opening + text[:1].lower() + text[1:] if opening else text
    return SummarizerReply(goal=goal, instruction=text)
