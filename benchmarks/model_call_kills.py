"""Kills a run of model calls at random moments and restarts it: `python -m benchmarks.model_call_kills`.

A run of chained calls against the local server is killed with SIGKILL at random moments and restarted with
the same ledger until it ends; then the next run begins, until the requested number of kills is reached. Every
run's answers and ledger must equal an uninterrupted run's, no finished call may be sent again, and with
`--processes 2` the same must hold for two processes that share one ledger. Prints the results; exits with 1
if anything was lost, duplicated or paid for again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from taskloom.model_clients.ledger.ledger import Ledger
from tests.servers.models.behaviour import RandomScript, WireCall
from tests.servers.models.server import LocalModelServer

ITEMS = 60
CONCURRENCY = 16
KEY_VARIABLE = "BENCHMARK_KEY"


async def run_child(path: Path, url: str) -> None:
    """One run: chains of two calls; prints the answers."""
    from benchmarks.questions import Question
    from taskloom.model_clients.role_models import RoleModels
    from taskloom.model_clients.settings import CallSettings

    model = {"provider": "openai", "model": "m", "base_url": url, "api_key_variable": KEY_VARIABLE}
    limits = {"openai": {"concurrency": CONCURRENCY}}
    settings = CallSettings.model_validate({"default": model, "limits": limits})
    with Ledger(path) as ledger:
        async with RoleModels(settings, ledger) as models:

            async def chain(number: int) -> str:
                text = f"item {number}"
                for _ in range(2):
                    verdict = await models.ask(Question(text), stage="kills", item_id=str(number))
                    text = verdict.answer
                return text

            print("READY", flush=True)
            print(json.dumps(await asyncio.gather(*(chain(number) for number in range(ITEMS)))))


def answer(call: WireCall) -> str:
    return json.dumps({"answer": f"about {call.turns[0]}"})


@dataclass
class KillResults:
    """Counts of what was done and of what went wrong."""

    kills: int = 0
    runs: int = 0
    sent: int = 0
    sent_again_in_flight: int = 0
    sent_again_finished: int = 0
    wrong_answers: int = 0
    wrong_ledgers: int = 0
    kill_moments: list[float] = field(default_factory=list)


def start(path: Path, url: str) -> subprocess.Popen[str]:
    """Start a child and wait until its calls begin."""
    environment = {**os.environ, KEY_VARIABLE: "sk-benchmark"}
    command = [sys.executable, "-m", "benchmarks.model_call_kills", "--child", str(path), "--url", url]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def ledger_of(path: Path) -> dict[str, str]:
    """Finished calls and their replies."""
    with Ledger(path) as ledger:
        rows = ledger.select("SELECT key, reply FROM calls WHERE outcome = 'answered'")
    return {str(key): json.loads(str(reply))["text"] for key, reply in rows}


async def kill_until_done(
    path: Path,
    server: LocalModelServer,
    processes: int,
    kills: int,
    latest: float,
    generator: random.Random,
    results: KillResults,
) -> list[str]:
    """One run with its kills; returns the answers of the processes that were not killed."""
    while True:
        children = [start(path, server.url) for _ in range(processes)]
        for child in children:
            assert child.stdout is not None
            await asyncio.to_thread(child.stdout.readline)
        moment = generator.uniform(0, latest)
        await asyncio.sleep(moment)
        victim = generator.choice(children)
        if victim.poll() is None and results.kills < kills:
            victim.send_signal(signal.SIGKILL)
            results.kills += 1
            results.kill_moments.append(moment)
            latest *= 1.1
        else:
            latest *= 0.7
        await asyncio.to_thread(victim.wait)
        finished = {json.loads(reply)["answer"].removeprefix("about ") for reply in ledger_of(path).values()}
        sent_before = len(server.calls)
        print(f"{results.kills} kills, run {results.runs}", file=sys.stderr, flush=True)
        outputs = [(await asyncio.to_thread(child.communicate))[0] for child in children]
        results.sent_again_finished += sum(call.turns[0] in finished for call in server.calls[sent_before:])
        done = [output for child, output in zip(children, outputs, strict=True) if child.returncode == 0]
        if done:
            return done


async def measure(kills: int, processes: int, seed: int) -> KillResults:
    """Kill runs until there were `kills` kills."""
    results, generator = KillResults(), random.Random(seed)
    expected = [f"about about item {number}" for number in range(ITEMS)]
    with tempfile.TemporaryDirectory() as folder:
        reference: dict[str, str] = {}
        async with LocalModelServer(RandomScript(mean_seconds=0.1, seed=seed), answer) as server:
            child = start(Path(folder) / "reference.sqlite", server.url)
            assert child.stdout is not None
            await asyncio.to_thread(child.stdout.readline)
            began = time.monotonic()
            await asyncio.to_thread(child.communicate)
            latest = time.monotonic() - began
            reference = ledger_of(Path(folder) / "reference.sqlite")
            server.calls.clear()
            while results.kills < kills:
                path = Path(folder) / f"run-{results.runs}.sqlite"
                done = await kill_until_done(path, server, processes, kills, latest, generator, results)
                results.runs += 1
                results.wrong_answers += sum(
                    json.loads(output.splitlines()[-1]) != expected for output in done
                )
                ledger = ledger_of(path)
                results.wrong_ledgers += ledger != reference
                sent = Counter(json.dumps(call.body) for call in server.calls)
                results.sent += sum(sent.values())
                results.sent_again_in_flight += sum(sent.values()) - len(sent)
                server.calls.clear()
    return results


def main() -> None:
    """Read the options, kill, and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        asyncio.run(run_child(arguments.child, arguments.url))
        return
    results = asyncio.run(measure(arguments.kills, arguments.processes, arguments.seed))
    print(
        f"{results.kills} kills over {results.runs} runs of {ITEMS} chains by {arguments.processes}"
        f" process(es): {results.wrong_answers} runs with other answers, {results.wrong_ledgers} ledgers"
        f" unlike an uninterrupted run's, {results.sent} requests sent, of which"
        f" {results.sent_again_in_flight} again after being in flight at a kill and"
        f" {results.sent_again_finished} again although finished"
    )
    sys.exit(1 if results.wrong_answers or results.wrong_ledgers or results.sent_again_finished else 0)


if __name__ == "__main__":
    main()
