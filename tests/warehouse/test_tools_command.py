"""`taskloom tools`: resource graphs with derived links, of published files and of the pool."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from taskloom.cli.main import create_app
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.importing.tool_graphs import compared, derived_graph, read_tool_graph, tool_graph_of
from tests.warehouse import foreign
from tests.warehouse.sample_parts import subtask

GRAPH = {
    "nodes": [
        {"id": "Listen", "input-type": ["audio"], "output-type": ["text"]},
        {"id": "Translate", "input-type": ["text"], "output-type": ["text"]},
        {"id": "Describe", "input-type": ["image", "text"], "output-type": ["text", "image"]},
    ],
    "links": [{"source": "Listen", "target": "Translate", "type": "text"}],
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(create_app(), ["tools", *arguments])


def test_the_written_graph_has_a_link_for_every_type_that_passes(tmp_path: Path) -> None:
    path = foreign.write(tmp_path, "graph_desc.json", GRAPH)

    done = run(str(path), "--out", str(tmp_path / "derived.json"))

    assert done.exit_code == 1
    assert "3 tools; 1 links published, 4 derived from types, 1 in both" in done.output
    links = json.loads((tmp_path / "derived.json").read_text())["links"]
    assert sorted((link["source"], link["target"], link["type"]) for link in links) == [
        ("Describe", "Translate", "text"),
        ("Listen", "Describe", "text"),
        ("Listen", "Translate", "text"),
        ("Translate", "Describe", "text"),
    ]
    again = compared(read_tool_graph(tmp_path / "derived.json"))
    assert (again.common, again.missing, again.extra) == (4, (), ())


def test_tools_without_types_may_follow_each_other(tmp_path: Path) -> None:
    tools = [{"id": name, "parameters": [{"name": "city"}]} for name in ("Weather", "Hotel")]
    path = foreign.write(tmp_path, "graph_desc.json", {"nodes": tools, "links": []})

    assert json.loads(run(str(path), "--json").output)["derived"] == 2


def test_subtasks_are_tools_whose_types_are_resource_categories() -> None:
    write = subtask("write")
    read = subtask("read", inputs=write.outputs, outputs=())
    other: list[Subtask] = [write, read, subtask("wait", outputs=())]

    (link,) = derived_graph(tool_graph_of(other)).links

    assert (link.source, link.target, link.type) == ("notes.write", "notes.read", "csv_path")


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = foreign.write(tmp_path, "graph_desc.json", GRAPH)

    done = run(str(path), "--out", str(path))

    assert done.exit_code != 0 and json.loads(path.read_text()) == GRAPH
