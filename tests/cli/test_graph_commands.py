"""`taskloom graph` and `score`: what they print, and what they refuse."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import networkx
import pytest

from tests.conftest import Run

DIAMOND = {
    "nodes": ["a", "b", "c", "d"],
    "edges": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]],
    "applications": {"a": "Excel", "b": "Excel", "c": "Word", "d": "Word"},
}


@pytest.fixture
def diamond(tmp_path: Path) -> Path:
    path = tmp_path / "diamond.json"
    path.write_text(json.dumps(DIAMOND))
    return path


def test_graph_prints_measures_orders_capabilities_and_a_drawing(run: Run, diamond: Path) -> None:
    code, out, err = run("graph", diamond)
    assert (code, err) == (0, "")
    assert "●         1 Excel: a" in out
    for line in (
        "dependency                4 edges  hard",
        "hierarchy                 depth 3  medium",
        "branch                    width 2  easy",
        "knowledge                 1 application category  easy",
        "successful orders         2",
        "maximum coherency         2",
        "capabilities (repaired)   dependency_identification",
    ):
        assert line in out


def test_graph_emits_json(run: Run, diamond: Path) -> None:
    code, out, _ = run("graph", diamond, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["complexity"]["width"] == 2
    assert facts["orders"] == facts["successful_orders"] == 2
    assert facts["capabilities"]["as_printed"] == ["dependency_identification"]
    assert facts["drawing"].startswith("●")


def test_graph_writes_svg_and_graphml(run: Run, diamond: Path, tmp_path: Path) -> None:
    svg, graphml = tmp_path / "d.svg", tmp_path / "d.graphml"
    assert run("graph", diamond, "--svg", svg, "--graphml", graphml)[0] == 0
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert networkx.read_graphml(graphml).number_of_edges() == 4


def test_graph_names_the_clash_where_no_order_works(run: Run, tmp_path: Path) -> None:
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


def test_score_prints_both_metrics(run: Run, diamond: Path) -> None:
    code, out, _ = run("score", diamond, "--completed", "a,b,c")
    assert code == 0
    assert "coverage rate         0.6250" in out
    assert "logical consistency   0.5000" in out
    facts = json.loads(run("score", diamond, "--completed", "a, b", "--json")[1])
    assert (facts["coverage_rate"], facts["logical_consistency"]) == (0.375, 0.5)


def test_score_and_drawing_say_where_applications_are_unknown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"nodes": ["a", "b"], "edges": [["a", "b"]]}))
    assert "some applications are not given" in run("score", path, "--completed", "a")[1]
    assert "●     1 a\n╰─●   2 b  ← 1" in run("graph", path)[1]


def test_score_says_undefined_where_it_is(run: Run, tmp_path: Path) -> None:
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
        ("a,a", "error: 'a' occurs twice in the sequence"),
    ],
)
def test_score_refuses_an_impossible_sequence(run: Run, diamond: Path, completed: str, message: str) -> None:
    code, out, err = run("score", diamond, "--completed", completed)
    assert (code, out) == (2, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('{"nodes": [NaN], "edges": []}', "NaN is not a JSON value"),
        ('{"nodes": ["a", "b"], "edges": {"a": ["b"], "a": []}}', "the key 'a' occurs twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "is a list of 2; give one task graph"),
        ('{"nodes": [' + "9" * 5000 + "]}", "is not JSON"),
        ('{"nodes": [], "edges": []}', "no subtasks"),
        ('{"nodes": [NaN], "edges": []}', "NaN is not a JSON value"),
        ('{"nodes": ["a", "b"], "edges": {"a": ["b"], "a": []}}', "the key 'a' occurs twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "is a list of 2; give one task graph"),
        ('{"nodes": [' + "9" * 5000 + "]}", "is not JSON"),
        ('{"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]}', "cycle: a → b → a"),
        ('{"nodes": [NaN], "edges": []}', "NaN is not a JSON value"),
        ('{"nodes": ["a", "b"], "edges": {"a": ["b"], "a": []}}', "the key 'a' occurs twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "is a list of 2; give one task graph"),
        ('{"nodes": [' + "9" * 5000 + "]}", "is not JSON"),
        ('{"nodes": ["a", "a"], "edges": []}', "occur twice"),
        ('{"nodes": [NaN], "edges": []}', "NaN is not a JSON value"),
        ('{"nodes": ["a", "b"], "edges": {"a": ["b"], "a": []}}', "the key 'a' occurs twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "is a list of 2; give one task graph"),
        ('{"nodes": [' + "9" * 5000 + "]}", "is not JSON"),
        ('{"nodes": ' + json.dumps([str(n) for n in range(31)]) + ', "edges": []}', "31 subtasks"),
    ],
)
def test_a_bad_file_is_one_clear_line(run: Run, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    code, out, err = run("graph", path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_missing_file_is_named(run: Run, tmp_path: Path) -> None:
    code, _, err = run("graph", tmp_path / "none.json")
    assert code == 2
    assert "none.json cannot be read: No such file" in err


def test_an_endless_file_is_refused(run: Run) -> None:
    code, _, err = run("graph", "/dev/zero")
    assert code == 2
    assert "is larger than 16 MiB" in err


def test_a_byte_order_mark_is_no_error(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_text(json.dumps(DIAMOND), encoding="utf-8-sig")
    assert run("graph", path)[0] == 0


def test_a_drawing_that_cannot_be_written_is_named(run: Run, diamond: Path, tmp_path: Path) -> None:
    for option in ("--svg", "--graphml"):
        code, out, err = run("graph", diamond, option, tmp_path / "none" / "d.xml")
        assert (code, out) == (2, "")
        assert "d.xml cannot be written: No such file" in err


def test_notes_say_where_edges_and_resources_do_not_agree(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "apart.json"
    resources = {
        "write": {"outputs": ["text_path:a.txt"]},
        "read": {"inputs": ["text_path:a.txt", "text_in_clipboard:b"]},
    }
    path.write_text(json.dumps({"nodes": ["write", "read"], "edges": [], "resources": resources}))
    notes = json.loads(run("graph", path, "--json")[1])["notes"]
    assert notes[:2] == [
        "read reads text_path a.txt, which write writes, but no edge says so",
        "read reads text_in_clipboard b, which no subtask writes: it is empty after a reset",
    ]
    assert "no edge says so" in run("score", path, "--completed", "read")[1]


def test_consistency_and_coherency_are_null_where_applications_are_unknown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"nodes": ["a", "b"], "edges": []}))
    assert json.loads(run("graph", path, "--json")[1])["maximum_coherency"] is None
    score = json.loads(run("score", path, "--completed", "a,b", "--json")[1])
    assert score["logical_consistency"] is None
    assert score["notes"] == [
        "some applications are not given: knowledge means little and coherency is undefined"
    ]
    assert "undefined (applications are not given)" in run("score", path, "--completed", "a,b")[1]


def test_ids_with_commas_are_given_as_a_json_list(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "commas.json"
    path.write_text(json.dumps({"nodes": ["a,b", 7], "edges": [["a,b", 7]]}))
    assert "2 of 2 subtasks" in run("score", path, "--completed", '["a,b", 7]')[1]


def test_score_says_where_no_order_is_successful(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "clash.json"
    resources = {
        "first": {"outputs": ["text_in_clipboard:one"]},
        "second": {"inputs": ["text_in_clipboard:one"], "outputs": ["text_in_clipboard:two"]},
        "third": {"inputs": ["text_in_clipboard:one", "text_in_clipboard:two"]},
    }
    applications = dict.fromkeys(resources, "Notes")
    path.write_text(json.dumps({"nodes": [*resources], "resources": resources, "applications": applications}))
    assert "undefined (no order of the task is successful)" in run("score", path, "--completed", "first")[1]
    assert json.loads(run("graph", path, "--json")[1])["maximum_coherency"] is None


def test_the_documented_plain_graph_is_read(run: Run, tmp_path: Path) -> None:
    documented = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    path = tmp_path / "plain.json"
    path.write_text(documented.split("```json\n")[1].split("```")[0])
    facts = json.loads(run("graph", path, "--json")[1])
    assert facts["edges"] == [["copy", "paste"], ["write", "copy"]]
    assert (facts["complexity"]["depth"], facts["maximum_coherency"], facts["notes"]) == (3, 1, [])


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (json.dumps(DIAMOND).encode(), 0, ""),
        (b"", 2, "standard input is not JSON"),
        (None, 2, "there is no standard input"),
    ],
)
def test_standard_input_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, given: bytes | None, code: int, said: str
) -> None:
    monkeypatch.setattr("sys.stdin", None if given is None else io.TextIOWrapper(io.BytesIO(given)))
    ended, _, err = run("graph", "-")
    assert ended == code
    assert said in err
