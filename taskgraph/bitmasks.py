"""Bitmask operations on small directed acyclic graphs. A graph of n nodes is a tuple `predecessors` of n
integers: bit u of `predecessors[v]` is set if u → v is an edge (`TaskGraph.predecessors`). Sets of nodes are
integers too."""

from collections.abc import Iterator, Sequence

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS
from taskloom.taskgraph.errors import GraphInvalidError, GraphTooLargeError


def bits(mask: int) -> Iterator[int]:
    """Positions of the set bits of `mask`, from the lowest.

    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(nodes: Sequence[int]) -> int:
    """The set of `nodes` as an integer.

    >>> mask_of([0, 1, 3]) == 0b1011
    True
    """
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def require_size(nodes: Sequence[object]) -> None:
    """Refuse graphs that are too large for the exact algorithms.

    >>> require_size((0,) * 31)
    Traceback (most recent call last):
    taskloom.taskgraph.errors.GraphTooLargeError: The graph has 31 subtasks; exact mathematics handles ...

    Raises:
        GraphTooLargeError: more than `MAXIMUM_SUBTASKS` nodes.
    """
    if len(nodes) > MAXIMUM_SUBTASKS:
        raise GraphTooLargeError(
            f"The graph has {len(nodes)} subtasks; exact mathematics handles up to {MAXIMUM_SUBTASKS}."
            " Split the task or remove subtasks."
        )


def topological_order(predecessors: Sequence[int]) -> list[int]:
    """One topological order: layer by layer, lower numbers first.

    >>> topological_order((0b10, 0, 0b11))
    [1, 0, 2]

    Raises:
        GraphInvalidError: the edges form a cycle; the message names its nodes.
    """
    done, order, remaining = 0, [], list(range(len(predecessors)))
    while remaining:
        ready = [node for node in remaining if not predecessors[node] & ~done]
        if not ready:
            raise GraphInvalidError(f"The nodes {cycle_in(predecessors)} depend on each other in a cycle.")
        order += ready
        for node in ready:
            done |= 1 << node
        remaining = [node for node in remaining if not done >> node & 1]
    return order


def cycle_in(predecessors: Sequence[int]) -> list[int]:
    """The nodes of one cycle, each before the one that depends on it; empty without a cycle.

    >>> cycle_in((0b10, 0b100, 0b1, 0b100))
    [0, 2, 1]
    >>> cycle_in((0, 0b1))
    []
    """
    done, remaining = 0, (1 << len(predecessors)) - 1
    while ready := mask_of([node for node in bits(remaining) if not predecessors[node] & ~done]):
        done |= ready
        remaining &= ~ready
    walk: list[int] = []
    node = remaining.bit_length() - 1
    while remaining and node not in walk:
        walk.append(node)
        node = next(bits(predecessors[node] & remaining))
    cycle = walk[walk.index(node) :][::-1] if walk else []
    first = cycle.index(min(cycle)) if cycle else 0
    return cycle[first:] + cycle[:first]


def depths(predecessors: Sequence[int]) -> list[int]:
    """Depth of every node: nodes on the longest path that ends in it, so roots have depth 1 (Table 2).

    >>> depths((0, 0b1, 0b1, 0b110))
    [1, 2, 2, 3]
    """
    result = [0] * len(predecessors)
    for node in topological_order(predecessors):
        result[node] = max((result[above] for above in bits(predecessors[node])), default=0) + 1
    return result


def ancestors(predecessors: Sequence[int]) -> list[int]:
    """Transitive closure: for every node, all nodes from which a path leads to it.

    >>> ancestors((0, 0b1, 0b10)) == [0, 0b1, 0b11]
    True
    """
    result = [0] * len(predecessors)
    for node in topological_order(predecessors):
        above = mask = predecessors[node]
        while mask:
            low = mask & -mask
            above |= result[low.bit_length() - 1]
            mask ^= low
        result[node] = above
    return result


def successors(predecessors: Sequence[int]) -> tuple[int, ...]:
    """The reversed graph: for every node, the nodes that directly depend on it.

    >>> successors((0, 0b1, 0b1)) == (0b110, 0, 0)
    True
    """
    result = [0] * len(predecessors)
    for node, mask in enumerate(predecessors):
        for above in bits(mask):
            result[above] |= 1 << node
    return tuple(result)


def neighbours(predecessors: Sequence[int]) -> list[int]:
    """For every node, the nodes joined to it by an edge in either direction.

    >>> neighbours((0, 0b1, 0)) == [0b10, 0b1, 0]
    True
    """
    return [above | below for above, below in zip(predecessors, successors(predecessors), strict=True)]


def parts(adjacent: Sequence[int], nodes: int) -> list[int]:
    """Connected parts of the set `nodes` under the symmetric relation `adjacent`, in order of lowest member.

    >>> parts([0b10, 0b1, 0], 0b111) == [0b11, 0b100]
    True
    """
    result = []
    while nodes:
        part, frontier = 0, nodes & -nodes
        while frontier:
            part |= frontier
            reached, mask = 0, frontier
            while mask:
                low = mask & -mask
                reached |= adjacent[low.bit_length() - 1]
                mask ^= low
            frontier = reached & nodes & ~part
        result.append(part)
        nodes &= ~part
    return result


def components(predecessors: Sequence[int]) -> list[int]:
    """Weakly connected components as sets of nodes.

    >>> components((0, 0b1, 0)) == [0b11, 0b100]
    True
    """
    return parts(neighbours(predecessors), (1 << len(predecessors)) - 1)


def augment(node: int, closure: Sequence[int], matched: dict[int, int], seen: int) -> tuple[bool, int]:
    """Match `node` to an ancestor (`closure`) along an augmenting path. Returns whether it succeeded, and the
    ancestors `seen` so far. Only a success changes `matched`, the descendant of each matched ancestor.

    >>> matched = {0: 1}
    >>> augment(2, [0, 0b1, 0b1], matched, 0), augment(2, [0, 0, 0b11], matched, 0)[0], matched
    ((False, 1), True, {0: 1, 1: 2})
    """
    options = closure[node] & ~seen
    while options:
        low = options & -options
        above = low.bit_length() - 1
        seen |= low
        is_free = above not in matched
        if not is_free:
            is_free, seen = augment(matched[above], closure, matched, seen)
        if is_free:
            matched[above] = node
            return True, seen
        options = closure[node] & ~seen
    return False, seen
