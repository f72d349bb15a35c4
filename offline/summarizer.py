"""Summarizer by rule: one sentence per subtask that says which results it needs and which it gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random

from offline.mistakes import InjectedMistake, MistakeKind, MistakeSource
from offline.resource_phrases import (
    ALONE,
    GIVES,
    NEEDS,
    THEN,
    embedded,
    enumerate_phrases,
    names,
    phrase,
    quoted,
)
from prompts.inputs import NumberedSubtask, ResourceLink, SummarizerInput
from prompts.replies import SummarizerReply


def summarize(
    view: SummarizerInput, attempt: int, mistakes: MistakeSource
) -> tuple[SummarizerReply, tuple[InjectedMistake, ...]]:
    """The instruction: the goal where its words are all covered, then the subtasks in order."""
    told = "\n".join(subtask.instruction for subtask in view.subtasks)
    drawn = mistakes.draw(("dependency_lost", "dependency_reversed"), "summarizer", told, attempt)
    mistake: MistakeKind | None = None
    order, links = [subtask.number for subtask in view.subtasks], list(view.links)
    if drawn:
        spoiled = _spoil(order, links, *drawn)
        if spoiled is not None:
            order, links = spoiled
            mistake = drawn[0]
    instruction = _text(view, order, links)
    made = (InjectedMistake(mistake),) if mistake else ()
    return SummarizerReply(instruction=instruction), made


def _text(view: SummarizerInput, order: Sequence[int], links: Sequence[ResourceLink]) -> str:
    """Sentences in `order`; a result is named once, where the words of the subtask do not name it already."""
    subtasks = {subtask.number: subtask for subtask in view.subtasks}
    makers = {(link.category, link.value): subtasks[link.producer].application for link in links}
    needs, gives = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    following = {number for before, number in pairwise(order) if _producers(number, links) == {before}}
    for link in links:
        name = phrase(link.category, link.kind, link.value, makers[link.category, link.value])
        _add(needs[link.consumer], name)
        if link.consumer not in following and not _is_named(link, name, subtasks, order):
            _add(gives[link.producer], name)
    sentences = [f"{view.goal}."] if view.goal and _is_covered(view.goal, view.subtasks) else []
    previous = ""
    for position, number in enumerate(order):
        subtask = subtasks[number]
        place = f"{'still ' if subtask.application == previous else ''}in {subtask.application}"
        if number in following:
            lead = f"{THEN[position % len(THEN)]}, {place}, "
        elif needs[number]:
            wanted = enumerate_phrases(needs[number])
            where = "" if wanted.endswith(f" in {subtask.application}") else f"in {subtask.application}, "
            lead = f"{NEEDS[position % len(NEEDS)]} {wanted}, {where}"
        elif position:
            lead = f"{ALONE[position % len(ALONE)]}, {place.replace('still', 'also')}, "
        else:
            lead = f"In {subtask.application}, "
        tail = f"; {GIVES} {enumerate_phrases(gives[number])}" if gives[number] else ""
        sentences.append(f"{lead}{embedded(subtask.instruction, subtask.application)}{tail}.")
        previous = subtask.application
    return " ".join(sentences)


def _producers(number: int, links: Iterable[ResourceLink]) -> set[int]:
    return {link.producer for link in links if link.consumer == number}


def _is_named(
    link: ResourceLink, name: str, subtasks: Mapping[int, NumberedSubtask], order: Sequence[int]
) -> bool:
    """Whether, before its consumer, the words of the producer and of no other subtask say what `name` says."""
    value, earlier = quoted(name), order[: order.index(link.consumer)]
    return [link.producer] == [number for number in earlier if names(subtasks[number].instruction, value)]


def _is_covered(goal: str, subtasks: Iterable[NumberedSubtask]) -> bool:
    """Whether every name in the goal that looks like a value is one of the subtasks'."""
    known = " ".join(f"{subtask.application} {subtask.instruction}" for subtask in subtasks)
    return all(word.strip(".,;:'“”") in known for word in goal.split() if not word.strip(".,;:").isalpha())


def _add(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _spoil(
    order: list[int], links: list[ResourceLink], kind: MistakeKind, random: Random
) -> tuple[list[int], list[ResourceLink]] | None:
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


def _reaches(start: int, end: int, links: Iterable[ResourceLink]) -> bool:
    edges = [(link.producer, link.consumer) for link in links]
    reached = {start}
    while True:
        more = {consumer for producer, consumer in edges if producer in reached} - reached
        if not more:
            return end in reached
        reached |= more


def _sorted(order: Sequence[int], links: Sequence[ResourceLink]) -> list[int] | None:
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
