"""Whole builds against a model server: through its batches, and with a fifth of its answers going wrong."""

from __future__ import annotations

import io
import logging
import sqlite3
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pydantic import JsonValue

from taskloom.flows.settings import Settings, load_settings
from taskloom.flows.summary import RunSummary
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.warehouse.store import Warehouse
from tests.flows.overheard import OverheardAnswers
from tests.servers.models.behaviour import Behaviour, RandomScript
from tests.servers.models.server import LocalModelServer

pytestmark = pytest.mark.slow

KEY = "sk-test-51b7c04e9f2d8a63"
KEY_VARIABLE = "SERVED_RUN_KEY"
TROUBLE = (
    (0.03, Behaviour(seconds=0.1)),
    (0.03, Behaviour("status", status=429, headers={"retry-after": "0.02"}, message=f"slow down, {KEY}")),
    (0.03, Behaviour("status", status=500, message=f"failed for {KEY}")),
    (0.02, Behaviour("status", status=529)),
    (0.02, Behaviour("reset")),
    (0.02, Behaviour("cut_off")),
    (0.02, Behaviour("malformed")),
    (0.01, Behaviour("truncate")),
    (0.02, Behaviour("refuse")),
)
"""A fifth of all answers."""


def settings(data: Path, url: str = "", **models: JsonValue) -> Settings:
    served: JsonValue = {
        "default": {"provider": "openai", "model": "m", "base_url": url, "api_key_variable": KEY_VARIABLE},
        "retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.05, "pause_seconds": 0.05},
        **models,
    }
    return load_settings(
        assignments=[
            "platform=simulated",
            "composition.count=6",
            "intents.wanted=3",
            "replay_share=0.2",
            "critic.share=1",
            "applications=[simulated_notes, simulated_mail]",
        ],
        data=data,
        models=served if url else None,
    )


async def build(chosen: Settings) -> RunSummary:
    from taskloom.flows.build_dataset import build_dataset

    summary = await build_dataset(settings=chosen)
    assert isinstance(summary, RunSummary)
    return summary


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """What all loggers say, at the finest level."""
    log, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(log), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield log
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def texts_of_database(path: Path) -> Iterator[str]:
    """Every value of a SQLite file, unpacked."""
    connection = sqlite3.connect(path)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            for value in row:
                if isinstance(value, bytes):
                    with suppress(zlib.error):
                        value = zlib.decompress(value)
                    value = value.decode("utf-8", errors="replace")
                yield str(value)
    connection.close()


def texts_of_warehouse(store: Warehouse) -> Iterator[str]:
    """Every value of every table."""
    names = store.query("SELECT DISTINCT table_name FROM information_schema.columns").rows()
    for name in sorted(str(row[0]) for row in names):
        for row in store.query(f"SELECT * FROM {name}").rows():
            yield str(row)


async def test_calls_go_through_batches_and_the_dataset_is_the_same(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    direct = await build(settings(tmp_path / "direct"))
    answers = OverheardAnswers(monkeypatch, settings(tmp_path))
    async with LocalModelServer(answerer=answers, key=KEY) as server:
        batch: JsonValue = {"gather_seconds": 0.05, "poll_seconds": 0.01}
        batched = await build(settings(tmp_path / "batched", server.url, batch=batch))
    assert batched.funnel == direct.funnel
    assert server.batches.submitted
    with Ledger(tmp_path / "batched" / "ledger.sqlite") as ledger:
        by_role = {(call.role.value, call.batched) for call in ledger.calls()}
    assert by_role == {
        ("explorer", False),
        ("actor", False),
        ("evaluation_writer", True),
        ("intent_extractor", True),
        ("summarizer", True),
        ("dependency_judge", True),
        ("critic", True),
    }


async def test_a_build_with_a_fifth_of_all_answers_troubled_adds_up_and_keeps_the_key(
    prefect_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    data = tmp_path / "data"
    answers = OverheardAnswers(monkeypatch, settings(tmp_path))
    with everything_logged() as log:
        async with LocalModelServer(RandomScript(trouble=TROUBLE, seed=4), answers, key=KEY) as server:
            summary = await build(settings(data, server.url))
            monkeypatch.setenv(KEY_VARIABLE, KEY + "-wrong")
            with pytest.raises(Exception) as stopped:
                await build(settings(tmp_path / "rejected", server.url))
    shown = "".join(traceback.format_exception(stopped.value))

    with Warehouse(data / "warehouse", read_only=True) as store:

        def ids(sql: str) -> set[str]:
            return {str(row[0]) for row in store.query(sql).rows()}

        rejected = ids("SELECT item_id FROM rejections WHERE reason <> '' AND message <> ''")
        proposed = ids("SELECT subtask_id FROM subtasks")
        verified = ids("SELECT subtask_id FROM evaluation_functions WHERE accepted")
        assert proposed == verified | (proposed & rejected)
        assert not verified & rejected
        tasks = ids("SELECT task_id FROM tasks")
        validated = ids("SELECT task_id FROM tasks WHERE status = 'validated'")
        assert tasks == validated | (tasks & rejected)
        assert not validated & rejected
        assert verified
        kept = list(texts_of_warehouse(store))
    assert summary.funnel
    assert server.statistics.statuses[500] + server.statistics.statuses[429] > 0

    with Ledger(data / "ledger.sqlite") as ledger:
        assert sum(call.retries for call in ledger.calls()) > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    files += [path for path in prefect_home.rglob("*") if path.is_file()]
    places = [path.read_bytes().decode("utf-8", errors="replace") for path in files]
    for path in [*tmp_path.rglob("ledger.sqlite"), *prefect_home.glob("*.db")]:
        places += texts_of_database(path)
    places += [*kept, log.getvalue(), shown, summary.model_dump_json(), summary.describe()]
    assert not any(KEY in place for place in places)
    assert any("[key]" in place for place in places)
