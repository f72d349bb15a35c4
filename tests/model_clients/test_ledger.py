"""The ledger keeps what was paid for, once, for all processes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from taskloom.model_clients.errors import LedgerBrokenError
from taskloom.model_clients.ledger.ledger import Ledger, format_time, request_key
from taskloom.model_clients.ledger.upkeep import prune_ledger, read_call_text
from taskloom.model_clients.messages import ModelRequest
from taskloom.model_clients.settings import ModelPrices, ModelSettings
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import CallOutcome, ModelCall, ModelRole
from tests.model_clients.requests import model_at, request_for

REPLY = '{"answer": "x"}'
PICTURE = Screenshot.of(b"\x89PNG" + bytes(5000))


def record_of(
    key: str, outcome: CallOutcome = "answered", run_id: str = "r1", **changes: object
) -> ModelCall:
    fields = {
        "key": key,
        "outcome": outcome,
        "run_id": run_id,
        "stage": "intents",
        "role": ModelRole.ACTOR,
        "provider": "openai",
        "model": "m",
        "finish_reason": "stop" if outcome == "answered" else "",
        "input_tokens": 5,
        "finished_at": format_time(datetime.now(UTC)),
        **changes,
    }
    return ModelCall.model_validate(fields)


async def keep(ledger: Ledger, key: str, outcome: CallOutcome = "answered", **changes: Any) -> None:
    reply = REPLY if outcome == "answered" else None
    await ledger.record(record_of(key, outcome, **changes), request_for(key, (PICTURE,)), reply)


async def test_a_recorded_reply_is_found_by_another_process(tmp_path: Path, ledger: Ledger) -> None:
    await keep(ledger, "k1")
    code = (
        "import sys; from pathlib import Path; from taskloom.model_clients.ledger.ledger import Ledger;"
        "reply = Ledger(Path(sys.argv[1])).find('k1'); print(reply.text, reply.from_ledger)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ledger.path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == '{"answer": "x"} True'


async def test_equal_pictures_and_long_texts_are_stored_once(ledger: Ledger) -> None:
    for number in range(5):
        await keep(ledger, f"k{number}")
    kinds = sorted(str(row[0]) for row in ledger.select("SELECT media_type FROM contents"))
    assert kinds == ["image/png", "text/plain+zlib"]


async def test_a_failed_call_never_replaces_a_finished_one(ledger: Ledger) -> None:
    await keep(ledger, "k1")
    await keep(ledger, "k1", "failed")
    assert ledger.find("k1") is not None
    await keep(ledger, "k2", "failed")
    assert ledger.find("k2") is None
    await keep(ledger, "k2")
    assert [call.outcome for call in ledger.calls()] == ["answered", "answered"]


async def test_many_writes_at_once_are_all_kept(ledger: Ledger) -> None:
    await asyncio.gather(*(keep(ledger, f"k{number}") for number in range(300)))
    assert len(list(ledger.calls("r1"))) == 300


async def test_a_caller_that_is_cancelled_does_not_stop_the_write_or_the_writer(ledger: Ledger) -> None:
    tasks = [asyncio.create_task(keep(ledger, f"k{number}")) for number in range(50)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await keep(ledger, "last")
    assert len(list(ledger.calls())) == 51


async def test_one_bad_write_does_not_take_the_others_with_it(ledger: Ledger) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO nowhere VALUES (1)")

    bad = ledger.writer.submit(fail)
    await asyncio.gather(*(keep(ledger, f"k{number}") for number in range(20)))
    with pytest.raises(LedgerBrokenError, match="nowhere"):
        await asyncio.wrap_future(bad)
    assert len(list(ledger.calls())) == 20


async def test_a_lease_keeps_other_ledgers_out_until_it_is_given_back(ledger: Ledger) -> None:
    with Ledger(ledger.path) as other:
        assert await ledger.lease("k1", 60)
        assert await ledger.lease("k1", 60)
        assert not await other.lease("k1", 60)
        await ledger.release("k1")
        assert await other.lease("k1", 60)


async def test_the_lease_of_a_dead_process_is_free_at_once(ledger: Ledger) -> None:
    code = (
        "import asyncio, os, sys; from pathlib import Path; from taskloom.model_clients.ledger.ledger import"
        " Ledger;asyncio.run(Ledger(Path(sys.argv[1])).lease('k1', 3600)); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, ledger.path], check=False)
    assert ledger.select("SELECT COUNT(*) FROM leases") == [(1,)]
    assert await ledger.lease("k1", 60)


async def test_an_expired_lease_is_free(ledger: Ledger) -> None:
    with Ledger(ledger.path) as other:
        assert await ledger.lease("k1", -1)
        assert await other.lease("k1", 60)


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("not a ledger, but long enough to be looked at as one" * 100)
    with pytest.raises(LedgerBrokenError):
        Ledger(file)
    assert os.listdir(tmp_path).count("text.txt") == 1


def size_of(ledger: Ledger) -> int:
    return sum(file.stat().st_size for file in ledger.path.parent.glob(f"{ledger.path.name}*"))


async def test_pruning_forgets_what_is_named_and_what_nobody_needs(ledger: Ledger) -> None:
    await keep(ledger, "old", finished_at=format_time(datetime(2020, 1, 1, tzinfo=UTC)))
    await keep(ledger, "new")
    await keep(ledger, "bad", "failed")
    pruned = prune_ledger(ledger, older_than_days=30)
    assert (pruned.calls, pruned.contents) == (1, 0)
    assert prune_ledger(ledger, failed=True).calls == 1
    before = size_of(ledger)
    pruned = prune_ledger(ledger, requests=True)
    assert (pruned.requests, pruned.contents) == (1, 2)
    assert size_of(ledger) <= before
    assert ledger.find("new") is not None
    assert ledger.find("old") is None


def key_with(request: ModelRequest | None = None, **changes: Any) -> str:
    return request_key(model_at("http://one", **changes), request or request_for("one"))


@pytest.mark.parametrize(
    "other",
    [
        key_with(provider="anthropic"),
        key_with(model="m2"),
        key_with(base_url="http://two"),
        key_with(parameters={"temperature": 0.5}),
        key_with(structured_output="tool"),
        key_with(request_for("two")),
        key_with(request_for("one", (PICTURE,))),
        key_with(request_for("one").model_copy(update={"attempt": 1})),
        key_with(request_for("one").model_copy(update={"reply_schema": {"type": "string"}})),
    ],
)
def test_everything_that_determines_a_reply_changes_its_key(other: str) -> None:
    assert other != key_with()


@pytest.mark.parametrize(
    "other",
    [
        key_with(api_key_variable="ANOTHER"),
        key_with(total_seconds=1),
        key_with(prices=ModelPrices(input=1, output=2)),
        key_with(request_for("one").model_copy(update={"stage": "other", "item_id": "other"})),
    ],
)
def test_nothing_else_changes_it(other: str) -> None:
    assert other == key_with()


def test_pictures_enter_a_key_by_their_hash() -> None:
    with_bytes = request_for("one", (PICTURE,))
    hash_only = request_for("one", (Screenshot(sha256=PICTURE.sha256),))
    assert request_key(ModelSettings(provider="openai", model="m"), with_bytes) == request_key(
        ModelSettings(provider="openai", model="m"), hash_only
    )


FIRST_FORM = """
CREATE TABLE calls (
    key TEXT PRIMARY KEY, outcome TEXT NOT NULL, run_id TEXT NOT NULL, stage TEXT NOT NULL, item_id TEXT NOT NULL,
    model_role TEXT NOT NULL, provider TEXT NOT NULL, base_url TEXT NOT NULL, model TEXT NOT NULL,
    template TEXT NOT NULL, template_hash TEXT NOT NULL, attempt INTEGER NOT NULL, purpose TEXT NOT NULL,
    fallback INTEGER NOT NULL, finish_reason TEXT NOT NULL, error TEXT NOT NULL, input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL, cost_known INTEGER NOT NULL,
    latency_seconds REAL NOT NULL, retries INTEGER NOT NULL, batched INTEGER NOT NULL,
    provider_request_id TEXT NOT NULL, finished_at TEXT NOT NULL, request BLOB, reply TEXT
);
INSERT INTO calls VALUES ('k1', 'answered', 'r1', 'intents', 'i', 'actor', 'openai', '', 'm', 'trajectory', 'h', 0,
    'first', 0, 'stop', '', 7, 0, 0, 3, 0, 0.5, 1, 0.1, 0, 0, 'req', '2026-01-01T00:00:00Z', NULL,
    '{"text": "{}", "model": "m-2026-01-01", "usage": {"input_tokens": 7}}');
INSERT INTO calls VALUES ('k2', 'failed', 'r1', 'intents', 'i', 'actor', 'openai', '', 'm', 'trajectory', 'h', 0,
    'first', 0, '', 'gone', 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, '', '2026-01-01T00:00:00Z', NULL, NULL);
"""  # noqa: E501


def earlier_ledger(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_FORM)
    connection.close()
    return path


def test_a_ledger_of_the_first_form_is_brought_up_to_date_when_it_is_opened(tmp_path: Path) -> None:
    path = earlier_ledger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        with Ledger(path) as opened:
            found = opened.find("k1")
            assert found is not None
            assert (found.text, found.answering_model, found.tokens, found.cost_usd) == (
                "{}",
                "m-2026-01-01",
                10,
                0.5,
            )
            assert [(row.role, row.outcome) for row in opened.calls()] == [
                (ModelRole.ACTOR, "answered"),
                (ModelRole.ACTOR, "failed"),
            ]


async def test_what_was_said_is_read_without_changing_the_ledger(tmp_path: Path, ledger: Ledger) -> None:
    await keep(ledger, "k1")
    await keep(ledger, "k2", "failed")
    said = read_call_text(ledger.path, "k1")
    assert said is not None and said.reply == REPLY
    request = request_for("k1", (PICTURE,))
    assert ["".join(part.text for part in message.content) for message in said.messages] == [
        "".join(getattr(part, "text", "") for part in message.content) for message in request.messages
    ]
    assert PICTURE.sha256 in {part.image for message in said.messages for part in message.content}
    failed = read_call_text(ledger.path, "k2")
    assert failed is not None and failed.reply is None
    assert read_call_text(ledger.path, "none") is None
    assert read_call_text(tmp_path / "no ledger.sqlite", "k1") is None
    assert not (tmp_path / "no ledger.sqlite").exists()
    (tmp_path / "text").write_text("no database, but long enough to be looked at " * 9)
    with pytest.raises(LedgerBrokenError):
        read_call_text(tmp_path / "text", "k1")
