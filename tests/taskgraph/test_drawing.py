"""Drawings show every subtask and dependency."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from taskloom.taskgraph.drawing import cut, draw_svg, draw_text, text_width
from taskloom.taskgraph.reading.task_graphs import read_task_graph
from tests.taskgraph.small_graphs import graphs, shaped

SVG = "{http://www.w3.org/2000/svg}"


def test_draws_a_diamond_with_lanes() -> None:
    drawn = draw_text(shaped((0, 0b1, 0b1, 0b110), "aabb"))
    assert drawn.splitlines() == [
        "●         1 a: Do s0.",
        "├─●       2 a: Do s1.  ← 1",
        "╰─┼─●     3 b: Do s2.  ← 1",
        "  ╰─┴─●   4 b: Do s3.  ← 2, 3",
    ]


@given(graphs())
def test_every_line_names_the_subtasks_it_needs(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors)
    lines = draw_text(graph, width=1000).splitlines()
    assert len(lines) == len(predecessors)
    numbers = {line.split("Do ")[1].split(".")[0]: position for position, line in enumerate(lines, start=1)}
    for line in lines:
        name = line.split("Do ")[1].split(".")[0]
        shown = line.partition("← ")[2]
        needed = sorted(numbers[producer] for producer, consumer in graph.pairs if consumer == name)
        assert shown == ", ".join(map(str, needed))


@given(graphs())
def test_lanes_join_each_subtask_to_what_it_needs(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors)
    for line in draw_text(graph, width=1000).splitlines():
        left = line.split("●")[0]
        assert ("─" in left) == ("←" in line)


def test_cuts_long_lines() -> None:
    assert all(len(line) <= 12 for line in draw_text(shaped((0, 0b1)), width=12).splitlines())


@given(graphs())
def test_svg_is_well_formed_and_holds_every_subtask_and_edge(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors)
    root = ElementTree.fromstring(draw_svg(graph))
    name = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{name}g")) == len(graph.nodes)
    assert len(root.findall(f"{name}path")) == len(graph.pairs)


def test_svg_escapes_text() -> None:
    graph = shaped((0,))
    marked = graph.nodes[0].model_copy(update={"instruction": "Write <b> & go", "application": '"x"'})
    ElementTree.fromstring(draw_svg(graph.model_copy(update={"nodes": (marked,)})))


def boxes(drawn: str) -> list[tuple[int, ...]]:
    return [
        tuple(int(item.get(side, "0")) for side in ("x", "y", "width", "height"))
        for item in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}rect")
    ]


def test_an_edge_over_several_columns_passes_between_the_boxes() -> None:
    drawn = draw_svg(shaped((0, 0b1, 0b11)))
    ends = [match.split(" ") for match in re.findall(r"L(\d+ \d+)", drawn)]
    straight = {int(y) for _, y in ends}
    middle = boxes(drawn)[1]
    passing = straight - {y + height // 2 for _, y, _, height in boxes(drawn)}
    assert any(not middle[1] <= y <= middle[1] + middle[3] for y in passing)


@given(graphs())
def test_boxes_never_overlap(predecessors: tuple[int, ...]) -> None:
    drawn = boxes(draw_svg(shaped(predecessors)))
    for (x, y, _, height), (other_x, other_y, _, _) in combinations(sorted(drawn), 2):
        assert x != other_x or other_y >= y + height


def test_svg_numbers_are_those_given() -> None:
    graph = shaped((0, 0b1), "ab")
    numbers = {node.instance_id: number for node, number in zip(graph.nodes, (7, 9), strict=True)}
    assert all(head in draw_svg(graph, numbers) for head in (">7 a<", ">9 b<"))
    assert all(head in draw_svg(graph) for head in (">1 a<", ">2 b<"))


@given(st.text(max_size=20), st.integers(1, 12))
def test_a_line_is_cut_to_its_width(line: str, width: int) -> None:
    shown = cut(line, width)
    assert len(shown) <= width
    assert shown == line or (shown.endswith("…") and line.startswith(shown[:-1]))


def texts_of(item: ElementTree.Element) -> list[tuple[int, int, str]]:
    return [
        (int(text.attrib["x"]), int(text.attrib["y"]), text.text or "") for text in item.iter(f"{SVG}text")
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), min_size=4, max_size=4))
def test_text_stays_inside_its_box_whatever_it_is(instructions: list[str]) -> None:
    graph = shaped((0, 0b1, 0b1, 0b110), "aabb")
    told = [
        item.model_copy(update={"instruction": text, "application": text})
        for item, text in zip(graph.nodes, instructions, strict=True)
    ]
    for group in ElementTree.fromstring(draw_svg(graph.model_copy(update={"nodes": tuple(told)}))).iter(
        f"{SVG}g"
    ):
        box = group.find(f"{SVG}rect")
        assert box is not None
        left, top, width, height = (int(box.attrib[side]) for side in ("x", "y", "width", "height"))
        for x, y, text in texts_of(group):
            assert left < x
            assert x + text_width(text, 11) < left + width
            assert top < y < top + height


def test_arrows_have_room_for_their_labels_however_many_there_are() -> None:
    root = ElementTree.fromstring(draw_svg(shaped((0,) * 29 + ((1 << 29) - 1,))))
    labels = sorted(y for _, y, text in texts_of(root) if text.startswith("text_path"))
    assert len(labels) == 29
    assert all(later - earlier >= 13 for earlier, later in pairwise(labels))


def test_an_edge_that_names_no_resource_has_no_label() -> None:
    graph = read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)
    assert "resource" not in draw_svg(graph)


def test_line_breaks_do_not_break_a_drawing_of_text() -> None:
    graph = shaped((0, 0b1))
    broken = tuple(item.model_copy(update={"instruction": "Do\nthis\tnow"}) for item in graph.nodes)
    assert "Do this now" in draw_text(graph.model_copy(update={"nodes": broken}))
    assert len(draw_text(graph.model_copy(update={"nodes": broken})).splitlines()) == 2
