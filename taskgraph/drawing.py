"""Drawings of task graphs: lanes of text for a terminal, and SVG for a page."""

from __future__ import annotations

from html import escape
from textwrap import wrap

from resources.instances import Resource
from taskgraph.bitmasks import bits, depths, successors, topological_order
from taskgraph.graph import TaskGraph
from taskgraph.subtask import BoundSubtask

_COLOURS = ("#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#bde0fe", "#ffd6a5", "#d9ed92")
_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _LABEL_WIDTH = 220, 66, 190, 22, 16, 140


def draw_text(graph: TaskGraph, *, width: int = 100) -> str:
    """The graph as text, one line per subtask in a topological order, with lanes for its dependencies.

    A lane runs down from each subtask to its last consumer and branches to the right where it is needed.

    >>> from taskgraph.subtask import BoundSubtask
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
        cells = []
        sources = [index for index, lane in enumerate(lanes) if lane in needed]
        for index in range(max(len(lanes), column + 1)):
            lane = lanes[index] if index < len(lanes) else None
            cells.append(_lane_cell(index, column, lane, node, sources, waiting))
        for producer in needed:
            waiting[producer].discard(node)
        lanes += [None] * (column + 1 - len(lanes))
        lanes = [lane if lane is not None and waiting[lane] else None for lane in lanes]
        lanes[column] = node if waiting[node] else None
        subtask = graph.nodes[node]
        after = (
            f"  ← {', '.join(str(number[other]) for other in sorted(needed, key=number.__getitem__))}"
            if needed
            else ""
        )
        rows.append(("".join(cells), f"{number[node]:>2} {_named(subtask)}{after}"))
    left = max((len(drawn) for drawn, _ in rows), default=0)
    return "\n".join(_cut(f"{drawn.ljust(left)} {label}".rstrip(), width) for drawn, label in rows)


def _named(subtask: BoundSubtask) -> str:
    """What a subtask does, and where if that is known."""
    return f"{subtask.application}: {subtask.instruction}" if subtask.application else subtask.instruction


def _free_column(lanes: list[int | None], needed: set[int]) -> int:
    """The first free lane to the right of all lanes that lead to the subtask."""
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


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


def draw_svg(graph: TaskGraph) -> str:
    """The graph as an SVG picture: one column per depth, coloured by application, resources on the edges.

    Subtasks of a column stand near what they depend on, which keeps edges apart; an edge says what flows where it
    arrives, once for edges that bring the same.

    >>> from taskgraph.reading import read_task_graph
    >>> draw_svg(read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)).count("<rect")
    2
    """
    predecessors = graph.predecessors
    columns = _columns(predecessors)
    tallest = max((len(nodes) for nodes in columns), default=0)
    place = {
        node: (
            _MARGIN + column * (_BOX_WIDTH + _GAP_X),
            _MARGIN + row * (_BOX_HEIGHT + _GAP_Y) + (tallest - len(nodes)) * (_BOX_HEIGHT + _GAP_Y) // 2,
        )
        for column, nodes in enumerate(columns)
        for row, node in enumerate(nodes)
    }
    across = max((x for x, _ in place.values()), default=0) + _BOX_WIDTH + _MARGIN
    down = max((y for _, y in place.values()), default=0) + _BOX_HEIGHT + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
        ' font-family="sans-serif" font-size="11">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        *_edges(graph, place),
    ]
    applications = {
        name: index for index, name in enumerate(dict.fromkeys(n.application for n in graph.nodes))
    }
    for node, (x, y) in place.items():
        subtask = graph.nodes[node]
        colour = _COLOURS[applications[subtask.application] % len(_COLOURS)]
        texts = "".join(
            f'<text x="{x + 9}" y="{y + 36 + 15 * row}">{escape(line)}</text>'
            for row, line in enumerate(_lines(subtask.instruction, 32, 2))
        )
        lines.append(
            f'<g><rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" fill="{colour}"/>'
            f'<text x="{x + 9}" y="{y + 18}" font-weight="bold">{escape(_cut(subtask.application, 30))}</text>'
            f"{texts}<title>{escape(subtask.instruction)}</title></g>"
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _columns(predecessors: tuple[int, ...]) -> list[list[int]]:
    """Nodes by depth, each column sorted by where its nodes' predecessors stand."""
    depth = depths(predecessors)
    columns: dict[int, list[int]] = {}
    for node in topological_order(predecessors):
        columns.setdefault(depth[node], []).append(node)
    height: dict[int, float] = {}
    for _, nodes in sorted(columns.items()):
        wanted = {
            node: [height[other] for other in bits(predecessors[node])] or [index / max(1, len(nodes) - 1)]
            for index, node in enumerate(nodes)
        }
        nodes.sort(key=lambda node: sum(wanted[node]) / len(wanted[node]))
        height |= {node: (index + 0.5) / len(nodes) for index, node in enumerate(nodes)}
    return [nodes for _, nodes in sorted(columns.items())]


def _edges(graph: TaskGraph, place: dict[int, tuple[int, int]]) -> list[str]:
    """Curves from producers to consumers, and beside each arrow what flows."""
    index = {node.instance_id: position for position, node in enumerate(graph.nodes)}
    flows: dict[tuple[int, int], list[Resource]] = {}
    for edge in graph.edges:
        flows.setdefault((index[edge.producer], index[edge.consumer]), []).append(edge.resource)
    curves, labels = [], []
    arriving: dict[int, list[int]] = {}
    for producer, consumer in sorted(flows, key=lambda pair: place[pair[0]][1]):
        arriving.setdefault(consumer, []).append(producer)
    shown: set[tuple[int, str]] = set()
    for (producer, consumer), resources in flows.items():
        order = arriving[consumer]
        step = min(16, _BOX_HEIGHT // len(order))
        offset = round((order.index(producer) - (len(order) - 1) / 2) * step)
        x1, y1 = place[producer][0] + _BOX_WIDTH, place[producer][1] + _BOX_HEIGHT // 2
        x2, y2 = place[consumer][0], place[consumer][1] + _BOX_HEIGHT // 2 + offset
        bend = _GAP_X - _LABEL_WIDTH
        whole = "; ".join(f"{item.category} {item.value}".strip() for item in resources)
        curves.append(
            f'<path d="M{x1} {y1}C{x1 + bend} {y1} {x2 - _LABEL_WIDTH - bend} {y2} {x2 - _LABEL_WIDTH} {y2}L{x2} {y2}"'
            f' fill="none" stroke="#555" marker-end="url(#arrow)"><title>{escape(whole)}</title></path>'
        )
        short = f"{resources[0].category} {resources[0].value.rsplit('/', 1)[-1]}".strip()
        label = short if len(resources) == 1 else f"{short} (+{len(resources) - 1})"
        if (consumer, label) not in shown:
            shown.add((consumer, label))
            labels.append(
                f'<text x="{x2 - 10}" y="{y2 - 4}" text-anchor="end" font-size="9.5" fill="#555">'
                f"{escape(_cut(label, 27))}</text>"
            )
    return [*curves, *labels]


def _lines(text: str, width: int, most: int) -> list[str]:
    """`text` in at most `most` lines of `width` characters, the last one cut."""
    lines = wrap(text, width) or [""]
    return lines if len(lines) <= most else [*lines[: most - 1], _cut(" ".join(lines[most - 1 :]), width)]
