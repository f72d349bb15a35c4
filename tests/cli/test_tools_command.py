"""`taskloom tools`: published links beside those that follow from types."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Run

TOOLS = [
    {"id": "Listen", "input-type": ["audio"], "output-type": ["text"]},
    {"id": "Translate", "input-type": ["text"], "output-type": ["text"]},
]
FOLLOWS = {"source": "Listen", "target": "Translate", "type": "text"}


def written(folder: Path, *links: object) -> Path:
    file = folder / "graph_desc.json"
    file.write_text(json.dumps({"nodes": TOOLS, "links": links}), encoding="utf-8")
    return file


def test_links_that_follow_from_types_are_the_published_ones(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("tools", written(tmp_path, FOLLOWS))
    assert (code, out) == (0, "2 tools; 1 links published, 1 derived from types, 1 in both\n")


def test_differences_are_shown_and_are_a_negative_answer(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, {"source": "Translate", "target": "Listen", "type": "audio"})
    code, out, _ = run("tools", file)
    assert code == 1
    assert "only published" in out and "only derived" in out
    code, out, _ = run("tools", file, "--json")
    answer = json.loads(out)
    assert (code, answer["missing"], answer["extra"]) == (
        1,
        [["Translate", "Listen"]],
        [["Listen", "Translate"]],
    )


def test_what_is_no_resource_graph_is_refused(run: Run, tmp_path: Path) -> None:
    code, _, err = run("tools", tmp_path / "none.json")
    assert (code, "does not exist" in err) == (2, True)
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    code, _, err = run("tools", tmp_path / "list.json")
    assert (code, "must be an object" in err) == (2, True)
