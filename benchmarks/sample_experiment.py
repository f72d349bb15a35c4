"""One whole experiment, kept as the sample of the documentation: `python -m benchmarks.sample_experiment`.

A dataset of the simulated platform is built, with tasks of several levels, and its 40 largest are attempted
twice by a perfect agent, by four with known faults, by one that acts at random, and by a scripted model
behind a local server for every reply format. The report and the figures are written to
`docs/pictures/sample-experiment`. With `--data` the dataset is kept, and a stopped experiment goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from taskloom.flows.build_dataset import build_dataset
from taskloom.flows.experimenting.finishing import ExperimentReport
from taskloom.flows.run_experiment import run_experiment
from taskloom.flows.settings import Settings, load_settings
from taskloom.omnieval.reports.figures import figures
from taskloom.warehouse.store import Warehouse
from tests.omnieval.replies.said import SAID
from tests.omnieval.replies.test_formats import answer
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread

PICTURES = Path(__file__).parents[1] / "docs" / "pictures" / "sample-experiment"
FAULTS = ("forgets_branch", "mixes_orders", "breaks_something", "crashes")
KEY_VARIABLE = "TASKLOOM_SAMPLE_KEY"
KEY = "sk-local-server-only"


def largest(data: Path, count: int) -> list[str]:
    """The validated tasks with the most subtasks."""
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        found = warehouse.query(
            "SELECT task_id FROM tasks WHERE status = 'validated' ORDER BY node_count DESC, task_id LIMIT ?",
            [count],
        )
        return [str(row[0]) for row in found.rows()]


def specification(url: str, tasks: list[str], repeats: int) -> dict[str, object]:
    """The experiment, as in its file."""
    model = {"provider": "openai", "base_url": url, "api_key_variable": KEY_VARIABLE}
    return {
        "name": "sample",
        "agents": [
            "recorded",
            *({"agent": "recorded", "name": name, "settings": {"fault": name}} for name in FAULTS),
            "random",
            *({"agent": name, "model": {**model, "model": name}} for name in sorted(SAID)),
        ],
        "tasks": {"ids": tasks},
        "repeats": repeats,
        "quiet_seconds": 0,
    }


def settings_in(data: Path) -> Settings:
    """Settings of the dataset and the experiment."""
    larger = [f"composition.maximum_{name}=4" for name in ("ends", "readers")]
    usual = ["platform=simulated", "composition.count=200", "replay_share=0.1", "intents.wanted=12"]
    return load_settings(assignments=usual + larger, data=data)


def measure(data: Path, tasks: int, repeats: int) -> ExperimentReport:
    """Build the dataset unless it is there, and make the attempts that are missing."""
    settings = settings_in(data)
    if not (data / "warehouse").exists():
        asyncio.run(build_dataset.fn(settings=settings))
    os.environ[KEY_VARIABLE] = KEY
    with in_a_thread(LocalModelServer(answerer=answer, key=KEY)) as server:
        experiment = specification(server.url, largest(data, tasks), repeats)
        return asyncio.run(run_experiment.fn(experiment, settings=settings, quiet=False))


def write(report: ExperimentReport, folder: Path) -> None:
    """Write the report, and the figures of the agents whose faults are known."""
    folder.mkdir(parents=True, exist_ok=True)
    page = (Path(report.folder) / "report.html").read_text(encoding="utf-8")
    (folder / "report.html").write_text(page, encoding="utf-8")
    shown = [item for item in report.standings if item.agent not in SAID]
    for title, drawing in figures(shown).items():
        name = (
            title.partition("(")[0].partition(",")[0].strip().lower().replace(" ", "-").replace("^", "-all-")
        )
        (folder / f"{name.replace('@', '-at-')}.svg").write_text(drawing + "\n", encoding="utf-8")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder to keep dataset and attempts in")
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=PICTURES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        report = measure(asked.data or Path(temporary), asked.tasks, asked.repeats)
        write(report, asked.out)
    for row in (*report.leaderboard, *report.ends):
        print("  ".join(row))
    print(f"{report.attempts} of {report.wanted} attempts, {report.invalid} invalid; holds: {report.holds}")


if __name__ == "__main__":
    main()
