"""Rows for reinforcement learning (verifiers, TRL): `<set>.jsonl` with prompt and what judges the result, a
task a line.

`prompt` is a chat, `answer` is empty because the state is judged, and `info` is a JSON text with the judging
sheet (`taskloom judge`, `taskloom.evaluators_api.judging_folders.judge_home`), the levels and the
applications.
"""

import json
from pathlib import Path
from typing import Final

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.judging_sheets import expressed, sheet_of
from taskloom.warehouse.exporting.record_files import RecordFiles

_SYSTEM: Final = (
    "You operate a computer. Do what the user asks in the applications that are open; files are in your home"
    " folder."
)
REFUSES_TASKS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write a row for every task that can be judged by its files."""
    refused: list[Refused] = []
    with RecordFiles(folder, lines=True) as records:
        for task, sheet in expressed(source, lambda task: sheet_of(task, source), refused):
            records.add(source.split_of(task.task_id), _row(task, {"sheet": sheet.model_dump(mode="json")}))
    return ExportOutcome(counts=dict(sorted(records.counts.items())), refused=tuple(refused))


def _row(task: Task, judged: dict[str, object]) -> dict[str, object]:
    information = {
        **judged,
        "applications": sorted({node.application for node in task.graph.nodes}),
        "complexity": task.complexity.model_dump(mode="json"),
        "scenario": task.scenario,
    }
    return {
        "id": task.task_id,
        "name": task.intent or task.task_id,
        "prompt": [
            {"role": "system", "content": _SYSTEM},
            {"role": "user", "content": task.instruction},
        ],
        "answer": "",
        "task": "taskloom",
        "info": json.dumps(information, ensure_ascii=False),
    }
