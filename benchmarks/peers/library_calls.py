"""The workloads of `benchmarks.model_calls` with aiolimiter and tenacity around the SDK; no ledger, no
priorities."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource

import aiolimiter
import openai
import tenacity
from pydantic import BaseModel

SYSTEM = "You check desktop tasks and answer in JSON. " * 100


class Verdict(BaseModel):
    answer: str


async def run(scenario: str, url: str) -> int:
    """Process all items; returns the number of answered ones."""
    items, calls_per_item = (150, 3) if scenario == "s2" else (400, 1)
    places = asyncio.Semaphore(32)
    limiter = aiolimiter.AsyncLimiter(20 if scenario == "s3" else 1_000_000, 1)
    async with openai.AsyncOpenAI(api_key=os.environ["BENCHMARK_KEY"], base_url=url, max_retries=0) as client:

        @tenacity.retry(
            stop=tenacity.stop_after_attempt(8),
            wait=tenacity.wait_random_exponential(multiplier=0.5, max=30),
            retry=tenacity.retry_if_exception_type(openai.OpenAIError),
        )
        async def call(text: str) -> str:
            async with places, limiter:
                reply = await client.responses.parse(
                    model="m",
                    input=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
                    text_format=Verdict,
                )
            return reply.output_parsed.answer if reply.output_parsed else ""

        async def item(number: int) -> bool:
            text = f"Item {number}"
            try:
                for _ in range(calls_per_item):
                    text += await call(text)
            except tenacity.RetryError:
                return False
            return True

        return sum(await asyncio.gather(*(item(number) for number in range(items))))


def main() -> None:
    """Run a workload and print its use of resources."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenario", choices=["s1", "s2", "s3"])
    parser.add_argument("--url")
    arguments = parser.parse_args()
    done = asyncio.run(run(arguments.scenario, arguments.url))
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


if __name__ == "__main__":
    main()
