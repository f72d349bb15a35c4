"""`python -m tests.servers.models`: serve until interrupted; the first line printed is the base URL."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from tests.servers.models.behaviour import Behaviour, RandomScript
from tests.servers.models.server import LocalModelServer, echo, example_answer


async def serve(arguments: argparse.Namespace) -> None:
    """Serve until cancelled."""
    trouble = ((arguments.errors, Behaviour("status", status=500)),) if arguments.errors else ()
    script = RandomScript(arguments.mean_seconds, arguments.spread, trouble, arguments.seed)
    answerer = echo if arguments.echo else example_answer
    server = LocalModelServer(
        script, answerer, requests_per_minute=arguments.requests_per_minute, key=arguments.key
    )
    await server.start(arguments.port)
    print(server.url, flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.models", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port; any free one when left out")
    parser.add_argument("--mean-seconds", type=float, default=0.0, help="mean latency, log-normal")
    parser.add_argument(
        "--spread", type=float, default=0.5, help="standard deviation of the latency's logarithm"
    )
    parser.add_argument("--errors", type=float, default=0.0, help="share of calls answered with 500")
    parser.add_argument("--requests-per-minute", type=float, default=None, help="faster callers get 429")
    parser.add_argument("--seed", type=int, default=0, help="seed of latencies and errors")
    parser.add_argument("--key", default="", help="the only key accepted; any when left out")
    parser.add_argument(
        "--echo", action="store_true", help="answer with the last message instead of an example"
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
