"""Sets like one that is there: the same work with other values, and its beginnings.

What replays show of a set holds for all of these too, so tasks of them cost no replay.
"""

import random
from collections.abc import Iterator, Sequence

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits

_MOST_STEPS = 300
"""Beginnings of sets that are looked at for one."""


def beginnings(members: int, fewest: int, pool: CompiledPool, generator: random.Random) -> list[int]:
    """The closed set `members` and what is left of it, down to the `fewest`, when ends are taken away one by
    one."""
    found = [members]
    while found[-1].bit_count() > fewest:
        ends = [number for number in bits(found[-1]) if not pool.feeds[number] & found[-1]]
        if not ends:
            break
        found.append(found[-1] & ~(1 << generator.choice(ends)))
    return found


def alike(members: int, pool: CompiledPool, generator: random.Random) -> Iterator[int]:
    """Sets of the same subtasks, linked in the same way, with other values; in an order drawn anew."""
    order: list[int] = []
    left = members
    while left:
        ready = next((number for number in bits(left) if not pool.instances[number].sources & left), None)
        if ready is None:
            return
        order.append(ready)
        left ^= 1 << ready
    place = {number: position for position, number in enumerate(order)}
    makers = []
    for number in order:
        found = (pool.producer(need, members) for need in pool.instances[number].needs)
        makers.append([None if maker is None else place[maker] for maker in found])
    steps = 0

    def grow(chosen: list[int], mask: int, excluded: int) -> Iterator[int]:
        nonlocal steps
        steps += 1
        if len(chosen) == len(order):
            yield mask
        elif steps < _MOST_STEPS:
            made_by = [None if maker is None else chosen[maker] for maker in makers[len(chosen)]]
            options = pool.siblings[pool.instances[order[len(chosen)]].template] & ~excluded
            for maker in made_by:
                options &= everything if maker is None else pool.feeds[maker]
            drawn = [option for option in bits(options) if _fits(pool, option, made_by, mask)]
            generator.shuffle(drawn)
            for option in drawn:
                clashes = excluded | 1 << option | pool.instances[option].clashes
                yield from grow([*chosen, option], mask | 1 << option, clashes)

    everything = (1 << len(pool.instances)) - 1
    yield from grow([], 0, 0)


def _fits(pool: CompiledPool, option: int, made_by: Sequence[int | None], chosen: int) -> bool:
    """Whether each need of an instance is met by whom it is to be made by or a fixture, and it makes nothing
    for those chosen before."""
    needs = pool.instances[option].needs
    return (
        not pool.feeds[option] & chosen
        and len(needs) == len(made_by)
        and all(
            need.producers & chosen == (0 if maker is None else 1 << maker)
            and (maker is not None or need.fixture)
            for need, maker in zip(needs, made_by, strict=True)
        )
    )
