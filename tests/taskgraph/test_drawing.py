"""Drawings show every subtask and dependency."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given

from taskgraph.drawing import draw_svg, draw_text
from tests.taskgraph.small_graphs import graphs, shaped


def test_draws_a_diamond_with_lanes():
    drawn = draw_text(shaped((0, 0b1, 0b1, 0b110), "aabb"))
    assert drawn.splitlines() == [
        "●         1 a: Do s0.",
        "├─●       2 a: Do s1.  ← 1",
        "╰─┼─●     3 b: Do s2.  ← 1",
        "  ╰─┴─●   4 b: Do s3.  ← 2, 3",
    ]


@given(graphs())
def test_every_line_names_the_subtasks_it_needs(predecessors):
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
def test_lanes_join_each_subtask_to_what_it_needs(predecessors):
    graph = shaped(predecessors)
    for line in draw_text(graph, width=1000).splitlines():
        left = line.split("●")[0]
        assert ("─" in left) == ("←" in line)


def test_cuts_long_lines():
    assert all(len(line) <= 12 for line in draw_text(shaped((0, 0b1)), width=12).splitlines())


@given(graphs())
def test_svg_is_well_formed_and_holds_every_subtask_and_edge(predecessors):
    graph = shaped(predecessors)
    root = ElementTree.fromstring(draw_svg(graph))
    name = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{name}g")) == len(graph.nodes)
    assert len(root.findall(f"{name}path")) == len(graph.pairs)


def test_svg_escapes_text():
    graph = shaped((0,))
    marked = graph.nodes[0].model_copy(update={"instruction": "Write <b> & go", "application": '"x"'})
    ElementTree.fromstring(draw_svg(graph.model_copy(update={"nodes": (marked,)})))
