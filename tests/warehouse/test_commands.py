"""The command line over a filled warehouse."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from taskloom.cli.main import create_app
from taskloom.warehouse.errors import QueryRefusedError
from taskloom.warehouse.querying import open_quickly
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def invoke() -> Run:
    app = create_app()

    def invoke(*arguments: str, text: str = "") -> Result:
        return CliRunner().invoke(app, list(arguments), input=text)

    return invoke


@pytest.fixture
def run(invoke: Run, published_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line over a published warehouse of this test alone."""
    shutil.copytree(published_template, tmp_path / "warehouse")
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", str(tmp_path / "warehouse"))
    return invoke


@pytest.fixture
def ask(invoke: Run, published_template: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line over a published warehouse that no test changes."""
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", str(published_template))
    return invoke


def files(place: Path) -> dict[str, int]:
    """The Parquet files of a warehouse with their sizes."""
    return {str(path.relative_to(place)): path.stat().st_size for path in place.rglob("*.parquet")}


def test_sql_answers_as_table_json_csv_and_parquet(ask: Run, tmp_path: Path) -> None:
    sql = "SELECT task_id, node_count FROM tasks"

    assert "task-1" in ask("sql", sql).stdout
    assert json.loads(ask("sql", sql, "--json").stdout) == [{"task_id": "task-1", "node_count": 2}]
    assert ask("sql", sql, "--csv").stdout == "task_id,node_count\ntask-1,2\n"
    ask("sql", sql, "--parquet", str(tmp_path / "a.parquet"))
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == [
        {"task_id": "task-1", "node_count": 2}
    ]


def test_a_long_answer_is_cut_with_one_line_and_a_long_query_is_stopped(ask: Run, tmp_path: Path) -> None:
    many = "SELECT * FROM range(1000000000000)"

    cut = ask("sql", many, "--csv", "--max-rows", "3")
    assert cut.stdout == "range\n0\n1\n2\n" and cut.exit_code == 0
    unasked = ask("sql", many, "--json")
    assert unasked.exit_code == 1 and len(json.loads(unasked.stdout)) == 100_000
    assert cut.stderr.splitlines() == [
        "There are more rows: only the first 3 are printed. --max-rows changes this (up to 512 MB);"
        " --parquet FILE writes all."
    ]
    assert ask("sql", "SELECT * FROM range(3)", "--csv", "--max-rows", "3").stderr == ""
    slow = ask("sql", f"SELECT count(*) FROM ({many}) AS a, ({many}) AS b WHERE a <> b", "--timeout", "0.2")
    assert "took longer than 0.2 s" in str(slow.exception)
    written = ask(
        "sql", "SELECT * FROM range(5)", "--max-rows", "3", "--parquet", str(tmp_path / "five.parquet")
    )
    assert written.exit_code == 0
    assert pyarrow.parquet.read_table(tmp_path / "five.parquet").num_rows == 5


def test_a_query_of_a_known_schema_loads_no_records(
    published_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert open_quickly(str(published_template)) is None
    with Warehouse(published_template, read_only=True) as opened:
        expected = opened.query("SELECT * FROM tasks").as_dicts()
    quick = open_quickly(str(published_template))
    assert quick is not None
    assert quick.first_rows("SELECT * FROM tasks", {}, None, None, None)[0].as_dicts() == expected
    with pytest.raises(QueryRefusedError):
        quick.first_rows("DELETE FROM tasks", {}, None, None, None)
    (tmp_path / "taskloom" / "schema.json").write_text('{"version": 4}')
    assert open_quickly(str(published_template)) is None
    loaded = "import sys, taskloom.warehouse.querying; print('pydantic' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True).stdout == b"False\n"
    )


def test_named_queries_take_parameters(ask: Run) -> None:
    answer = ask("sql", "task", "--param", "id=task-1", "--json")

    assert [row["application"] for row in json.loads(answer.stdout)] == ["notes", "sheets"]
    assert "funnel" in ask("sql", "--list").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("sql", "DROP TABLE tasks"),
        ("sql",),
        ("sql", "SELEC"),
        ("sql", "nosuchquery"),
        ("sql", "task", "--param", "id"),
        ("sql", "funnel", "--json", "--csv"),
        ("sql", "funnel", "--version", "v9"),
        ("diff", "v1", "v9"),
        ("export", "omnibench"),
        ("export", "--out", "x"),
        ("export", "omnibench", "--out", "x", "--split", "train=0.5,train=0.5"),
        ("import",),
        ("export", "nosuch", "--out", "x"),
        ("export", "omnibench", "--out", "x", "--level", "color=red"),
        ("export", "omnibench", "--out", "x", "--split", "train=much"),
        ("import", "osworld", "nowhere"),
    ],
)
def test_bad_input_ends_with_one_error_and_changes_nothing(
    ask: Run, published_template: Path, arguments: tuple[str, ...]
) -> None:
    before = files(published_template)

    result = ask(*arguments)

    assert result.exit_code != 0
    assert result.exception is not None and str(result.exception)
    assert not result.stdout
    assert not Path("x").exists()
    assert files(published_template) == before


@pytest.mark.slow
def test_versions_and_their_differences_are_listed(ask: Run) -> None:
    assert json.loads(ask("versions", "--json").stdout)[0]["name"] == "v1"
    assert "first" in ask("versions").stdout
    assert json.loads(ask("diff", "v1", "v1", "--json").stdout) == []


def test_export_and_import_work_together(run: Run, tmp_path: Path) -> None:
    exported = run("export", "omnibench", "--out", str(tmp_path / "out"), "--version", "v1")
    shortfall = run(
        "export", "omnibench", "--out", str(tmp_path / "short"), "--cell", "branch=hard:2,".rstrip(",")
    )
    imported = run("import", "crab", str(foreign.crab(tmp_path / "crab")))

    assert exported.exit_code == 0 and "tasks: 1" in exported.stdout
    assert shortfall.exit_code != 0
    assert "tasks: 1" in imported.stdout


@pytest.mark.parametrize("command", ["export", "import"])
def test_formats_are_listed_with_what_they_are(ask: Run, command: str) -> None:
    listed = json.loads(ask(command, "--list", "--json").stdout)

    assert {"omnibench", "osworld"} <= {item["name"] for item in listed}
    assert all(len(item["description"]) > 20 for item in listed)


def test_a_dry_run_counts_and_stores_nothing(run: Run, tmp_path: Path) -> None:
    result = run("import", "crab", str(foreign.crab(tmp_path / "crab")), "--dry-run", "--json")

    assert json.loads(result.stdout)["records"]["Task"] == 1
    assert json.loads(run("sql", "SELECT count(*) AS n FROM tasks", "--json").stdout) == [{"n": 1}]


def test_a_dry_run_lists_what_would_be_rejected(run: Run, tmp_path: Path) -> None:
    folder = foreign.crab(tmp_path / "crab")
    foreign.write(folder, "broken.json", {"id": "a"})

    answer = json.loads(run("import", "crab", str(folder), "--skip-broken", "--dry-run", "--json").stdout)
    said = run("import", "crab", str(folder), "--skip-broken", "--dry-run").stdout

    assert "Rejection" not in answer["records"] and len(answer["rejected"]) == 1
    assert f"{sum(answer['records'].values())} records are valid" in said
    assert f"rejected: {answer['rejected'][0]}" in said


def test_a_refused_import_makes_no_warehouse(ask: Run, tmp_path: Path) -> None:
    foreign.write(tmp_path, "in/chrome/a.json", {"id": "a"})
    fresh = tmp_path / "fresh"

    result = ask("import", "osworld", str(tmp_path / "in"), "--warehouse", str(fresh))

    assert result.exit_code != 0
    assert not fresh.exists()


def test_an_export_says_what_was_left_out_and_what_was_compared(ask: Run, tmp_path: Path) -> None:
    result = ask("export", "omnibench", "--out", str(tmp_path / "out"), "--split", "train=1", "--size", "4")

    assert "short in train: wanted 4 tasks, found 1" in result.stdout
    assert "sets: train 1, validation 0, test 0" in result.stdout
    assert "leaks: 0 (compared 1 instructions, 1 intents, 2 templates, 1 values)" in result.stdout
    assert result.exit_code == 1


def test_a_version_is_published_tagged_and_cleaned(run: Run) -> None:
    assert "published imported" in run("publish", "imported", "--description", "by hand").stdout
    assert run("publish", "imported").exit_code != 0
    assert run("versions", "tag", "stable", "imported").exit_code == 0
    first, second = json.loads(run("versions", "--json").stdout)
    assert (first["name"], second["name"], second["tags"]) == ("v1", "imported", ["stable"])
    assert run("sql", "SELECT count(*) AS n FROM tasks", "--version", "stable", "--json").exit_code == 0
    assert "versions: v1" in run("versions", "clean", "--keep", "1").stdout


@pytest.mark.parametrize("capability", ["parallel_planning", "long_range_planning", "all_capabilities"])
def test_an_export_by_capability_answers_in_words(ask: Run, tmp_path: Path, capability: str) -> None:
    result = ask("export", "omnibench", "--out", str(tmp_path / "out"), "--capability", capability)

    assert result.exit_code != 0
    message = str(result.exception)
    assert "No task meets the selection" in message or "Unknown capability" in message


def test_a_report_is_about_the_warehouse_that_is_named(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "report.html"

    assert run("report", "--out", str(page), "--warehouse", str(tmp_path / "warehouse")).exit_code == 0
    assert "task-1" in page.read_text() or "Prepare the report" in page.read_text()
    assert run("report", "--out", str(page), "--warehouse", str(tmp_path / "nowhere")).exit_code != 0


def test_tasks_that_a_published_collection_has_too_are_left_out(ask: Run, tmp_path: Path) -> None:
    known = "In notes, create 'a.csv', then in sheets, chart 'a.csv'."
    foreign.write(tmp_path, "bench/examples/os/x.json", {**foreign.OSWORLD, "instruction": known})
    foreign.write(tmp_path, "other/examples/os/x.json", foreign.OSWORLD)

    same = ask(
        "export", "omnibench", "--out", str(tmp_path / "a"), "--against", f"osworld:{tmp_path / 'bench'}"
    )
    other = ask(
        "export", "omnibench", "--out", str(tmp_path / "b"), "--against", f"osworld:{tmp_path / 'other'}"
    )

    assert same.exit_code != 0 and "resembles an instruction" in str(same.exception)
    assert other.exit_code == 0 and (tmp_path / "b").is_dir()
    assert f"compared with 1 instructions of osworld:{tmp_path / 'other'}: 0 tasks left out" in other.stdout
