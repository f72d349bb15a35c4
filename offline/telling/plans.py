"""What is told in which order, and what goes into one sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random

from taskloom.offline.telling.clauses import Clauses, Graph, Mood
from taskloom.offline.telling.phrasebook import Phrasebook, Teller
from taskloom.offline.telling.purposes import Purpose, said_for
from taskloom.offline.telling.sentences import Sentence, Voice, enumerated, instruction_of, together

_MOST_WISHES = 2
"""Most results that are wished for before it is said how they come about."""


def goal_of(graph: Graph, book: Phrasebook, called: Mapping[str, str] | None = None) -> str:
    """The goal in one sentence, without a full stop: what is asked for in the end, and nothing on the way
    there."""
    clauses = Clauses(graph, book, embeds=True, called=called)
    texts = _told(graph.sinks(), "request", clauses, ends_only=True)
    text = "; ".join(text for text, _ in texts) if len(texts) > 2 else together([text for text, _ in texts])
    return text[:1].upper() + text[1:].rstrip(" ,")


def tell(
    graph: Graph,
    book: Phrasebook,
    order: Sequence[int],
    voice: Voice,
    random: Random,
    called: Mapping[str, str] | None = None,
    *,
    purpose: Purpose | None = None,
    way: float = 0.0,
    short: bool = False,
    says_why: bool = True,
) -> str:
    """The instruction, told in `order`; a wish only where it says all there is to do.

    `called` is what people call things, by their values, as far as it is to be told.

    It says what it is for: its `purpose`, in the `way` that stands at this share of all ways, or else, with
    `says_why`, what the last subtask told is wanted for as far as the catalogue knows. A wish with the means
    told afterwards is back to front: it speaks of what is not there yet.
    """
    clauses = Clauses(graph, book, embeds=True, called=called)
    sentences: list[Sentence] = []
    sinks = [number for number in order if number in graph.sinks()]
    in_any_order = not any(graph.takes_away(number) for number in order)
    wishes = all(
        graph.tellers[number].phrases.wish and not _reads_new_record(graph, book, number) for number in sinks
    )
    if voice == "context" and len(sinks) <= _MOST_WISHES and wishes and in_any_order:
        told = _told(sinks, "wish", clauses)
        if len(clauses.told) == len(graph.tellers):
            sentences.append(Sentence([text for text, _ in told], wish=True))
        else:
            clauses = Clauses(graph, book, embeds=True, called=called)
    threaded = _threaded(graph, order, {number: clauses.frame(number) for number in order})
    if voice == "context" and not sentences and len(threaded) > 2 and graph.gathers(threaded[0]):
        sentences.append(Sentence([clauses.tell(threaded[0], "wish")], wish=True, numbers={threaded[0]}))
    _add_steps(sentences, graph, clauses, threaded)
    if purpose is not None:
        return said_for(purpose, sentences, voice, random, way, short=short)
    if says_why:
        _add_purpose(sentences, [graph.tellers[number] for number in clauses.order_told], random)
    return instruction_of(sentences, voice, random)


def tell_in_order(graph: Graph, book: Phrasebook, order: Sequence[int], *, afterwards: frozenset[int]) -> str:
    """The instruction in exactly this order, one sentence each, "after that" where it is asked for."""
    clauses = Clauses(graph, book, embeds=False)
    sentences = [
        Sentence([clauses.tell(number, pronouns=False)], afterwards=number in afterwards) for number in order
    ]
    return instruction_of(sentences, "terse", Random(0))


def _reads_new_record(graph: Graph, book: Phrasebook, number: int) -> bool:
    """Whether a subtask reads a record that is only made in the task, so that it is no news before it is
    made."""
    for link in graph.links:
        if link.consumer == number:
            maker = graph.tellers[link.producer]
            if book.says_all(maker):
                if _reads_new_record(graph, book, maker.number):
                    return True
            elif not maker.inputs and not book.is_shared(link.category) and not book.is_slot(link.category):
                return True
    return False


def _threaded(graph: Graph, order: Sequence[int], frames: Mapping[int, tuple[str, ...]]) -> list[int]:
    """The order changed so that what needs the subtask just told is told next, where that can be.

    A place that is made for several things comes first, because it says what all the rest is for, unless one
    of them is made in the task as well: told in between, that would seem to have nothing to do with it. What
    is said of several things waits until it can be said of all of them. What uses the same product in the
    same application stays together.
    """
    left, done = list(order), list[int]()
    while left:
        possible = [
            number
            for number in left
            if all(link.producer in done for link in graph.links if link.consumer == number)
            and not graph.takes_away(number) & set(left)
        ] or left[:1]
        ready = [
            number
            for number in possible
            if all(other in possible for other in left if frames[other] == frames[number] != ())
        ] or possible
        ready = [number for number in ready if not _waits_for_more(graph, number, done)] or ready
        last = done[-1] if done else None
        following = [
            number
            for number in ready
            if any(link.producer == last and link.consumer == number for link in graph.links)
        ]
        beside = [number for number in ready if last is not None and graph.are_of_one(last, number)]
        first = [number for number in ready if not done and graph.gathers(number)]
        done.append((first or following or beside or ready)[0])
        left.remove(done[-1])
    return done


def _waits_for_more(graph: Graph, number: int, done: Collection[int]) -> bool:
    """Whether a subtask makes a place for several things of which one is still to be made."""
    users = {link.consumer for link in graph.links if link.producer == number}
    return graph.gathers(number) and any(
        link.consumer in users and link.producer not in (number, *done) for link in graph.links
    )


def _add_steps(sentences: list[Sentence], graph: Graph, clauses: Clauses, order: Sequence[int]) -> None:
    """What remains to be told, in `order`; what needs the clause before goes into its sentence."""
    last = set().union(*(sentence.numbers for sentence in sentences))
    newest = set(last)
    for text, numbers in _told(_not_embedded(graph, clauses, order), "request", clauses):
        needed = {
            link.producer for link in graph.links if link.consumer in numbers and link.producer not in numbers
        }
        follows = bool(needed & last)
        current = sentences[-1] if sentences else None
        at_last = any(graph.takes_away(number) for number in numbers)
        partly = _is_partly_free(graph, numbers, last)
        begins = any(graph.tellers[number].phrases.after for number in numbers)
        if (
            current is not None
            and not (current.wish or at_last or partly or begins)
            and follows
            and current.takes(text)
        ):
            current.clauses.append(text)
            current.numbers |= numbers
            last |= numbers
        elif (
            current is not None
            and current.takes_beside(text)
            and not needed
            and _is_errand(graph, numbers | current.numbers)
        ):
            current.clauses.append(text)
            current.numbers |= numbers
            current.parallel = True
            clauses.discourse.focus = None
            last |= numbers
        else:
            beside = follows and current is not None and not needed & newest
            sentences.append(
                Sentence(
                    [text],
                    follows=follows,
                    numbers=set(numbers),
                    beside=beside,
                    at_last=at_last,
                    partly=partly and follows,
                )
            )
            last = set(numbers)
        newest = set(numbers)
    for position, sentence in enumerate(sentences):
        sentence.makes_place = any(graph.gathers(number) for number in sentence.numbers)
        before = set().union(*(item.numbers for item in sentences[:position]))
        sentence.joins = any(
            link.consumer in sentence.numbers and link.producer in before for link in graph.links
        )


def _is_partly_free(graph: Graph, numbers: set[int], last: set[int]) -> bool:
    """Whether one clause tells what needs the sentence before together with what does not."""
    ends = numbers - {link.producer for link in graph.links}
    waits = {link.consumer for link in graph.links if link.producer in last}
    return bool(ends & waits) and bool(ends - waits)


def _is_errand(graph: Graph, numbers: set[int]) -> bool:
    """Whether subtasks only get something ready: none makes a place for several things, and all are needed
    afterwards."""
    needed = {link.producer for link in graph.links}
    return not any(graph.gathers(number) or number not in needed for number in numbers)


def _add_purpose(sentences: Sequence[Sentence], told: Sequence[Teller], random: Random) -> None:
    """What the subtask told last is wanted for, if the catalogue knows that and it ends the last sentence."""
    if told and told[-1].phrases.purposes:
        sentences[-1].purpose = random.choice(told[-1].phrases.purposes)


def _not_embedded(graph: Graph, clauses: Clauses, order: Sequence[int]) -> list[int]:
    """The subtasks that get a clause of their own: what is copied is told with what it is copied for."""
    embedded = set[int]()
    if clauses.embeds:
        embedded = {link.producer for link in graph.links if clauses.tells_inside(link.producer)}
    return [number for number in order if number not in embedded]


def _told(
    numbers: Sequence[int], mood: Mood, clauses: Clauses, *, ends_only: bool = False
) -> list[tuple[str, set[int]]]:
    """Clauses with the subtasks that they tell; requests that begin alike are told in one.

    With `ends_only` nothing is told of what they need, so that this need not be told before.
    """
    found: list[tuple[str, set[int]]] = []
    left = [number for number in numbers if number not in clauses.told]
    while left:
        number = left.pop(0)
        before = set(clauses.told)
        same = [
            number,
            *(
                other
                for other in left
                if clauses.frame(other, mood) == clauses.frame(number, mood) != ()
                and (ends_only or clauses.can_be_told(other))
            ),
        ]
        if len(same) > 1:
            text = clauses.tell_together(same, mood)
            left = [other for other in left if other not in same]
            found.append((text, clauses.told - before))
            continue
        text = clauses.tell(number, mood)
        head = clauses.head(number, mood)
        alike = [other for other in left if head and clauses.head(other, mood) == head]
        tails = [clauses.tell(other, mood, after_boundary=True) for other in alike]
        left = [other for other in left if other not in alike]
        found.append((enumerated([text, *tails]), clauses.told - before))
    return found
