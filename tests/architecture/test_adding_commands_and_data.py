"""Rows of the table "Extending taskloom" about what reads and writes datasets: commands, formats, queries,
agents, metrics."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.cli import commands
from taskloom.omnieval import metrics
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.warehouse import exports, imports
from taskloom.warehouse.schema import TABLE_NAMED
from tests.architecture.conftest import Add


def test_a_command_with_its_options_is_one_file(add: Add) -> None:
    from scripts import documentation
    from taskloom.cli.main import create_app

    add(
        commands,
        "novel.py",
        "import typer\n\ndef register(app):\n    app.command('novel')(novel)\n\n"
        "def novel(loud: bool = typer.Option(False, '--loud', help='Shout.')):\n"
        '    """Say something new."""\n    typer.echo("NEW" if loud else "new")\n',
    )
    assert CliRunner().invoke(create_app(), ["novel", "--loud"]).output == "NEW\n"
    assert "| `--loud` | Shout. |" in documentation.command_line_page()


NOVEL_IMPORT = '''"""A new format: a task per line."""
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.warehouse.importing.imported_tasks import build_task

def read(path):
    for number, line in enumerate(path.read_text().splitlines()):
        node = BoundSubtask(
            instance_id=f"novel:{number}", subtask_id="novel", application="chrome", application_category="Web",
            instruction=line, parameters={}, inputs=(), outputs=(),
        )
        yield build_task(f"novel:{number}", [node], [], line, ValueError)
'''  # noqa: E501
NOVEL_EXPORT = '''"""A new format: a line per task."""
from taskloom.warehouse.exporting.exporting import ExportOutcome

def write(source, folder, options):
    lines = [task.instruction for task in source.tasks()]
    (folder / "novel.txt").write_text("\\n".join(lines))
    return ExportOutcome(counts={"tasks": len(lines)})
'''


def test_an_import_and_an_export_are_one_file_each(
    add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.cli.main import create_app

    add(imports, "novel.py", NOVEL_IMPORT)
    add(exports, "novel.py", NOVEL_EXPORT)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.txt").write_text("Open the page.\nClose the page.\n", encoding="utf-8")
    place = ["--warehouse", str(tmp_path / "warehouse")]
    came = CliRunner().invoke(create_app(), ["import", "novel", "tasks.txt", *place])
    assert "tasks: 2" in came.output, came.exception
    went = CliRunner().invoke(create_app(), ["export", "novel", "--out", "out", *place])
    assert went.exit_code == 0, went.exception
    lines = (tmp_path / "out" / "novel.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == ["Close the page.", "Open the page."]


def test_a_named_query_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from taskloom.warehouse import queries

    (tmp_path / "novel.sql").write_text("-- What is new.\nSELECT 1 AS one\n", encoding="utf-8")
    monkeypatch.setattr(queries, "files", lambda package: tmp_path)
    queries._queries_of.cache_clear()
    try:
        assert queries.named_query("novel").description == "What is new."
    finally:
        queries._queries_of.cache_clear()


def test_an_agent_is_any_module_with_a_factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from taskloom.flows.stages.agents import check_agent

    (tmp_path / "novel_agent.py").write_text(
        "class Agent:\n    async def decide(self, instruction, observation, history): ...\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    check_agent("novel_agent:Agent")


def test_an_agent_and_a_protocol_of_ours_are_one_file_each(add: Add) -> None:
    from taskloom.flows.stages.agents import check_agent
    from taskloom.omnieval import agents, protocols
    from taskloom.omnieval.lookup import PROTOCOLS

    add(agents, "novel.py", '"""New."""\ndef create(brief):\n    return None\n')
    add(protocols, "brief.py", '"""New."""\ndef answer(said):\n    return said[:2]\n')
    check_agent("novel")
    assert PROTOCOLS.load("brief").answer("yes") == "ye"


def test_a_metric_is_one_file(add: Add, tmp_path: Path) -> None:
    from taskloom.cli.main import create_app
    from taskloom.omnieval.scoring import GraphEvaluator, score_of
    from taskloom.synthesis.composition.composition import compose
    from taskloom.synthesis.composition.request import CompositionRequest
    from taskloom.taskgraph.records.evaluation_function import EvalResult, Evaluation
    from tests.synthesis.compositions import chain_pool

    def judge(node: BoundSubtask, since_step: int) -> Evaluation:
        return Evaluation(outcome="result", result=EvalResult(success=True, progress=1.0))

    add(
        metrics,
        "novelty.py",
        '"""How new it is."""\ndef measure(attempt):\n    return len(attempt.completed) / 4\n',
    )
    nodes, intents, fixtures = chain_pool("a", "b")
    (task,) = compose(nodes, intents, CompositionRequest(count=1), fixtures=fixtures)
    assert score_of(task.graph, [task.graph.nodes[0].instance_id]).further_metrics == {"novelty": 0.25}
    evaluator = GraphEvaluator(task.graph, judge)
    evaluator.after_action()
    outcome = evaluator.finish()
    assert outcome.further_metrics == {"novelty": 0.5}
    file = tmp_path / "graph.json"
    file.write_text('{"nodes": ["a", "b"], "edges": [["a", "b"]]}', encoding="utf-8")
    printed = CliRunner().invoke(create_app(), ["score", str(file), "--completed", "a"]).output
    assert "novelty" in printed
    assert "further_metrics" in {column.name for column in TABLE_NAMED["agent_runs"].columns}


def test_a_new_metric_breaks_no_test(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "novelty.py").write_text(
        '"""Steps for each subtask (section 4.1)."""\n\n\ndef measure(attempt):\n    return 7.5\n',
        encoding="utf-8",
    )
    (tmp_path / "novel_metric.py").write_text(
        f"from taskloom.omnieval import metrics\nmetrics.__path__.append({str(tmp_path / 'metrics')!r})\n",
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    scoring = re.compile(r"score_of|GraphEvaluator|further_metrics")
    files = [
        str(file)
        for file in (root / "tests" / "omnieval").rglob("test_*.py")
        if scoring.search(file.read_text())
    ]
    assert len(files) > 2
    tests = [*files, "tests/test_doctests.py", "-k", "omnieval"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "novel_metric", "-n", "0", "-p", "no:cacheprovider", *tests],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
