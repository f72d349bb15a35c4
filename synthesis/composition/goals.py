"""The set of subtasks that makes the end products of an intent, found backwards from these products."""

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
"""Maximum number of choices of end instances, and of closed sets per choice, tried for one intent."""
_MOST_EXAMINED = 2_000
"""Maximum number of sets, closed or not, examined for one choice of end instances."""


def goal_set(pool: CompiledPool, intent: Intent, limits: CompositionRequest) -> tuple[int, Cell] | str:
    """The first closed set within the limits that serves `intent`, and its cell; or why there is none.

    Subtasks that the intent names are preferred.
    """
    candidates = [
        [number for number, item in enumerate(pool.instances) if item.node.instance_id == product.instance_id]
        for product in intent.end_products
    ]
    if not all(candidates):
        missing = intent.end_products[candidates.index([])]
        name = missing.instance_id.partition(":")[0]
        description = f"{missing.category} {missing.value}".strip()
        return (
            f"this pool has no `{name}`{f' for {description}' if description else ''}: it is of another"
            " world, no longer verified, or combines things that are wanted for different occasions."
        )
    preferred = mask_of(pool.members_of(intent.subtask_ids))
    tried = set[int]()
    for ends in islice(product(*candidates), _MOST_TRIED):
        for members in islice(_closed_sets(pool, ends, preferred, limits), _MOST_TRIED):
            if members in tried:
                continue
            tried.add(members)
            if cell := cell_of_set(pool, members, limits):
                return members, cell
    return _explain_failure(pool, [numbers[0] for numbers in candidates], limits, tried=bool(tried))


def _closed_sets(
    pool: CompiledPool, ends: tuple[int, ...], preferred: int, limits: CompositionRequest
) -> Iterator[int]:
    """Closed sets of the `ends` and what they need, smallest first; also with producers of fixtures."""
    pending, examined = [mask_of(ends)], set[int]()
    while pending and len(examined) < _MOST_EXAMINED:
        members = pending.pop(0)
        if members in examined or members.bit_count() > limits.maximum_size or _has_clash(pool, members):
            continue
        examined.add(members)
        needs = [need for number in bits(members) for need in pool.instances[number].needs]
        unmet = [need for need in needs if not need.fixture and not need.producers & members]
        if not unmet and members.bit_count() >= limits.minimum_size:
            yield members
        for need in unmet[:1] or [need for need in needs if not need.producers & members]:
            producers = sorted(bits(need.producers), key=lambda number: (not preferred >> number & 1, number))
            pending += [members | 1 << number for number in producers]


def _has_clash(pool: CompiledPool, members: int) -> bool:
    occasion = reduce(and_, (pool.occasions[number] for number in bits(members)))
    return not occasion or any(pool.instances[number].clashes & members for number in bits(members))


def _explain_failure(pool: CompiledPool, ends: list[int], limits: CompositionRequest, *, tried: bool) -> str:
    for number in bits(_required_members(pool, ends)):
        instance = pool.instances[number]
        for need in instance.needs:
            if need.fixture or need.producers:
                continue
            finding = (
                f"`{instance.node.subtask_id}` reads the {need.resource.category} '{need.resource.value}'"
            )
            if producers := _describe_producers(pool, instance, need):
                return (
                    f"{finding} that {producers} makes, but nobody asks for both: a new product is not"
                    " deleted, renamed or put where it is of no use. Propose a subtask that reads it and"
                    " leaves it in place."
                )
            return (
                f"{finding}, which no verified subtask makes: propose a subtask that makes it, or a parameter"
                " set with a value that some subtask makes."
            )
    if tried:
        return (
            "every set tried that makes its end products leaves something unused or exceeds a limit"
            f" (maximum_ends {limits.maximum_ends}, maximum_readers {limits.maximum_readers},"
            f" maximum_components {limits.maximum_components})."
        )
    if _required_members(pool, ends).bit_count() < limits.minimum_size:
        names = " and ".join(f"`{pool.instances[number].node.subtask_id}`" for number in ends)
        return (
            f"it is the work of {names} alone, whose inputs exist from the start. Propose subtasks that make"
            " these inputs, or that read its products."
        )
    return (
        f"it needs more than {limits.maximum_size} subtasks, or subtasks that exclude each other: they make"
        " or consume the same resource, or are wanted for different occasions."
    )


def _describe_producers(pool: CompiledPool, reader: Instance, need: Need) -> str:
    producers = {
        f"`{item.node.subtask_id}`"
        for item in pool.instances
        if item.node.world == reader.node.world and need.resource in item.node.outputs and item is not reader
    }
    return " or ".join(sorted(producers))


def _required_members(pool: CompiledPool, ends: list[int]) -> int:
    found, pending = 0, list(ends)
    while pending:
        number = pending.pop()
        if not found >> number & 1:
            found |= 1 << number
            pending += bits(pool.instances[number].sources)
    return found
