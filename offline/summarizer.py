"""Summarizer by rule: tells a task graph as a person would ask for it, in one of three voices."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from taskloom.offline.mistakes import InjectedMistake, MistakeKind, MistakeSource
from taskloom.offline.telling.clauses import Graph
from taskloom.offline.telling.phrasebook import Phrasebook
from taskloom.offline.telling.plans import goal_of, tell, tell_in_order
from taskloom.offline.telling.purposes import purpose_of
from taskloom.offline.telling.sentences import Voice
from taskloom.prompts.inputs import ResourceLink, SummarizerInput
from taskloom.prompts.replies import SummarizerReply

_VOICES: tuple[Voice, ...] = ("terse", "polite", "context", "context")
_TRIES = 8
_FEW = 5
"""Most things of which it is said what people call them."""


def summarize(
    view: SummarizerInput, attempt: int, mistakes: MistakeSource, book: Phrasebook
) -> tuple[SummarizerReply, tuple[InjectedMistake, ...]]:
    """The goal, as far as none is given, and the instruction."""
    told = "\n".join(subtask.instruction for subtask in view.subtasks)
    order = [subtask.number for subtask in view.subtasks]
    graph = Graph({subtask.number: book.teller(subtask) for subtask in view.subtasks}, view.links)
    goal = view.goal or goal_of(graph, book, view.called)
    drawn = mistakes.draw(("dependency_lost", "dependency_reversed"), "summarizer", told, attempt)
    if drawn:
        spoiled = _spoil(order, view.links, *drawn)
        if spoiled is not None:
            spoiled_order, links, producer = spoiled
            afterwards = frozenset({producer} if drawn[0] == "dependency_reversed" else ())
            text = tell_in_order(Graph(graph.tellers, links), book, spoiled_order, afterwards=afterwards)
            return SummarizerReply(goal=goal, instruction=text), (InjectedMistake(drawn[0]),)
    return SummarizerReply(
        goal=goal, instruction=_told(graph, book, order, told.splitlines(), view, f"{told}\0{attempt}")
    ), ()


def _told(
    graph: Graph,
    book: Phrasebook,
    order: Sequence[int],
    instructions: Sequence[str],
    view: SummarizerInput,
    seed: str,
) -> str:
    """The instruction in a voice drawn by `seed`; another one where that is longer than the list that it sums
    up.

    Most tries say what people call the things, and all where things are collected, which tells why they are.
    All say what it is for, where that is known.
    """
    listed = sum(len(words.split()) for words in instructions)
    purpose = purpose_of(graph, book, view.uses, view.called, view.readers)
    collects = any(graph.gathers(number) for number in graph.tellers)
    introduced = _introduced(graph, book, view.called)
    drawn = Random(hashlib.sha256(seed.encode()).digest())
    way = drawn.random()
    texts = []
    for number in range(_TRIES):
        random = Random(hashlib.sha256(f"{seed}\0{number}".encode()).digest())
        voice = random.choice(_VOICES)
        names = introduced if random.random() < (1.0 if len(introduced) > 2 or collects else 0.7) else {}
        early = number < _TRIES // 2
        texts.append(
            tell(
                graph,
                book,
                order,
                voice,
                random,
                names,
                purpose=purpose,
                way=way,
                short=not early,
                says_why=early,
            )
        )
        if len(texts[-1].split()) < listed:
            break
    return min(texts, key=lambda text: len(text.split()))


def _introduced(graph: Graph, book: Phrasebook, called: Mapping[str, str]) -> Mapping[str, str]:
    """What people call the files that are there from the start, if all of them have such a name and they are
    few; and those that are made for a place of several things, where a name is no other one's.

    Of like things that are there all are introduced, or none is.
    """
    there = {
        item.value: item.category
        for teller in graph.tellers.values()
        for item in teller.inputs
        if item.value
        and book.is_file(item.category)
        and item.category != "directory_path"
        and graph.producer(teller.number, item.category, item.value) is None
    }
    if not (there.keys() <= called.keys() and len(there) <= _FEW):
        return {}
    made = {
        value: _written(called[value], category)
        for value, category in _made_for_places(graph, book)
        if value in called
    }
    names = {value: _written(called[value], category) for value, category in there.items()} | made
    times = Counter(names.values())
    return {value: words for value, words in names.items() if value in there or times[words] == 1}


def _made_for_places(graph: Graph, book: Phrasebook) -> set[tuple[str, str]]:
    """Files that are made in the task for a place that is made for several things, with their categories: the
    words for their kind do not tell which is which."""
    places = [number for number in graph.tellers if graph.gathers(number)]
    users = {link.consumer for link in graph.links if link.producer in places}
    return {
        (link.value, link.category)
        for link in graph.links
        if link.consumer in users and link.producer not in places and book.is_file(link.category)
    }


def _written(words: str, category: str) -> str:
    """What people call a file, such that it can be said to be written: nobody writes rainfall, but a table of
    it.

    >>> _written("the March rainfall", "csv_path"), _written("the parts list", "csv_path")
    ('the March rainfall table', 'the parts list')
    """
    listed = category != "csv_path" or words.endswith(("list", "table", "inventory"))
    return words if listed else f"{words} table"


def _spoil(
    order: list[int], links: Sequence[ResourceLink], kind: MistakeKind, random: Random
) -> tuple[list[int], list[ResourceLink], int] | None:
    """Order and links with one dependency left out and its ends told the wrong way round, and the one told
    too late.

    None where that would change nothing.
    """
    pairs = sorted({(link.producer, link.consumer) for link in links})
    random.shuffle(pairs)
    for producer, consumer in pairs:
        others = [link for link in links if (link.producer, link.consumer) != (producer, consumer)]
        if _reaches(producer, consumer, others):
            continue
        turned = [
            link.model_copy(update={"producer": consumer, "consumer": producer})
            for link in links
            if link not in others
        ]
        new_order = _sorted(order, [*others, *turned])
        if new_order is not None:
            return new_order, others, producer
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
