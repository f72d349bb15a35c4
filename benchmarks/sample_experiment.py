"""The sample experiment of the documentation: `python -m benchmarks.sample_experiment`.

Builds a dataset of the simulated platform with tasks of several levels. Its 40 largest tasks are attempted
twice by a perfect agent, by four with known faults, by one that acts at random, and by a scripted model
behind a local server for every reply format. With `--data`, the dataset is kept, and a stopped experiment is
continued.

With `--installed`, the same is done on the dataset in `--data` with the applications installed there: tasks
of every size, and two of the scripted models. `--seconds` interrupts it. Its report and figures are those in
`docs/pictures/sample-experiment`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence
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
TWO_MODELS = ("qwen3_vl", "ui_tars_1_5")


def largest(data: Path, count: int) -> list[str]:
    """The validated tasks with the most subtasks."""
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        result = warehouse.query(
            "SELECT task_id FROM tasks WHERE status = 'validated' ORDER BY node_count DESC, task_id LIMIT ?",
            [count],
        )
        return [str(row[0]) for row in result.rows()]


def spread_over_sizes(data: Path, count: int, applications: Sequence[str]) -> list[str]:
    """Validated tasks, spread over sizes and sets of applications; only tasks of the given applications, if
    any are given."""
    with Warehouse(data / "warehouse", read_only=True) as warehouse:
        result = warehouse.query(
            "SELECT task_id FROM (SELECT task_id, node_count, row_number() OVER (PARTITION BY node_count,"
            " applications ORDER BY task_id) AS turn, row_number() OVER (PARTITION BY node_count ORDER BY"
            " applications, task_id) AS place FROM tasks WHERE status = 'validated'"
            " AND (len(?) = 0 OR list_has_all(?, applications))) ORDER BY turn, place, node_count, task_id"
            " LIMIT ?",
            [list(applications), list(applications), count],
        )
        return [str(row[0]) for row in result.rows()]


def specification(
    name: str, url: str, tasks: list[str], repeats: int, models: Sequence[str], seconds: float
) -> dict[str, object]:
    """The content of the experiment's file."""
    model = {"provider": "openai", "base_url": url, "api_key_variable": KEY_VARIABLE}
    return {
        "name": name,
        "agents": [
            "recorded",
            *({"agent": "recorded", "name": name, "settings": {"fault": name}} for name in FAULTS),
            "random",
            *({"agent": name, "model": {**model, "model": name}} for name in models),
        ],
        "tasks": {"ids": tasks},
        "repeats": repeats,
        "quiet_seconds": 0,
        "limits": {"run_seconds": seconds},
    }


def settings_in(data: Path) -> Settings:
    """Settings of the dataset and the experiment."""
    larger = [f"composition.maximum_{name}=4" for name in ("ends", "readers")]
    usual = ["platform=simulated", "composition.count=200", "replay_share=0.1", "intents.wanted=12"]
    return load_settings(assignments=usual + larger, data=data)


def measure(arguments: argparse.Namespace, data: Path) -> ExperimentReport:
    """Build the dataset unless it exists, and make the missing attempts."""
    settings = load_settings(data=data) if arguments.installed else settings_in(data)
    if not (data / "warehouse").exists():
        asyncio.run(build_dataset.fn(settings=settings))
    applications = [name for name in arguments.applications.split(",") if name]
    tasks = (
        spread_over_sizes(data, arguments.tasks, applications)
        if arguments.installed
        else largest(data, arguments.tasks)
    )
    models = TWO_MODELS if arguments.installed else sorted(SAID)
    os.environ[KEY_VARIABLE] = KEY
    with in_a_thread(LocalModelServer(answerer=answer, key=KEY)) as server:
        name = "sample-installed" if arguments.installed else "sample"
        experiment = specification(name, server.url, tasks, arguments.repeats, models, arguments.seconds)
        return asyncio.run(run_experiment.fn(experiment, settings=settings, quiet=False))


def write(report: ExperimentReport, folder: Path) -> None:
    """Write the report, and the figures of the agents that ask no model."""
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
    """Run the experiment, and write its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder in which to keep dataset and attempts")
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--installed", action="store_true", help="on the applications installed in --data")
    parser.add_argument("--applications", default="", help="with --installed: only tasks of these")
    parser.add_argument("--seconds", type=float, default=0, help="interrupt the run after this many seconds")
    parser.add_argument("--out", type=Path, help=f"folder of the report; {PICTURES} by default")
    arguments = parser.parse_args()
    if arguments.installed and not (arguments.data and arguments.out):
        parser.error("--installed needs --data, where the applications are, and --out")
    with tempfile.TemporaryDirectory() as temporary:
        report = measure(arguments, arguments.data or Path(temporary))
        write(report, arguments.out or PICTURES)
    for row in (*report.leaderboard, *report.ends):
        print("  ".join(row))
    print(f"{report.attempts} of {report.wanted} attempts, {report.invalid} invalid; holds: {report.holds}")


if __name__ == "__main__":
    main()
