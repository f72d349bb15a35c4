"""Summarizer by rule: one sentence per subtask that says which results it needs and which it gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random

from model_clients.offline.mistakes import InjectedMistake, MistakeKind, MistakeSource
from model_clients.offline.request_views import InstructionView, LinkView, NumberedView
from model_clients.offline.resource_phrases import ALONE, GIVES, NEEDS, embedded, enumerate_phrases, phrase
from model_clients.replies import InstructionReply


def summarize(
    view: InstructionView, attempt: int, mistakes: MistakeSource
) -> tuple[InstructionReply, tuple[InjectedMistake, ...]]:
    """The instruction: the goal where its words are all covered, then the subtasks in order."""
    names = "\n".join(subtask.instruction for subtask in view.subtasks)
    drawn = mistakes.draw(("dependency_lost", "dependency_reversed"), "summarizer", names, attempt)
    mistake: MistakeKind | None = None
    order, links = [subtask.number for subtask in view.subtasks], list(view.links)
    if drawn:
        spoiled = _spoil(order, links, *drawn)
        if spoiled is not None:
            order, links = spoiled
            mistake = drawn[0]
    instruction = _text(view, order, links)
    made = (InjectedMistake(mistake),) if mistake else ()
    return InstructionReply(instruction=instruction), made


def _text(view: InstructionView, order: Sequence[int], links: Sequence[LinkView]) -> str:
    subtasks = {subtask.number: subtask for subtask in view.subtasks}
    makers = {(link.category, link.value): subtasks[link.producer].application for link in view.links}
    needs, gives = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for link in links:
        name = phrase(link.category, link.kind, link.value, makers[link.category, link.value])
        _add(needs[link.consumer], name)
        _add(gives[link.producer], name)
    sentences = [f"{view.goal}."] if view.goal and _is_covered(view.goal, view.subtasks) else []
    for position, number in enumerate(order):
        subtask = subtasks[number]
        if needs[number]:
            lead = f"{NEEDS[position % len(NEEDS)]} {enumerate_phrases(needs[number])}, in {subtask.application}, "
        elif position:
            lead = f"{ALONE[position % len(ALONE)]}, in {subtask.application}, "
        else:
            lead = f"In {subtask.application}, "
        tail = f"; {GIVES} {enumerate_phrases(gives[number])}" if gives[number] else ""
        sentences.append(f"{lead}{embedded(subtask.instruction, subtask.application)}{tail}.")
    return " ".join(sentences)


def _is_covered(goal: str, subtasks: Iterable[NumberedView]) -> bool:
    """Whether every name in the goal that looks like a value is one of the subtasks'."""
    known = " ".join(f"{subtask.application} {subtask.instruction}" for subtask in subtasks)
    return all(word.strip(".,;:'“”") in known for word in goal.split() if not word.strip(".,;:").isalpha())


def _add(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _spoil(
    order: list[int], links: list[LinkView], kind: MistakeKind, random: Random
) -> tuple[list[int], list[LinkView]] | None:
    """Order and links with one dependency lost or turned round, or None where that would change nothing."""
    pairs = sorted({(link.producer, link.consumer) for link in links})
    random.shuffle(pairs)
    for producer, consumer in pairs:
        others = [link for link in links if (link.producer, link.consumer) != (producer, consumer)]
        if _reaches(producer, consumer, others):
            continue
        if kind == "dependency_lost":
            return order, others
        turned = [
            link.model_copy(update={"producer": consumer, "consumer": producer})
            for link in links
            if link not in others
        ]
        new_order = _sorted(order, [*others, *turned])
        if new_order is not None:
            return new_order, [*others, *turned]
    return None


def _reaches(start: int, end: int, links: Iterable[LinkView]) -> bool:
    edges = [(link.producer, link.consumer) for link in links]
    reached = {start}
    while True:
        more = {consumer for producer, consumer in edges if producer in reached} - reached
        if not more:
            return end in reached
        reached |= more


def _sorted(order: Sequence[int], links: Sequence[LinkView]) -> list[int] | None:
    left, done = list(order), list[int]()
    while left:
        ready = [
            number
            for number in left
            if all(link.producer in done for link in links if link.consumer == number)
        ]
        if not ready:
            return None
        done.append(ready[0])
        left.remove(ready[0])
    return done
