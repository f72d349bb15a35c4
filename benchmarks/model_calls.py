"""How close model calls come to the bound set by latency and limits: `python -m benchmarks.model_calls`.

A local server answers with log-normal latency (mean 0.5 s). Each contender runs in its own process:

s1  400 independent typed calls, 32 at a time
s2  150 items of three dependent calls, 32 at a time
s3  like s1, with 5 % of calls answered 500 and a limit of 1,200 requests a minute

flowing  bound ÷ time from the first request to the last answer, as seen by the server
whole    bound ÷ wall time of the process, including imports
bound    simulated makespan of the same latencies on 32 places; under a limit, each call starts when it is
         allowed

Contenders: `taskloom` (ledger on), `plain` (asyncio, a semaphore and the openai SDK with its own retries),
and each peer of `benchmarks/peers` for which `--peer NAME=PYTHON` names an interpreter that has it installed.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

CONCURRENCY = 32
MEAN_SECONDS = 0.5
KEY_VARIABLE = "BENCHMARK_KEY"


@dataclass(frozen=True)
class Scenario:
    """A workload and the server's behaviour."""

    items: int
    calls_per_item: int
    errors: float = 0.0
    requests_per_minute: float | None = None


SCENARIOS = {
    "s1": Scenario(400, 1),
    "s2": Scenario(150, 3),
    "s3": Scenario(400, 1, errors=0.05, requests_per_minute=1200),
}


def makespan(latencies: list[float], scenario: Scenario) -> float:
    """When the last item is done, if free places immediately take the next one that the limit allows."""
    spacing = 60 / scenario.requests_per_minute if scenario.requests_per_minute else 0.0
    free = [0.0] * CONCURRENCY
    heapq.heapify(free)
    for first in range(0, len(latencies), scenario.calls_per_item):
        began = max(heapq.heappop(free), first * spacing)
        heapq.heappush(free, began + sum(latencies[first : first + scenario.calls_per_item]))
    return max(free)


async def run_taskloom(scenario: Scenario, url: str) -> int:
    """Calls of taskloom, with the ledger; returns the number of answered items."""
    from benchmarks.questions import Question
    from taskloom.model_clients.ledger.ledger import Ledger
    from taskloom.model_clients.role_models import RoleModels
    from taskloom.model_clients.settings import CallSettings

    model = {"provider": "openai", "model": "m", "base_url": url, "api_key_variable": KEY_VARIABLE}
    limits = {"concurrency": CONCURRENCY, "requests_per_minute": scenario.requests_per_minute}
    settings = CallSettings.model_validate({"default": model, "limits": {"openai": limits}})
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
        async with RoleModels(settings, ledger) as models:

            async def item(number: int) -> bool:
                text = f"Item {number}"
                for _ in range(scenario.calls_per_item):
                    verdict = await models.ask(Question(text), stage="benchmark", item_id=str(number))
                    text += verdict.answer
                return True

            return sum(await asyncio.gather(*(item(number) for number in range(scenario.items))))


async def run_plain(scenario: Scenario, url: str) -> int:
    """The simplest implementation: a semaphore around the SDK, which retries by itself."""
    import openai
    from pydantic import BaseModel

    from benchmarks.questions import SYSTEM

    class Verdict(BaseModel):
        answer: str

    places = asyncio.Semaphore(CONCURRENCY)
    async with openai.AsyncOpenAI(api_key=os.environ[KEY_VARIABLE], base_url=url, max_retries=8) as client:

        async def item(number: int) -> bool:
            text = f"Item {number}"
            async with places:
                for _ in range(scenario.calls_per_item):
                    try:
                        reply = await client.responses.parse(
                            model="m",
                            input=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
                            text_format=Verdict,
                        )
                    except openai.OpenAIError:
                        return False
                    text += reply.output_parsed.answer if reply.output_parsed else ""
            return True

        return sum(await asyncio.gather(*(item(number) for number in range(scenario.items))))


CONTENDERS = {"taskloom": run_taskloom, "plain": run_plain}


def contend(name: str, scenario: Scenario, url: str) -> None:
    """Run one contender in this process and print what it used."""
    done = asyncio.run(CONTENDERS[name](scenario, url))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "done": done,
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "memory_mb": usage.ru_maxrss / 1024,
            }
        )
    )


def measure(name: str, scenario: Scenario, command: list[str], seed: int) -> dict[str, float]:
    """Start a server and a contender, and compare what the server saw with the bound."""
    options = ["--mean-seconds", str(MEAN_SECONDS), "--errors", str(scenario.errors), "--seed", str(seed)]
    if scenario.requests_per_minute is not None:
        options += ["--requests-per-minute", str(scenario.requests_per_minute)]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.models", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        started = time.perf_counter()
        finished = subprocess.run(
            [*command, "--url", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            env={**os.environ, KEY_VARIABLE: "sk-benchmark"},
        )
        wall = time.perf_counter() - started
        with urllib.request.urlopen(f"{url}/statistics") as response:
            statistics = json.load(response)
    finally:
        server.terminate()
        server.wait()
    figures = json.loads(finished.stdout.splitlines()[-1])
    latencies = [call["latency"] for call in statistics["calls"] if call["status"] != 429]
    bound = makespan(latencies, scenario)
    return {
        "flowing": bound / (statistics["last_at"] - statistics["first_at"]),
        "whole": bound / wall,
        "requests": len(statistics["calls"]),
        "rejected": statistics["statuses"].get("429", 0),
        "items": scenario.items,
        **figures,
    }


def main() -> None:
    """Measure all contenders in turn and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contender", choices=[*CONTENDERS], help="run this one here, against --url")
    parser.add_argument("--scenario", choices=[*SCENARIOS], action="append")
    parser.add_argument("--url", default="")
    parser.add_argument("--rounds", type=int, default=1, help="repeat, and print the median")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="measure this peer too"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    scenarios = arguments.scenario or list(SCENARIOS)
    if arguments.contender:
        contend(arguments.contender, SCENARIOS[scenarios[0]], arguments.url)
        return
    commands = {
        name: [sys.executable, "-m", "benchmarks.model_calls", "--contender", name] for name in CONTENDERS
    }
    for peer in arguments.peer:
        name, _, interpreter = peer.partition("=")
        commands[name] = [interpreter, str(Path(__file__).parent / "peers" / f"{name}_calls.py")]
    results = []
    for scenario in scenarios:
        for name, command in commands.items():
            rounds = [
                measure(name, SCENARIOS[scenario], [*command, "--scenario", scenario], seed)
                for seed in range(arguments.rounds)
            ]
            rounds.sort(key=lambda figures: figures["flowing"])
            results.append({"scenario": scenario, "contender": name, **rounds[len(rounds) // 2]})
            if not arguments.json:
                print_row(results[-1], heading=len(results) == 1)
    if arguments.json:
        print(json.dumps(results, indent=2))


def print_row(figures: dict[str, float], *, heading: bool) -> None:
    if heading:
        print("scenario contender       flowing   whole  items done  requests   429  CPU s  memory MB")
    print(
        f"{figures['scenario']:<8} {figures['contender']:<14}"
        f" {figures['flowing']:>8.1%} {figures['whole']:>7.1%}"
        f" {figures['done']:>6}/{figures['items']:<4} {figures['requests']:>8} {figures['rejected']:>5}"
        f" {figures['cpu_seconds']:>6.1f} {figures['memory_mb']:>10.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
