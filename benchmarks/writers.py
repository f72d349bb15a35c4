"""The benefit of two writers of evaluation functions that must agree over a single one.

Verifies the same applications under each setting with `taskloom verify`, in a data folder each, and compares
accepted functions, written functions, rounds and tokens. Needs a model for the writer: `python -m
benchmarks.writers --settings models.yaml`. Then judge the labelled outcomes with either dataset:
`python -m benchmarks.labelled_work --warehouse FOLDER/one/warehouse`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from taskloom.flows.settings import load_settings
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, VerificationRound
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.store import Warehouse

SETTINGS: dict[str, tuple[str, ...]] = {
    "one": (),
    "two": ("verification.writers=2",),
}
"""The settings to compare, by name."""


@dataclass(frozen=True)
class WriterFigures:
    """The figures of the writers of one setting."""

    setting: str
    """Name of the setting."""
    applications: int
    """Verified applications."""
    accepted: int
    """Accepted functions."""
    written: int
    """Written functions."""
    rounds: int
    """Rounds of verification."""
    tokens: int
    """Input and output tokens of the writer's calls."""


def writer_figures(setting: str, warehouse: Warehouse) -> WriterFigures:
    """The figures of one setting, from its dataset."""
    functions = list(warehouse.read(EvaluationFunction))
    calls = [
        call for call in warehouse.read(ModelCallRecord) if call.role == ModelRole.EVALUATION_WRITER.value
    ]
    return WriterFigures(
        setting,
        applications=warehouse.count(Application),
        accepted=sum(item.accepted for item in functions),
        written=len(functions),
        rounds=warehouse.count(VerificationRound),
        tokens=sum(call.input_tokens + call.output_tokens for call in calls),
    )


def table(rows: Sequence[WriterFigures]) -> str:
    lines = ["| writers | accepted | written | rounds | tokens |", "|--|--:|--:|--:|--:|"]
    lines += [
        f"| {row.setting} | {row.accepted} | {row.written} | {row.rounds} | {row.tokens:,} |" for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Verify under each setting, and compare the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.writers", description=__doc__)
    parser.add_argument("--settings", type=Path, help="settings file that names the models")
    parser.add_argument(
        "--folder", type=Path, default=Path("taskloom-data/writers"), help="where the datasets go"
    )
    parser.add_argument(
        "--data", type=Path, default=Path("taskloom-data"), help="folder with the installed applications"
    )
    parser.add_argument(
        "--applications", default="", help="applications, separated by commas; all by default"
    )
    arguments = parser.parse_args()
    settings = load_settings(arguments.settings)
    if settings.is_offline(ModelRole.EVALUATION_WRITER):
        sys.exit(
            "The role evaluation_writer is played by rule, and two rules agree: there is nothing to compare."
            " Name a model for it in a file and give it with --settings."
        )
    rows = []
    for setting, assignments in SETTINGS.items():
        data = arguments.folder / setting.replace(" ", "_")
        data.mkdir(parents=True, exist_ok=True)
        applications = data / "applications"
        if not applications.exists():
            applications.symlink_to((arguments.data / "applications").absolute())
        command = [sys.executable, "-m", "taskloom.cli.main", "verify", "--data", str(data)]
        command += ["--settings", str(arguments.settings)] if arguments.settings else []
        command += ["--applications", arguments.applications] if arguments.applications else []
        for assignment in assignments:
            command += ["--set", assignment]
        subprocess.run(command, check=False)
        with Warehouse(data / "warehouse", read_only=True) as warehouse:
            rows.append(writer_figures(setting, warehouse))
    print(table(rows))


if __name__ == "__main__":
    main()
