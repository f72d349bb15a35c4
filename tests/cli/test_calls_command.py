"""`taskloom calls` sums up the ledger and prunes it."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner

from taskloom.cli.commands.calls import register
from taskloom.flows.errors import CommandError
from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.ledger.ledger import Ledger, format_time
from taskloom.taskgraph.records.model_calls import ModelCall, ModelRole
from taskloom.warehouse.storage.extensions import load
from tests.model_clients.requests import PlainQuestion

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def fill(folder: Path, keys: list[str], role: ModelRole = ModelRole.SUMMARIZER) -> None:
    with Ledger(folder / "ledger.sqlite") as ledger:
        for number, key in enumerate(keys):
            refused = key.startswith("refused")
            request = first_request(PlainQuestion(key), stage="intents", item_id=key)
            call = ModelCall(
                key=key,
                outcome="refused" if refused else "answered",
                run_id=f"run-{number % 2}",
                stage="intents",
                item_id=key,
                role=role,
                provider="openai",
                model="m",
                input_tokens=100,
                cached_input_tokens=50,
                output_tokens=10,
                cost_usd=0.25,
                finished_at=format_time(MOMENT),
            )
            asyncio.run(ledger.record(call, request, "{}"))


def run(*arguments: str) -> str:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    result = CliRunner().invoke(app, ["calls", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_sums_up_by_stage_model_and_outcome(tmp_path: Path) -> None:
    fill(tmp_path, ["a", "b", "c", "refused-d"])
    rows = json.loads(run("--data", str(tmp_path), "--json"))
    assert [(row["stage"], row["model"], row["outcome"], row["calls"]) for row in rows] == [
        ("intents", "openai/m", "answered", 3),
        ("intents", "openai/m", "refused", 1),
    ]
    table = run("--data", str(tmp_path))
    assert "50%" in table
    assert "4 calls, $1.0000" in table
    assert "2 calls" in run("--data", str(tmp_path), "--run", "run-0")


def test_duckdb_reads_the_ledger_in_place_by_the_documented_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sql-cookbook.md").read_text()
    found = re.search(r'duckdb -cmd "(ATTACH \'taskloom-data/ledger\.sqlite\'.+?)"', page)
    assert found is not None
    fill(tmp_path / "taskloom-data", ["a", "b", "refused-c"])
    monkeypatch.chdir(tmp_path)
    with Ledger(tmp_path / "taskloom-data" / "ledger.sqlite"), duckdb.connect() as connection:
        load(connection, "sqlite_scanner")
        rows = connection.execute(found[1]).fetchall()
    assert sorted(rows) == [("intents", "m", "answered", 2, 0.5), ("intents", "m", "refused", 1, 0.25)]


def test_prunes_requests_and_keeps_replies(tmp_path: Path) -> None:
    fill(tmp_path, ["a", "b"])
    pruned = json.loads(run("prune", "--data", str(tmp_path), "--requests", "--json"))
    assert (pruned["calls"], pruned["requests"]) == (0, 2)
    assert "calls: 2" in run("prune", "--data", str(tmp_path), "--older-than", "1")


def test_a_folder_without_a_ledger_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no ledger"):
        run("--data", str(tmp_path))
