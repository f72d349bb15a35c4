"""The forms of a task graph, and what is wrong with bad ones."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.taskgraph.errors import GraphInvalidError, TaskGraphError
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.reading.task_graphs import read_task_graph, require_single_producers
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from tests.taskgraph.small_graphs import file, linked, node, shaped

CATEGORIES = load_resource_categories()

KEYS = (
    "id",
    "nodes",
    "edges",
    "from",
    "to",
    "resource",
    "inputs",
    "category",
    "kind",
    "value",
    "a",
    "application",
)


def nested(inside: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=3)


def read(document: object) -> TaskGraph:
    return read_task_graph(document, CATEGORIES, lambda application: f"category of {application}")


def test_reads_our_own_graph_record_back() -> None:
    graph = shaped((0, 0b1, 0b1), "aab")
    assert read(graph.model_dump(mode="json")) == graph


def test_reads_a_plain_graph_with_applications_and_an_adjacency_object() -> None:
    graph = read({"nodes": ["x", 7], "edges": {"x": [7]}, "applications": {"x": "Notes"}})
    assert [item.instance_id for item in graph.nodes] == ["x", "7"]
    assert graph.pairs == (("x", "7"),)
    assert graph.nodes[0].application == "Notes"


def test_dependencies_follow_from_resources_where_no_edges_are_given() -> None:
    graph = read(
        {
            "nodes": ["write", "read"],
            "resources": {
                "write": {"outputs": ["text_path:a.txt"]},
                "read": {"consumed": [{"category": "text_path", "value": "a.txt"}]},
            },
        }
    )
    assert graph.edges == (Dependency(producer="write", consumer="read", resource=file("a.txt")),)
    assert graph.nodes[1].consumed == graph.nodes[1].inputs == (file("a.txt"),)


def test_edges_as_objects_may_name_their_resource() -> None:
    graph = read({"nodes": ["a", "b"], "edges": [{"from": "a", "to": "b", "resource": "csv_path:x.csv"}]})
    assert graph.edges[0].resource.value == "x.csv"


def test_what_an_edge_names_its_ends_write_and_read_so_that_it_can_be_overwritten() -> None:
    edges = [
        {"from": first, "to": second, "resource": f"text_in_clipboard:{first}"}
        for first, second in ("ab", "cd")
    ]
    graph = read({"nodes": ["a", "b", "c", "d"], "edges": edges})
    assert orders_of(graph).successful_count == 2


def test_reads_what_networkx_writes_as_node_link_data() -> None:
    graph = networkx.DiGraph([("a", "b")])
    graph.nodes["a"]["application"] = "Notes"
    found = read(networkx.node_link_data(graph, edges="edges"))
    assert found.pairs == (("a", "b"),)
    assert found.nodes[0].application == "Notes"


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3), nested))
def test_any_json_is_read_or_refused_with_a_message(value: object) -> None:
    for document in (value, {"nodes": value}, {"nodes": ["a", "b"], "edges": value}):
        for whole in (document, {"nodes": ["a"], "resources": {"a": value}}):
            try:
                read(whole)
            except TaskGraphError as error:
                assert str(error)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "a JSON object; this is a list"),
        ({"tasks": []}, "neither `graph`.*Its keys: tasks"),
        ({"nodes": [], "edges": []}, "no subtasks"),
        ({"nodes": ["a", "b", "c"], "edges": [["b", "c"], ["c", "b"], ["c", "a"]]}, "cycle: b → c → b"),
        ({"nodes": ["a"], "edges": [["a", "a"]]}, "subtask a depends on itself"),
        ({"nodes": ["a", "b", "a"], "edges": []}, "`nodes` contains ids that occur twice: a"),
        ({"nodes": ["a"], "edges": [["a", "z"]]}, "a → z names unknown subtasks: z"),
        ({"nodes": ["a", "b"], "edges": [["a"]]}, "does not have two ends: \\['a'\\]"),
        ({"nodes": ["a"], "edges": "a-b"}, "`edges` is text"),
        ({"nodes": ["a"], "edges": {"a": 5}}, "`edges.a` is '5', not a list of consumers"),
        ({"nodes": "ab", "edges": []}, "`nodes` is text; it must be a list"),
        ({"nodes": [{}], "edges": []}, "`nodes\\[0\\].id` is missing"),
        ({"nodes": ["a"], "edges": [], "applications": {"q": "Word"}}, "`applications` names .*: q"),
        (
            {"nodes": ["a"], "edges": [], "applications": ["Word"]},
            "`applications` must be an object, not a list",
        ),
        (
            {"nodes": ["a"], "resources": {"a": {"inputs": ["teleport_path:x"]}}},
            "a names the unknown resource category 'teleport_path'",
        ),
        (
            {"nodes": ["a"], "resources": {"a": {"inputs": "csv_path"}}},
            "`resources.a.inputs` is text; it must be a list",
        ),
        (
            {
                "nodes": ["a", "b", "c"],
                "resources": {
                    "a": {"outputs": ["csv_path:x"]},
                    "b": {"outputs": ["csv_path:x"]},
                    "c": {"inputs": ["csv_path:x"]},
                },
            },
            "c gets csv_path x from two producers, a and b",
        ),
        ({"nodes": [True], "edges": []}, "`nodes\\[0\\]` is true or false; an id is text or a whole number"),
        ({"nodes": ["a", " "], "edges": []}, "`nodes\\[1\\]` is blank"),
        ({"nodes": ["a"], "edges": [["a", None]]}, "`edges\\[0\\].consumer` is null"),
        ({"nodes": ["a"], "edges": {"a": [["b"]]}}, "`edges.a\\[0\\]` is a list; an id is text"),
        ({"nodes": ["a"], "edges": None}, "`edges` is null"),
        (
            {"nodes": ["a"], "edgs": [["a", "a"]]},
            "The graph has the unknown key 'edgs'; did you mean 'edges'",
        ),
        (
            {"nodes": ["a"], "links": [["a", "a"]]},
            "The graph has the unknown key 'links'. Known: edges, nodes",
        ),
        ({"nodes": ["a"], "applications": {"a": ["Word"]}}, "`applications.a` is a list; it must be text"),
        ({"nodes": ["a"], "resources": {"a": ["csv_path:x"]}}, "`resources.a` must be an object, not a list"),
        (
            {"nodes": ["a"], "resources": {"a": {"input": ["csv_path:x"]}}},
            "`resources.a` has the unknown key 'input'; did you mean 'inputs'",
        ),
        (
            {"nodes": ["a"], "resources": {"a": {"inputs": [3]}}},
            "`resources.a.inputs\\[0\\]` is a number; write",
        ),
        ({"nodes": ["a"], "resources": {"a": {"inputs": ["csv_pth:x"]}}}, "'csv_pth'.*catalogue \\(csv_path"),
        ({"nodes": ["a\x1b[31m"], "edges": []}, "'\\\\x1b', which cannot be printed"),
        ({"nodes": ["\ud800"], "edges": []}, "'\\\\ud800', which cannot be printed"),
        (
            {"nodes": ["a"], "edges": {"a": ["\ud800"]}},
            "`edges.a\\[0\\]` contains '\\\\ud800', which cannot be printed",
        ),
        ({"nodes": ["a"], "edges": {"\ud800": ["a"]}}, "contains '\\\\ud800', which cannot be printed"),
        (
            {"nodes": ["a", None], "edges": [["a", 1.5], 3]},
            (
                "`edges\\[0\\].consumer` is a number; .*`edges\\[1\\]` does not have two ends: 3; .*"
                "`nodes\\[1\\]` is null"
            ),
        ),
        ({"nodes": [[]] * 5}, "`nodes\\[2\\]` is a list; .* There are 2 more faults."),
        (
            {"nodes": ["a"], "resources": {"a": {"inputs": [{"category": "csv_path", "kind": "fil"}]}}},
            "`resources.a.inputs\\[0\\].kind` must be 'file', .* not 'fil'",
        ),
        ({"graph": None}, "The graph must be an object, not null"),
        (
            {"nodes": ["a", "b"], "resources": {name: {"outputs": ["csv_path:x"]} for name in "ab"}},
            "csv_path x has two producers, a and b",
        ),
    ],
)
def test_names_what_is_wrong(document: object, message: str) -> None:
    with pytest.raises(GraphInvalidError, match=message):
        read(document)


def test_a_row_of_the_warehouse_is_read_as_a_record() -> None:
    graph = linked(node("a", outputs=(file("x"),)), node("b", inputs=(file("x"),)))
    row = graph.model_dump(mode="json") | {"task_id": "t", "edge_count": 1}
    row["nodes"] = [item | {"parameters": [{"name": "n", "value": "v"}]} for item in row["nodes"]]
    found = read(row)
    assert found.edges == graph.edges
    assert found.nodes[0].parameters == {"n": "v"}


def test_names_what_is_wrong_with_a_record() -> None:
    twice = {"nodes": [node("a").model_dump(), node("a").model_dump()], "edges": []}
    with pytest.raises(GraphInvalidError, match="subtasks occur twice in the graph: a"):
        read(twice)
    with pytest.raises(GraphInvalidError, match=r"`nodes\[0\].application` is missing"):
        read({"nodes": [{"instance_id": "a", "subtask_id": "a"}]})


def test_a_disconnected_graph_is_sound() -> None:
    assert len(read({"nodes": ["a", "b"], "edges": []}).nodes) == 2


def test_two_producers_of_one_resource_are_refused_for_each_consumer() -> None:
    graph = linked(node("a", outputs=(file("x"),)), node("b", inputs=(file("x"),)))
    require_single_producers(graph)
    other = node("c", outputs=(file("x"),))
    second = Dependency(producer="c", consumer="b", resource=file("x"))
    both = graph.model_copy(update={"nodes": (*graph.nodes, other), "edges": (*graph.edges, second)})
    with pytest.raises(GraphInvalidError, match="b gets text_path x from two producers, a and c"):
        require_single_producers(both)


def test_networkx_sees_nodes_edges_and_resources() -> None:
    graph = TaskGraph.to_networkx(shaped((0, 0b1), "ab"))
    assert list(graph.edges(data="resources")) == [("s0", "s1", "text_path 0-1")]
    assert graph.nodes["s1"]["application"] == "b"
