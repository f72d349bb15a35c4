"""Chaos, kills and keys: nothing is lost, doubled, paid for twice or leaked."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path

import pytest

from taskloom.model_clients.errors import CallFailedError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from tests.model_clients.requests import (
    KEY,
    KEY_VARIABLE,
    PlainQuestion,
    call_settings,
    model_at,
    verdict_about,
)
from tests.servers.models.behaviour import Behaviour, RandomScript
from tests.servers.models.server import LocalModelServer

TROUBLE = (
    (0.03, Behaviour("status", status=429, headers={"retry-after": "0.02"}, message=f"slow down, {KEY}")),
    (0.03, Behaviour("status", status=500, message=f"failed for {KEY}")),
    (0.02, Behaviour("status", status=529)),
    (0.02, Behaviour("status", status=400, message=f"bad request by {KEY}")),
    (0.02, Behaviour("reset")),
    (0.02, Behaviour("cut_off")),
    (0.02, Behaviour("garbage")),
    (0.02, Behaviour("malformed")),
    (0.01, Behaviour("truncate")),
    (0.01, Behaviour("hang")),
)


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "protocol"), [("openai", "responses"), ("anthropic", "")])
async def test_a_chaotic_provider_costs_items_only_with_a_reason_and_never_shows_the_key(
    tmp_path: Path, provider: str, protocol: str
) -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    loggers = [
        logging.getLogger(name) for name in ("openai", "anthropic", "httpx2", "httpcore2", "model_clients")
    ]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    traces: list[str] = []
    path = tmp_path / "ledger.sqlite"
    try:
        async with LocalModelServer(RandomScript(trouble=TROUBLE, seed=5), verdict_about, key=KEY) as server:
            settings = call_settings(model_at(server.url, provider, protocol, first_byte_seconds=1))
            with Ledger(path) as ledger:
                async with RoleModels(settings, ledger) as models:

                    async def one(number: int) -> str:
                        try:
                            verdict = await models.ask(
                                PlainQuestion(f"item {number}"),
                                stage="instructions",
                                item_id=str(number),
                            )
                        except CallFailedError as error:
                            traces.append("".join(traceback.format_exception(error)))
                            return type(error).__name__
                        return verdict.answer

                    outcomes = await asyncio.gather(*(one(number) for number in range(120)))
                recorded = Counter(call.outcome for call in ledger.calls())
    finally:
        logging.getLogger().removeHandler(handler)
        for logger in loggers:
            logger.setLevel(logging.NOTSET)

    accepted = sum(outcome.startswith("about item") for outcome in outcomes)
    assert accepted + len(traces) == 120
    assert accepted >= 105
    assert traces
    assert models.counters.total.retries > 0
    assert recorded["answered"] >= accepted
    assert models.counters.in_flight == models.counters.waiting == 0
    everything = [file.read_bytes() for file in tmp_path.iterdir()]
    everything += [
        text.encode() for text in (log.getvalue(), *traces, repr(models.settings), repr(models.counters))
    ]
    assert all(KEY.encode() not in place for place in everything)
    assert any(b"[key]" in place for place in everything)


CHILD = """
import asyncio, sys
from pathlib import Path
from taskloom.model_clients.role_models import RoleModels
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import PlainQuestion, Verdict, call_settings, model_at

async def main(path, url, items):
    with Ledger(Path(path)) as ledger:
        async with RoleModels(call_settings(model_at(url)), ledger) as models:
            async def chain(number):
                text = f"item {number}"
                for _ in range(2):
                    verdict = await models.ask(PlainQuestion(text), stage="instructions", item_id=str(number)
                    )
                    text = verdict.answer
                return text
            print(*await asyncio.gather(*(chain(number) for number in range(int(items)))), sep="\\n")

asyncio.run(main(*sys.argv[1:]))
"""


def child(path: Path, url: str, items: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(path), url, str(items)]
    environment = {**os.environ, KEY_VARIABLE: KEY}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


async def read_output(process: subprocess.Popen[str]) -> list[str]:
    output, _ = await asyncio.to_thread(process.communicate)
    return output.splitlines()


def expected(items: int) -> list[str]:
    return [f"about about item {number}" for number in range(items)]


def recorded_calls(path: Path) -> int:
    with Ledger(path) as ledger:
        return len({call.key for call in ledger.calls()})


def times_sent(server: LocalModelServer) -> Counter[str]:
    return Counter(json.dumps(call.body) for call in server.calls)


@pytest.mark.slow
async def test_a_killed_run_goes_on_without_paying_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    script = RandomScript(mean_seconds=0.03, seed=1)
    async with LocalModelServer(script, verdict_about) as server:
        for answered in (10, 35):
            process = child(path, server.url, 40)
            while server.answered < answered:
                await asyncio.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            await asyncio.to_thread(process.communicate)
        finished, sent_before = recorded_calls(path), len(server.calls)
        assert await read_output(child(path, server.url, 40)) == expected(40)
    assert len(server.calls) - sent_before == 80 - finished
    assert max(times_sent(server).values()) <= 3


async def test_two_processes_on_one_ledger_pay_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    async with LocalModelServer(RandomScript(mean_seconds=0.03, seed=2), verdict_about) as server:
        processes = [child(path, server.url, 30) for _ in range(2)]
        outputs = await asyncio.gather(*(read_output(process) for process in processes))
    assert outputs == [expected(30), expected(30)]
    assert len(server.calls) == 60


async def test_a_survivor_takes_over_from_a_killed_process_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    async with LocalModelServer(RandomScript(mean_seconds=0.05, seed=3), verdict_about) as server:
        killed, survivor = child(path, server.url, 30), child(path, server.url, 30)
        while server.answered < 20:
            await asyncio.sleep(0.001)
        finished = recorded_calls(path)
        killed.send_signal(signal.SIGKILL)
        await asyncio.to_thread(killed.communicate)
        sent_unfinished = len(server.calls) - finished
        assert await read_output(survivor) == expected(30)
    assert len(server.calls) <= 60 + sent_unfinished
    assert max(times_sent(server).values()) <= 2
