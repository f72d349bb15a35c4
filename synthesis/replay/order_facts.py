"""Facts about the order of two subtasks of one application, from replays (method section 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import OrderFact, Replay, Task

Pair = tuple[str, str]
"""Ids of two subtasks, in the order performed."""
_NOT_JUDGED = frozenset(
    {
        "refused",
        "unavailable",
        "timed_out",
        "out_of_memory",
        "crashed",
        "bad_result",
        "environment_error",
        "model_error",
    }
)
"""How the message of a subtask begins if its function did not judge it."""
_RESTART_FAILED = f"environment_error: {ApplicationStartFailedError.__name__}"
"""How it begins if an application that had started did not show its first page again."""


def facts_of(task: Task, replay: Replay) -> Iterator[OrderFact]:
    """What `replay` of `task` shows about pairs of subtasks of one application.

    An application that does not show its first page after the first of them also counts against the order: it
    had started before.
    """
    nodes = {node.instance_id: node for node in task.graph.nodes}
    last: dict[str, BoundSubtask] = {}
    for position, outcome in enumerate(replay.subtasks):
        node = nodes[outcome.instance_id]
        before = last.get(node.application)
        is_judged = not _is_unrelated_to_order(outcome.message) or outcome.message.startswith(_RESTART_FAILED)
        if before is not None and (outcome.success or is_judged):
            yield OrderFact(
                fact_id=f"{replay.replay_id}/{position}",
                application=node.application,
                first=before.subtask_id,
                second=node.subtask_id,
                works=outcome.success,
                message=outcome.message,
                replay_id=replay.replay_id,
                provenance=replay.provenance,
            )
        last[node.application] = node


def failed_prefix(task: Task, replay: Replay) -> Pair | tuple[str, ...]:
    """Subtasks performed up to the failing one; empty if that says nothing about their order."""
    if replay.success or replay.invalid or not replay.subtasks:
        return ()
    if _is_unrelated_to_order(replay.subtasks[-1].message):
        return ()
    names = {node.instance_id: node.subtask_id for node in task.graph.nodes}
    return tuple(names[outcome.instance_id] for outcome in replay.subtasks)


def without_prefixes(task: Task, prefixes: Collection[tuple[str, ...]]) -> Task | None:
    """The task without the orders that begin with one of `prefixes`; None if no order is left."""
    names = {node.instance_id: node.subtask_id for node in task.graph.nodes}
    remaining = [
        order
        for order in task.successful_orders
        if not any(tuple(names[name] for name in order[: len(prefix)]) == prefix for prefix in prefixes)
    ]
    return with_orders(task, remaining) if remaining else None


def with_orders(task: Task, kept: Sequence[tuple[str, ...]]) -> Task:
    """The task with only these successful orders; their number is corrected if all of them were listed."""
    if len(kept) == len(task.successful_orders):
        return task
    nodes = {node.instance_id: node for node in task.graph.nodes}
    all_listed = task.successful_order_count == len(task.successful_orders)
    return task.model_copy(
        update={
            "successful_orders": tuple(kept),
            "successful_order_count": len(kept) if all_listed else task.successful_order_count,
            "low_level_instructions": tuple(nodes[name].instruction for name in kept[0]),
        }
    )


def _is_unrelated_to_order(message: str) -> bool:
    """Whether a subtask failed because its function did not run or its environment broke."""
    return message.partition(":")[0] in _NOT_JUDGED


def clashes(facts: Iterable[OrderFact]) -> set[Pair]:
    """Pairs that never worked in this order; a pair that worked once, with any values, is not a clash."""
    pairs: dict[bool, set[Pair]] = {True: set(), False: set()}
    for fact in facts:
        pairs[fact.works].add((fact.first, fact.second))
    return pairs[False] - pairs[True]


def without_clashes(task: Task, known: Collection[Pair]) -> Task | Pair:
    """The task without the orders that contradict `known`, or the pair at fault if none is left.

    The number of successful orders is corrected if all of them are listed.
    """
    if not known:
        return task
    nodes = {node.instance_id: node for node in task.graph.nodes}
    orders = task.successful_orders
    faults = [_clash([nodes[name] for name in order], known) for order in orders]
    remaining = [order for order, fault in zip(orders, faults, strict=True) if fault is None]
    at_fault = faults[-1] if faults and not remaining else None
    return with_orders(task, remaining) if at_fault is None else at_fault


def _clash(order: Sequence[BoundSubtask], known: Collection[Pair]) -> Pair | None:
    last: dict[str, str] = {}
    for node in order:
        pair = (last.get(node.application, ""), node.subtask_id)
        if pair in known:
            return pair
        last[node.application] = node.subtask_id
    return None


def pairs_to_measure(
    pool: Mapping[str, Sequence[BoundSubtask]], known: Collection[Pair], doubtful: Collection[Pair] = ()
) -> list[Task]:
    """Tasks of two subtasks each, whose replays in both orders show whether the two commute.

    Only pairs of one application that could disturb each other: both use its open document, selection, tab or
    settings, or the same record or file of the same world; and `doubtful` pairs. Dependent pairs, and
    those known in both orders, are left out.

    Args:
        pool: instances by subtask, the preferred ones first.
        known: pairs with a fact, in the order that it is about.
        doubtful: known pairs that are measured again.
    """
    certain = set(known) - set(doubtful)
    found = []
    for one, other in combinations_with_replacement(sorted(pool), 2):
        in_doubt = not {(one, other), (other, one)}.isdisjoint(doubtful)
        if {(one, other), (other, one)} <= certain or (one == other and not in_doubt):
            continue
        pair = next(
            (
                (first, second)
                for first in pool[one]
                for second in pool[other]
                if first.application == second.application
                and first.world == second.world
                and first.instance_id != second.instance_id
                and _are_independent(first, second)
                and (in_doubt or _share_resource(first, second))
            ),
            None,
        )
        if pair is not None:
            found.append(_pair_task(*pair))
    return found


def _are_independent(first: BoundSubtask, second: BoundSubtask) -> bool:
    """Whether neither needs, destroys or makes what the other works on, nor needs something to be open."""
    for one, other in ((first, second), (second, first)):
        touched = {*other.inputs, *other.outputs}
        if set(one.outputs) & set(other.inputs) or any(item.slot is not None for item in one.inputs):
            return False
        if any(item.slot is None and item in touched for item in one.consumed):
            return False
    return True


def _share_resource(first: BoundSubtask, second: BoundSubtask) -> bool:
    """Whether both use the same slot or resource."""
    mine, theirs = {*first.inputs, *first.outputs}, {*second.inputs, *second.outputs}
    slots = {item.slot for item in mine if item.slot is not None}
    return bool(mine & theirs) or any(item.slot in slots for item in theirs if item.slot is not None)


def _pair_task(first: BoundSubtask, second: BoundSubtask) -> Task:
    graph = TaskGraph(nodes=(first, second))
    names = (first.instance_id, second.instance_id)
    return Task(
        task_id=f"pair:{names[0]}|{names[1]}",
        graph=graph,
        world=first.world,
        complexity=complexity_of(graph),
        successful_order_count=2,
        successful_orders=(names, names[::-1]),
    )
