"""What is told among the words for what is done with it, instead of in a sentence of its own."""

from __future__ import annotations

from collections.abc import Mapping

from offline.telling.clauses import Graph
from offline.telling.phrasebook import MADE, Phrasebook, Teller

_MOST = 3
"""Most products of one task that are told in their place."""
_MANY = 4
"""Things that go to one place from which on they are told in two sentences."""


def gathering(graph: Graph, number: int) -> bool:
    """Whether a subtask makes a place that several others use."""
    consumers = {link.consumer for link in graph.links if link.producer == number}
    return len(consumers) > 1 and not graph.tellers[number].inputs


def told_later(graph: Graph) -> frozenset[int]:
    """Of four and more things that go to one place, those that are made first, where others are there from the start.

    What is there already is told with the place; what is made follows with its making.
    """
    found = frozenset[int]()
    for number in graph.tellers:
        users = _consumers(graph, number)
        made = frozenset(
            link.consumer for link in graph.links if link.consumer in users and link.producer != number
        )
        if gathering(graph, number) and len(users) >= _MANY and made != users:
            found |= made
    return found


def placed_in(graph: Graph, book: Phrasebook, called: Mapping[str, str]) -> Mapping[int, str]:
    """The subtasks that are told in their place, with what people call their products.

    Only where so many things go to one place that a clause for each would be a list; else work is asked for with a verb.
    """
    if not any(
        gathering(graph, number) and len(_consumers(graph, number)) >= _MANY for number in graph.tellers
    ):
        return {}
    found = [number for number in graph.tellers if _fits(graph, book, number)][:_MOST]
    inside = [
        link.producer
        for link in graph.links
        if link.consumer in found
        and book.is_slot(link.category)
        and book.can_be_placed(graph.tellers[link.producer])
        and _consumers(graph, link.producer) == {link.consumer}
    ]
    return {number: _name(graph.tellers[number], called) for number in (*found, *inside)}


def _fits(graph: Graph, book: Phrasebook, number: int) -> bool:
    """Whether a subtask makes one file that one other takes somewhere, whose request begins with it: "attach {csv_path}| to …"."""
    consumers = _consumers(graph, number)
    if len(consumers) != 1 or not book.can_be_placed(graph.tellers[number]):
        return False
    (consumer,) = consumers
    head, boundary, _ = graph.tellers[consumer].phrases.request.partition("|")
    links = [link for link in graph.links if link.producer == number]
    return (
        bool(boundary)
        and len(links) == 1
        and book.is_file(links[0].category)
        and head.endswith(f"{{{links[0].category}}}")
        and all(
            book.is_slot(link.category) or link.category == "table_name"
            for link in graph.links
            if link.consumer == number
        )
    )


def _consumers(graph: Graph, number: int) -> set[int]:
    return {link.consumer for link in graph.links if link.producer == number}


def _name(teller: Teller, called: Mapping[str, str]) -> str:
    """What people call the product of a subtask; empty where they have no name for it that fits into a list."""
    words = called.get(teller.outputs[0].value, "") if f"{{{MADE}}}" in teller.phrases.placed else ""
    return "" if any(item in f" {words} " for item in (" and ", " then ", ",", "(", ")")) else words
