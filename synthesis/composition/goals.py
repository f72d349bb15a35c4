"""The set of subtasks that brings about the end products of an intent, worked out backwards from these."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice, product
from operator import and_

from taskloom.resources.dimensions import Cell
from taskloom.synthesis.composition.enumeration import cell_of_set
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.pool.instances import Instance, Need
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.records.task import Intent

_MOST_TRIED = 64
"""Closed sets of one intent that are looked at."""
_MOST_OPEN = 2_000


def goal_set(pool: CompiledPool, intent: Intent, limits: CompositionRequest) -> tuple[int, Cell] | str:
    """The first closed set within the limits that serves `intent`, its own subtasks tried first, and its
    cell; or why there is none."""
    each = [
        [number for number, item in enumerate(pool.instances) if item.node.instance_id == product.instance_id]
        for product in intent.end_products
    ]
    if not all(each):
        missing = intent.end_products[each.index([])]
        name = missing.instance_id.partition(":")[0]
        what = f"{missing.category} {missing.value}".strip()
        return (
            f"this pool has no `{name}`{f' for {what}' if what else ''}: it is of another world, not"
            " verified any more, or of things that are wanted for different occasions."
        )
    own = mask_of(pool.members_of(intent.subtask_ids))
    tried = set[int]()
    for ends in islice(product(*each), _MOST_TRIED):
        for members in islice(_closed(pool, ends, own, limits), _MOST_TRIED):
            if members in tried:
                continue
            tried.add(members)
            if cell := cell_of_set(pool, members, limits):
                return members, cell
    return _reason(pool, [numbers[0] for numbers in each], limits, tried=bool(tried))


def _closed(pool: CompiledPool, ends: tuple[int, ...], own: int, limits: CompositionRequest) -> Iterator[int]:
    """Sets of the `ends` and what they need, smallest first; where a fixture would do, also with whoever
    makes it."""
    pending, seen = [mask_of(ends)], set[int]()
    while pending and len(seen) < _MOST_OPEN:
        members = pending.pop(0)
        if members in seen or members.bit_count() > limits.maximum_size or _clash(pool, members):
            continue
        seen.add(members)
        needs = [need for number in bits(members) for need in pool.instances[number].needs]
        unmet = [need for need in needs if not need.fixture and not need.producers & members]
        if not unmet and members.bit_count() >= limits.minimum_size:
            yield members
        for need in unmet[:1] or [need for need in needs if not need.producers & members]:
            producers = sorted(bits(need.producers), key=lambda number: (not own >> number & 1, number))
            pending += [members | 1 << number for number in producers]


def _clash(pool: CompiledPool, members: int) -> bool:
    occasion = reduce(and_, (pool.occasions[number] for number in bits(members)))
    return not occasion or any(pool.instances[number].clashes & members for number in bits(members))


def _reason(pool: CompiledPool, ends: list[int], limits: CompositionRequest, *, tried: bool) -> str:
    for number in bits(_needed(pool, ends)):
        instance = pool.instances[number]
        for need in instance.needs:
            if need.fixture or need.producers:
                continue
            read = f"`{instance.node.subtask_id}` reads the {need.resource.category} '{need.resource.value}'"
            if makers := _makers(pool, instance, need):
                return (
                    f"{read} that {makers} makes, but nobody asks for both: what was just made is not"
                    " deleted, renamed or put where it is of no use. Propose what reads it and leaves it"
                    " there."
                )
            return (
                f"{read}, which no verified subtask makes: propose one that makes it, or a parameter set with"
                " a value that one makes."
            )
    if tried:
        return (
            f"no set that brings it about keeps to the limits of a task ({limits.maximum_ends} ends,"
            f" {limits.maximum_readers} readers of one product, {limits.maximum_components} components) and"
            " leaves nothing unused."
        )
    if _needed(pool, ends).bit_count() < limits.minimum_size:
        names = " and ".join(f"`{pool.instances[number].node.subtask_id}`" for number in ends)
        return (
            f"it is the work of {names} alone: what that reads is there from the start. Propose subtasks"
            " that make what it reads, or that read what it makes."
        )
    return (
        "what it needs excludes each other, because it is made twice, used up or wanted for different"
        f" occasions, or is more than {limits.maximum_size} subtasks."
    )


def _makers(pool: CompiledPool, reader: Instance, need: Need) -> str:
    makers = {
        f"`{item.node.subtask_id}`"
        for item in pool.instances
        if item.node.world == reader.node.world and need.resource in item.node.outputs and item is not reader
    }
    return " or ".join(sorted(makers))


def _needed(pool: CompiledPool, ends: list[int]) -> int:
    found, pending = 0, list(ends)
    while pending:
        number = pending.pop()
        if not found >> number & 1:
            found |= 1 << number
            pending += bits(pool.instances[number].sources)
    return found
