"""Drawings of task graphs: lanes of text for a terminal, SVG for a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean
from unicodedata import combining, east_asian_width

from taskloom.resources.instances import Resource
from taskloom.taskgraph.bitmasks import bits, depths, successors, topological_order
from taskloom.taskgraph.reading.task_graphs import UNNAMED_RESOURCE
from taskloom.taskgraph.records.graph import TaskGraph


def draw_text(graph: TaskGraph, *, width: int = 100) -> str:
    """The graph as text, one line per subtask in a topological order, with lanes for its dependencies.

    A lane runs down from each subtask to its last consumer, with branches to the right.

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
        cells = [_lane_cell(index, column, lane, node, sources, waiting) for index, lane in enumerate(lanes)]
        for producer in needed:
            waiting[producer].discard(node)
        lanes = [lane if lane is not None and waiting[lane] else None for lane in lanes]
        lanes[column] = node if waiting[node] else None
        subtask = graph.nodes[node]
        text = f"{subtask.application}: {subtask.instruction}" if subtask.application else subtask.instruction
        producers = ", ".join(map(str, sorted(number[other] for other in needed)))
        suffix = f"  ← {producers}" if needed else ""
        rows.append(("".join(cells), f"{number[node]:>2} {' '.join(text.split())}{suffix}"))
    indent = max((len(drawn) for drawn, _ in rows), default=0)
    return "\n".join(cut(f"{drawn.ljust(indent)} {label}".rstrip(), width) for drawn, label in rows)


def _free_column(lanes: list[int | None], needed: set[int]) -> int:
    start = max((index for index, lane in enumerate(lanes) if lane in needed), default=-1) + 1
    return next((index for index in range(start, len(lanes)) if lanes[index] is None), len(lanes))


def _lane_cell(
    index: int, column: int, lane: int | None, node: int, sources: list[int], waiting: dict[int, set[int]]
) -> str:
    """Two characters: the lane in the row of `node`, and the connection to the next lane."""
    is_crossed = bool(sources) and sources[0] <= index < column
    joint = "─" if is_crossed else " "
    if index == column:
        return "● "
    if index in sources and lane is not None:
        ends = waiting[lane] == {node}
        first = index == sources[0]
        return (("╰" if ends else "├") if first else ("┴" if ends else "┼")) + joint
    if lane is not None:
        return ("┼" if is_crossed else "│") + joint
    return joint * 2


def cut(line: str, width: int) -> str:
    """`line` in at most `width` characters, with an ellipsis at the end if it is cut.

    >>> cut("export the table", 10), cut("export", 10)
    ('export th…', 'export')
    """
    return line if len(line) <= width else line[: width - 1] + "…"


_COLOURS = ("#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#bde0fe", "#ffd6a5", "#d9ed92")
_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _LABEL_WIDTH = 230, 82, 184, 22, 16, 136
_LANE_HEIGHT, _ARROW_STEP = 22, 14
_SWEEPS = 3
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
)
_TEXT_WIDTH, _INSTRUCTION_LINES = _BOX_WIDTH - 18, 3
_LETTERS, _BOLD_LETTERS, _LABEL_LETTERS = 11, 12.1, 9.5


@dataclass(frozen=True, slots=True)
class _Item:
    """An entry of a column: a subtask, or a lane through which the edges of an earlier subtask pass."""

    node: int
    column: int
    is_lane: bool = False

    def height(self, predecessors: Sequence[int]) -> int:
        """Height in pixels; a box has room for a labelled arrow per dependency."""
        if self.is_lane:
            return _LANE_HEIGHT
        return max(_BOX_HEIGHT, _ARROW_STEP * predecessors[self.node].bit_count() + 8)


def draw_svg(graph: TaskGraph, numbers: Mapping[str, int] | None = None) -> str:
    """The graph as an SVG picture: one column per depth, coloured by application, resources on the edges.

    Subtasks of a column are placed near their neighbours, and an edge over several columns has its own lane
    between the boxes, which separates edges. Edges are labelled with their resources where they arrive, once
    for edges with the same resources. `numbers` are those of the subtasks by `instance_id`; by default their
    positions in a topological order.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> draw_svg(read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)).count("<rect")
    2
    """
    predecessors = graph.predecessors
    place = _places(predecessors)
    width = max((x for x, _ in place.values()), default=0) + _BOX_WIDTH + _MARGIN
    height = max((y + item.height(predecessors) // 2 for item, (_, y) in place.items()), default=0) + _MARGIN
    header = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width}'
        f' {height}" font-family="sans-serif" font-size="11">'
    )
    lines = [header, _ARROW, *_edges(graph, place, predecessors)]
    applications = list(dict.fromkeys(node.application for node in graph.nodes))
    order = enumerate(topological_order(predecessors), start=1)
    numbers = numbers or {graph.nodes[node].instance_id: number for number, node in order}
    for item, (x, middle) in place.items():
        if item.is_lane:
            continue
        height = item.height(predecessors)
        y = middle - height // 2
        subtask = graph.nodes[item.node]
        colour = _COLOURS[applications.index(subtask.application) % len(_COLOURS)]
        instruction = wrapped(_printable(subtask.instruction), _TEXT_WIDTH, _LETTERS, _INSTRUCTION_LINES)
        texts = "".join(
            f'<text x="{x + 9}" y="{y + 36 + 15 * row}">{escape(line)}</text>'
            for row, line in enumerate(instruction)
        )
        head = f"{numbers.get(subtask.instance_id, '')} {subtask.application}".strip()
        head = fitted(_printable(head), _TEXT_WIDTH, _BOLD_LETTERS)
        lines.append(
            f'<g data-node="{escape(_printable(subtask.instance_id), quote=True)}">'
            f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{height}" rx="6" fill="{colour}"/>'
            f'<text x="{x + 9}" y="{y + 18}" font-weight="bold">{escape(head)}</text>'
            f"{texts}<title>{escape(_printable(subtask.instruction))}</title></g>"
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _places(predecessors: tuple[int, ...]) -> dict[_Item, tuple[int, int]]:
    """Left edge and vertical centre of every item, in pixels."""
    columns = _columns(predecessors)
    heights = [
        sum(item.height(predecessors) for item in items) + _GAP_Y * (len(items) - 1) for items in columns
    ]
    place: dict[_Item, tuple[int, int]] = {}
    for column, items in enumerate(columns):
        top = _MARGIN + (max(heights) - heights[column]) // 2
        for item in items:
            height = item.height(predecessors)
            place[item] = (_MARGIN + column * (_BOX_WIDTH + _GAP_X), top + height // 2)
            top += height + _GAP_Y
    return place


def _columns(predecessors: tuple[int, ...]) -> list[list[_Item]]:
    """Subtasks by depth with the lanes between them, each column sorted by the positions of neighbours."""
    depth = depths(predecessors)
    columns: list[list[_Item]] = [[] for _ in range(max(depth, default=0))]
    before: dict[_Item, list[_Item]] = {}
    for node in topological_order(predecessors):
        item = _Item(node, depth[node] - 1)
        columns[item.column].append(item)
        before[item] = []
        for producer in bits(predecessors[node]):
            path = _path_items(producer, depth[producer] - 1, item.column)
            for earlier, later in zip(path, (*path[1:], item), strict=True):
                if later not in before:
                    columns[later.column].append(later)
                    before[later] = []
                if earlier not in before[later]:
                    before[later].append(earlier)
    after: dict[_Item, list[_Item]] = {item: [] for item in before}
    for item, earlier_items in before.items():
        for earlier in earlier_items:
            after[earlier].append(item)
    height = {item: value for items in columns for item, value in _relative_positions(items)}
    for sweep in range(_SWEEPS):
        neighbours = after if sweep % 2 else before
        for items in reversed(columns) if sweep % 2 else columns:
            means = {item: fmean([height[near] for near in neighbours[item] or [item]]) for item in items}
            items.sort(key=means.__getitem__)
            height |= dict(_relative_positions(items))
    return columns


def _path_items(producer: int, start: int, end: int) -> tuple[_Item, ...]:
    lanes = (_Item(producer, column, is_lane=True) for column in range(start + 1, end))
    return (_Item(producer, start), *lanes)


def _relative_positions(items: list[_Item]) -> Iterable[tuple[_Item, float]]:
    return ((item, (index + 0.5) / len(items)) for index, item in enumerate(items))


def _edges(
    graph: TaskGraph, place: Mapping[_Item, tuple[int, int]], predecessors: Sequence[int]
) -> list[str]:
    index = {node.instance_id: position for position, node in enumerate(graph.nodes)}
    items = {item.node: item for item in place if not item.is_lane}
    flows: dict[tuple[int, int], list[Resource]] = {}
    for edge in graph.edges:
        flows.setdefault((index[edge.producer], index[edge.consumer]), []).append(edge.resource)
    paths = {
        (producer, consumer): _path_items(producer, items[producer].column, items[consumer].column)
        for producer, consumer in flows
    }
    arriving: dict[int, list[int]] = {}
    for producer, consumer in sorted(flows, key=lambda pair: place[paths[pair][-1]][1]):
        arriving.setdefault(consumer, []).append(producer)
    curves, labels = [], []
    labelled: set[tuple[int, str]] = set()
    for (producer, consumer), resources in flows.items():
        order = arriving[consumer]
        step = min(28, items[consumer].height(predecessors) // len(order))
        x, y = place[items[consumer]]
        y += round((order.index(producer) - (len(order) - 1) / 2) * step)
        named = [item for item in resources if item.category != UNNAMED_RESOURCE]
        title = _printable("; ".join(f"{item.category} {item.value}".strip() for item in named))
        curves.append(
            f'<path d="{_edge_path([place[item] for item in paths[producer, consumer]], (x, y))}"'
            f' fill="none" stroke="#555" marker-end="url(#arrow)"><title>{escape(title)}</title></path>'
        )
        if named and (consumer, title) not in labelled:
            labelled.add((consumer, title))
            labels += _label(named, x, y, two_lines=step >= 26)
    return [*curves, *labels]


def _edge_path(places: list[tuple[int, int]], end: tuple[int, int]) -> str:
    x, y = places[0][0] + _BOX_WIDTH, places[0][1]
    parts = [f"M{x} {y}"]
    for next_x, next_y in (*((left + _BOX_WIDTH, height) for left, height in places[1:]), end):
        bend = x + _GAP_X - _LABEL_WIDTH
        if next_y != y:
            middle = (x + bend) // 2
            parts.append(f"C{middle} {y} {middle} {next_y} {bend} {next_y}")
        parts.append(f"L{next_x} {next_y}")
        x, y = next_x, next_y
    return "".join(parts)


def _label(resources: list[Resource], x: int, y: int, *, two_lines: bool) -> list[str]:
    first = resources[0]
    name = first.value.rsplit("/", 1)[-1]
    more = f" (+{len(resources) - 1})" if len(resources) > 1 else ""
    if two_lines and name:
        texts = [(y - 5, name, more), (y + 12, first.category, "")]
    else:
        texts = [(y - 5, f"{first.category} {name}".strip(), more)]
    return [
        f'<text x="{x - 10}" y="{height}" text-anchor="end" font-size="{_LABEL_LETTERS}" fill="#555">'
        f"{escape(fitted(_printable(text), _LABEL_WIDTH - 14 - text_width(rest, _LABEL_LETTERS), _LABEL_LETTERS) + rest)}</text>"  # noqa: E501
        for height, text, rest in texts
    ]


def _printable(text: str) -> str:
    """`text` without the control characters that XML does not allow."""
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text
    )


_LETTER_WIDTHS = {
    **dict.fromkeys("ijlI.,:;'|! ", 0.32),
    **dict.fromkeys('frt-()[]{}/\\`"_', 0.52),
    **dict.fromkeys("mw@%WMOQ…", 1.0),
    **dict.fromkeys("ABCDEFGHJKLNPRSTUVXYZ+=<>~&", 0.8),
}
_ORDINARY, _WIDE, _OTHER = 0.64, 1.25, 0.85


def text_width(text: str, size: float) -> float:
    """The greatest width of `text` in pixels, with letters of `size` pixels.

    >>> text_width("ill", 10) < text_width("www", 10) < text_width("表計算", 10)
    True
    """
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if combining(letter):
        return 0.0
    if letter in _LETTER_WIDTHS:
        return _LETTER_WIDTHS[letter]
    if letter.isascii():
        return _ORDINARY
    return _WIDE if east_asian_width(letter) in "WF" else _OTHER


def fitted(text: str, pixels: float, size: float) -> str:
    """`text` on one line of at most `pixels`, with an ellipsis at the end if it is cut.

    >>> fitted("export the table", 60, 10), fitted("export", 60, 10)
    ('export t…', 'export')
    """
    line = " ".join(text.split())
    if text_width(line, size) <= pixels:
        return line
    while line and text_width(line + "…", size) > pixels:
        line = line[:-1]
    return line.rstrip(" ,;") + "…"


def wrapped(text: str, pixels: float, size: float, lines: int) -> list[str]:
    """`text` on at most `lines` lines, broken between words if possible; what does not fit is cut.

    >>> wrapped("export the table", 70, 10, 2), wrapped("export the table", 70, 10, 1)
    (['export the', 'table'], ['export the…'])
    """
    words = text.split()
    finished: list[str] = []
    while words and len(finished) < lines - 1:
        line = ""
        while words and text_width(f"{line} {words[0]}".lstrip(), size) <= pixels:
            line = f"{line} {words.pop(0)}".lstrip()
        if not line:
            word = words[0]
            ends = (count for count in range(1, len(word)) if text_width(word[: count + 1], size) > pixels)
            end = next(ends, len(word))
            line, words[0] = word[:end], word[end:]
        finished.append(line)
    if words or not finished:
        finished.append(fitted(" ".join(words), pixels, size))
    return finished
