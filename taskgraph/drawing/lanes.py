"""Drawings of task graphs for a terminal: lanes of text."""

from taskloom.taskgraph.bitmasks import bits, successors, topological_order
from taskloom.taskgraph.records.graph import TaskGraph


def draw_text(graph: TaskGraph, *, width: int = 100) -> str:
    """The graph as text, one line per subtask in a topological order, with lanes for its dependencies.

    A lane runs down from each subtask to its last consumer and branches to the right where it is needed.

    >>> from taskloom.taskgraph.records.subtask import BoundSubtask
    >>> print(draw_text(TaskGraph(nodes=(BoundSubtask(instance_id="a", subtask_id="a", application="Notes",
    ...     application_category="Office", instruction="Write."),))))
    ●   1 Notes: Write.
    """
    predecessors = graph.predecessors
    order = topological_order(predecessors)
    number = {node: position for position, node in enumerate(order, start=1)}
    waiting = {node: set(bits(mask)) for node, mask in enumerate(successors(predecessors))}
    lanes: list[int | None] = []
    rows: list[tuple[str, str]] = []
    for node in order:
        needed = set(bits(predecessors[node]))
        column = _free_column(lanes, needed)
        lanes += [None] * (column + 1 - len(lanes))
        sources = [index for index, lane in enumerate(lanes) if lane in needed]
        cells = [_lane_cell(at, column, lane, node, sources, waiting) for at, lane in enumerate(lanes)]
        for producer in needed:
            waiting[producer].discard(node)
        lanes = [lane if lane is not None and waiting[lane] else None for lane in lanes]
        lanes[column] = node if waiting[node] else None
        subtask = graph.nodes[node]
        said = f"{subtask.application}: {subtask.instruction}" if subtask.application else subtask.instruction
        after = ", ".join(map(str, sorted(number[other] for other in needed)))
        after = f"  ← {after}" if needed else ""
        rows.append(("".join(cells), f"{number[node]:>2} {' '.join(said.split())}{after}"))
    left = max((len(drawn) for drawn, _ in rows), default=0)
    return "\n".join(cut(f"{drawn.ljust(left)} {label}".rstrip(), width) for drawn, label in rows)


def _free_column(lanes: list[int | None], needed: set[int]) -> int:
    start = max((index for index, lane in enumerate(lanes) if lane in needed), default=-1) + 1
    return next((index for index in range(start, len(lanes)) if lanes[index] is None), len(lanes))


def _lane_cell(
    index: int, column: int, lane: int | None, node: int, sources: list[int], waiting: dict[int, set[int]]
) -> str:
    """Two characters: what stands in a lane at the row of `node`, and what joins it to the next."""
    inside = bool(sources) and sources[0] <= index < column
    joint = "─" if inside else " "
    if index == column:
        return "● "
    if index in sources and lane is not None:
        ends = waiting[lane] == {node}
        first = index == sources[0]
        return (("╰" if ends else "├") if first else ("┴" if ends else "┼")) + joint
    if lane is not None:
        return ("┼" if inside else "│") + joint
    return joint * 2


def cut(line: str, width: int) -> str:
    """`line` in at most `width` characters, the last one an ellipsis where something is left out.

    >>> cut("export the table", 10), cut("export", 10)
    ('export th…', 'export')
    """
    return line if len(line) <= width else line[: width - 1] + "…"
