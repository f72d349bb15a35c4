"""Measures the noise of the shipped applications into `resources/catalog/noise.json`, so that first builds
need not do so:

python -m benchmarks.measured_noise taskloom-data web_browser [NAME…]

Run it when an entry is new or has another version, or when the measurement changes; the rest of the file
remains. The applications must be installed in the data folder.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from pathlib import Path

from taskloom.flows.settings import load_settings
from taskloom.flows.wiring import choose_applications, create_environment
from taskloom.resources.reading.translation import WorldlyApplications, applications_in
from taskloom.synthesis.noise.noise import keep, measure_noise, read_kept
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.provenance import Provenance

CATALOG = Path(__file__).parents[1] / "resources" / "catalog"
WORLDS = ("bakery-1",)
"""Worlds besides the first one: the first of `make run`, as subtasks are verified in two worlds."""


async def measure(data: Path, platform: str, names: Collection[str]) -> list[ApplicationNoise]:
    """The noise of the platform's installed applications, or of those with these `names`."""
    settings = load_settings(data=data, platform=platform)
    present, _ = choose_applications(settings)
    applications = WorldlyApplications(present, WORLDS)
    environment = create_environment(settings, platform)
    provenance = Provenance(run_id="catalogue", stage="noise")
    noise = []
    try:
        for name in [item for item in present if not names or item in names]:
            entries = [applications_in(applications, world)[name] for world in applications.worlds]
            other = next((item for item in present.values() if item.name != name), None)
            noise.append(await measure_noise(entries, environment, settings.noise, provenance, other))
            print(name, *(place.model_dump_json() for place in noise[-1].places), sep="\n  ", flush=True)
    finally:
        await environment.close()
    return noise


def main(data: str, platform: str, *names: str) -> None:
    """Measure these applications, and replace their noise in the catalogue."""
    new = asyncio.run(measure(Path(data), platform, names))
    known = [
        item for item in read_kept(CATALOG) if item.application not in {each.application for each in new}
    ]
    keep(CATALOG, sorted([*known, *new], key=lambda item: item.noise_id))


if __name__ == "__main__":
    main(*sys.argv[1:])
