"""The workloads of `benchmarks.model_calls` with NVIDIA DataDesigner; needs its own environment."""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time

os.environ["NEMO_TELEMETRY_ENABLED"] = "false"

import data_designer.config as dd
from data_designer.interface import DataDesigner
from pydantic import BaseModel

SYSTEM = "You check desktop tasks and answer in JSON. " * 100


class Verdict(BaseModel):
    answer: str


def build(calls_per_item: int) -> dd.DataDesignerConfigBuilder:
    """One column per call; later calls read the earlier ones."""
    model = dd.ModelConfig(
        alias="model",
        model="m",
        provider="local",
        skip_health_check=True,
        inference_parameters=dd.ChatCompletionInferenceParams(max_parallel_requests=32),
    )
    builder = dd.DataDesignerConfigBuilder(model_configs=[model])
    builder.add_column(
        dd.SamplerColumnConfig(name="item", sampler_type=dd.SamplerType.UUID, params=dd.UUIDSamplerParams())
    )
    text = "Item {{ item }}"
    for number in range(calls_per_item):
        name = f"verdict_{number}"
        builder.add_column(
            dd.LLMStructuredColumnConfig(
                name=name, model_alias="model", system_prompt=SYSTEM, prompt=text, output_format=Verdict
            )
        )
        text += " {{ " + name + " }}"
    return builder


def main() -> None:
    """Run a workload and print its use of resources."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenario", choices=["s1", "s2", "s3"])
    parser.add_argument("--url")
    arguments = parser.parse_args()
    items, calls_per_item = (150, 3) if arguments.scenario == "s2" else (400, 1)
    provider = dd.ModelProvider(
        name="local", endpoint=arguments.url, provider_type="openai", api_key="BENCHMARK_KEY"
    )
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        designer = DataDesigner(artifact_path=folder, model_providers=[provider])
        designer.set_run_config(dd.RunConfig(buffer_size=items, disable_early_shutdown=True))
        results = designer.create(build(calls_per_item), num_records=items)
        done = len(results.load_dataset())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"{time.perf_counter() - started:.1f} s\n")
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
