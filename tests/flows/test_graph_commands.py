"""`taskloom graph`, `score` and `plan`: what they print, and what they refuse."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import networkx
import pytest

from flows.cli import main
from resources.applications import ResourceDeclaration
from taskgraph.evaluation_function import EvaluationFunction
from taskgraph.subtask import Subtask
from warehouse.store import Warehouse

DIAMOND = {
    "nodes": ["a", "b", "c", "d"],
    "edges": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]],
    "applications": {"a": "Excel", "b": "Excel", "c": "Word", "d": "Word"},
}


@pytest.fixture
def run(capsys):
    """Run the command line; returns exit code, standard output and standard error."""

    def invoke(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return invoke


@pytest.fixture
def diamond(tmp_path):
    path = tmp_path / "diamond.json"
    path.write_text(json.dumps(DIAMOND))
    return path


@pytest.fixture
def pool(tmp_path):
    def subtask(number):
        path = ResourceDeclaration(category="text_path", parameter="text_path")
        made = ResourceDeclaration(category="text_path", parameter="made")
        return Subtask(
            subtask_id=f"app.step{number}",
            application=f"application {number}",
            application_category=f"category {number % 3}",
            instruction_template="Turn {text_path} into {made}." if number else "Write {made}.",
            available_parameters=tuple(
                {"text_path": f"{letter}{number}", "made": f"{letter}{number + 1}"} for letter in "xy"
            ),
            inputs=(path,) if number else (),
            outputs=(made,),
        )

    path = tmp_path / "pool.jsonl"
    path.write_text("\n".join(subtask(number).model_dump_json() for number in range(4)) + "\n")
    return path


def test_graph_prints_measures_orders_capabilities_and_a_drawing(run, diamond):
    code, out, err = run("graph", diamond)
    assert (code, err) == (0, "")
    assert "●         1 Excel: a" in out
    for line in (
        "dependency                4 edges  hard",
        "hierarchy                 depth 3  medium",
        "branch                    width 2  easy",
        "knowledge                 1 application categories  easy",
        "successful orders         2",
        "maximum coherency         2",
        "capabilities (repaired)   dependency_identification",
    ):
        assert line in out


def test_graph_emits_json(run, diamond):
    code, out, _ = run("graph", diamond, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["complexity"]["width"] == 2
    assert facts["orders"] == facts["successful_orders"] == 2
    assert facts["capabilities"]["as_printed"] == ["dependency_identification"]
    assert facts["drawing"].startswith("●")


def test_graph_writes_svg_and_graphml(run, diamond, tmp_path):
    svg, graphml = tmp_path / "d.svg", tmp_path / "d.graphml"
    assert run("graph", diamond, "--svg", svg, "--graphml", graphml)[0] == 0
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert networkx.read_graphml(graphml).number_of_edges() == 4


def test_graph_takes_the_papers_metadata_with_a_file_of_subtasks(run, tmp_path):
    task, subtasks = tmp_path / "task.json", tmp_path / "subtasks.json"
    task.write_text(json.dumps({"dag": {"nodes": ["x", "y"], "edges": {"x": ["y"], "y": []}}}))
    subtasks.write_text(json.dumps([{"id": "x", "application": "Excel"}, {"id": "y", "application": "Word"}]))
    code, out, _ = run("graph", task, "--subtasks", subtasks)
    assert code == 0
    assert "knowledge                 1 application categories" in out
    assert "say little" in run("graph", task)[1]


def test_graph_takes_the_papers_example_with_the_line_breaks_of_the_page(run, tmp_path):
    path = tmp_path / "paper.json"
    path.write_text(
        """{
  "task_instruction": "In Excel,
  export the document as a PDF.",
  "dag": {
    "nodes": ["a7310aa0-b194-77e3-5c36
      -996391a1bc7d", "df3fc68b-fa76-4e19-7da6
      -aef17792523b"],
    "edges": {
      "a7310aa0-b194-77e3-5c36
      -996391a1bc7d": ["df3fc68b-fa76-4e19-
          7da6-aef17792523b"],
      "df3fc68b-fa76-4e19-7da6
      -aef17792523b": []
    }
  },
  "task_intent": "Center Excel data
  and export to PDF"
}"""
    )
    facts = json.loads(run("graph", path, "--json")[1])
    assert facts["subtasks"] == [
        "a7310aa0-b194-77e3-5c36-996391a1bc7d",
        "df3fc68b-fa76-4e19-7da6-aef17792523b",
    ]
    assert facts["edges"] == [facts["subtasks"]]


def test_graph_names_the_clash_where_no_order_works(run, tmp_path):
    path = tmp_path / "clash.json"
    path.write_text(
        json.dumps(
            {
                "nodes": ["first", "second", "third"],
                "resources": {
                    "first": {"outputs": ["text_in_clipboard:one"]},
                    "second": {"inputs": ["text_in_clipboard:one"], "outputs": ["text_in_clipboard:two"]},
                    "third": {"inputs": ["text_in_clipboard:one", "text_in_clipboard:two"]},
                },
            }
        )
    )
    code, out, _ = run("graph", path)
    assert code == 0
    assert "second overwrites text_in_clipboard one of first which third still needs" in out


def test_score_prints_both_metrics(run, diamond):
    code, out, _ = run("score", diamond, "--completed", "a,b,c")
    assert code == 0
    assert "coverage rate         0.6250" in out
    assert "logical consistency   0.5000" in out
    facts = json.loads(run("score", diamond, "--completed", "a, b", "--json")[1])
    assert (facts["coverage_rate"], facts["logical_consistency"]) == (0.375, 0.5)


def test_score_and_drawing_say_where_applications_are_unknown(run, tmp_path):
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"nodes": ["a", "b"], "edges": [["a", "b"]]}))
    assert "some applications are not given" in run("score", path, "--completed", "a")[1]
    assert "●     1 a\n╰─●   2 b  ← 1" in run("graph", path)[1]


def test_score_says_undefined_where_it_is(run, tmp_path):
    path = tmp_path / "two.json"
    path.write_text(
        json.dumps({"nodes": ["a", "b"], "edges": [], "applications": {"a": "Word", "b": "Excel"}})
    )
    assert "undefined" in run("score", path, "--completed", "a")[1]
    assert json.loads(run("score", path, "--completed", "", "--json")[1])["logical_consistency"] is None


@pytest.mark.parametrize(
    ("completed", "message"),
    [
        ("a,d", "error: 'd' (number 2) depends on 'b', which is not completed before it."),
        ("a,x", "error: Number 2 of the sequence, 'x', is not in the graph."),
        ("a,a", "error: 'a' stands twice in the sequence"),
    ],
)
def test_score_refuses_an_impossible_sequence(run, diamond, completed, message):
    code, out, err = run("score", diamond, "--completed", completed)
    assert (code, out) == (2, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ('{"nodes": [], "edges": []}', "no subtasks"),
        ('{"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]}', "cycle: a → b → a"),
        ('{"nodes": ["a", "a"], "edges": []}', "stand twice"),
        ('{"nodes": ' + json.dumps([str(n) for n in range(31)]) + ', "edges": []}', "31 subtasks"),
    ],
)
def test_a_bad_file_is_one_clear_line(run, tmp_path, content, message):
    path = tmp_path / "bad.json"
    path.write_text(content)
    code, out, err = run("graph", path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_missing_file_is_named(run, tmp_path):
    code, _, err = run("graph", tmp_path / "none.json")
    assert code == 2
    assert "none.json cannot be read: No such file" in err


def test_plan_says_how_many_the_pool_can_supply(run, pool):
    code, out, _ = run("plan", "--pool", pool, "--want", "hierarchy=easy|medium", "--count", 5)
    assert code == 0
    assert "can be supplied   5 or more" in out


def test_plan_takes_ranges_of_values_beside_levels(run, pool):
    wish = "hierarchy=2..3,instruction=3,branch=easy"
    code, out, _ = run("plan", "--pool", pool, "--want", wish, "--count", 2, "--json")
    assert code == 0
    assert {cell.split("/")[1] for cell in json.loads(out)["per_cell"]} == {"medium"}
    code, out, _ = run("plan", "--pool", pool, "--want", "hierarchy=3,instruction=2", "--count", 2)
    assert code == 1
    assert "no graph has any levels with instruction 2, hierarchy 3" in out
    out = run("plan", "--pool", pool, "--want", "instruction=10..")[1]
    assert "needs at least 10 subtasks, and at most 9 are allowed; raise maximum_size" in out


def test_plan_counts_on_verified_subtasks_of_the_warehouse_only(run, pool, tmp_path):
    subtasks = [Subtask.model_validate_json(line) for line in pool.read_text().splitlines()]
    functions = [
        EvaluationFunction(function_id=f"f{n}", subtask_id=item.subtask_id, source="", accepted=n != 3)
        for n, item in enumerate(subtasks)
    ]
    place = tmp_path / "warehouse"
    with Warehouse(place) as warehouse:
        warehouse.write(subtasks)
    wish = ("plan", "--warehouse", place, "--want", "hierarchy=4", "--count", 1)
    code, out, _ = run(*wish)
    assert (code, "4 subtasks, none verified" in out) == (0, True)
    with Warehouse(place) as warehouse:
        warehouse.write(functions)
    code, out, _ = run(*wish)
    assert (code, "3 verified subtasks" in out) == (1, True)


def test_plan_names_the_bottleneck_and_the_nearest_cell(run, pool):
    code, out, _ = run("plan", "--pool", pool, "--want", "hierarchy=hard", "--json")
    account = json.loads(out)
    (shortfall,) = account["shortfalls"]
    assert code == 1
    assert shortfall["kind"] == "impossible_for_pool"
    assert shortfall["bottleneck"] == "text_path"
    assert shortfall["nearest"][3] == "medium"
    described = run("plan", "--pool", pool, "--want", "hierarchy=hard")[1]
    assert "explore next    text_path" in described


def test_plan_takes_a_capability_and_a_table(run, pool, tmp_path):
    code, out, _ = run("plan", "--pool", pool, "--capability", "long_range_planning", "--count", 3)
    assert code == 1
    assert "missing           3 of long_range_planning" in out
    table = tmp_path / "cells.csv"
    table.write_text("hierarchy,count\neasy,2\nmedium,1\n")
    code, out, _ = run("plan", "--pool", pool, "--cells", table)
    assert code == 0
    assert "can be supplied   3 or more" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--want", "depth=hard"), "'depth=hard' is no level; write one of dependency"),
        (("--want", "branch=huge"), "'branch=huge' is no level"),
        (("--want", "branch=4..3"), "the range 4..3 of branch is none"),
        (("--capability", "flying"), "there is no capability 'flying'; known: parallel_planning"),
        (("--capability", "parallel_planning", "--preset", "odd"), "no preset 'odd'"),
        (("--capability", "parallel_planning", "--want", "branch=hard"), "give one of"),
    ],
)
def test_plan_refuses_what_it_does_not_know(run, pool, arguments, message):
    code, _, err = run("plan", "--pool", pool, *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("hierarchy,count\nhard,none\n", "cells.csv:2: count is 'none'"),
        ("hierarchy,count\nhuge,1\n", "cells.csv:2: 'hierarchy=huge' is no level"),
        ("depth,count\nhard,1\n", "unknown column 'depth'"),
        ("hierarchy,count\n", "has no rows"),
    ],
)
def test_plan_names_the_line_of_a_bad_table(run, pool, tmp_path, table, message):
    path = tmp_path / "cells.csv"
    path.write_text(table)
    code, _, err = run("plan", "--pool", pool, "--cells", path)
    assert code == 2
    assert message in err


def test_plan_names_the_line_and_field_of_a_bad_pool(run, pool):
    pool.write_text(pool.read_text() + '{"subtask_id": "x"}\n')
    code, _, err = run("plan", "--pool", pool)
    assert code == 2
    assert "pool.jsonl:5: application: Field required" in err
