"""Harbor task packages: a folder per task with `task.toml`, `instruction.md`, `environment/` and `tests/`.

With sets, each is a folder of packages. The environment is a Dockerfile that installs
taskloom (build argument `TASKLOOM`: a requirement or the address of a wheel) and the applications, and a
program that brings the container to the start of the task. `tests/test.sh` runs `taskloom judge` on the home
folder and writes `reward.json`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evaluation_function import JudgingSheet
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.judging_sheets import applications_of, expressible_tasks, sheet_of
from taskloom.warehouse.exporting.machine_setup import START_COPY, start_script

_SCHEMA: Final = "1.3"
_AGENT_SECONDS, _VERIFIER_SECONDS, _BUILD_SECONDS = 1800.0, 300.0, 3600.0
_DOCKERFILE: Final = """\
# The container in which the task is done: Chromium on a virtual screen, taskloom, and the applications of the task.
FROM python:3.11-bookworm
ARG TASKLOOM=taskloom
ENV DISPLAY=:0
RUN apt-get update && apt-get install --yes --no-install-recommends chromium nodejs npm git xvfb \\
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir "$TASKLOOM" \\
    && TASKLOOM_DATA=/opt/taskloom taskloom install --only {applications}
RUN mkdir -p /home/user /var/lib/taskloom && ln -s /opt/taskloom/applications /home/user/applications
COPY start.py /opt/task/start.py
WORKDIR /home/user
ENTRYPOINT ["xvfb-run", "--server-num=0", "--server-args=-screen 0 1280x720x24", "python3", "/opt/task/start.py"]
"""  # noqa: E501
_TEST: Final = f"""\
#!/bin/bash
# Writes the reward (1 when every subtask is done) and the coverage; ends with 0 whatever the reward is.
taskloom judge /tests/sheet.json --start {START_COPY} --home /home/user --reward /logs/verifier/reward.json
[ $? -le 1 ]
"""
REFUSES_TASKS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write a package for every task that can be judged by its files."""
    counts: Counter[str] = Counter()
    refused: list[Refused] = []
    for task, (sheet, applications) in expressible_tasks(
        source, lambda task: (sheet_of(task, source), applications_of(task, source)), refused
    ):
        place = folder / source.split_of(task.task_id) if source.splits else folder
        _write_package(place / package_name(task.task_id), task, sheet, applications)
        counts["tasks"] += 1
    return ExportOutcome(
        counts=dict(counts),
        refused=tuple(refused),
        notes=("Build with --build-arg TASKLOOM=… where taskloom is not in your package index.",),
    )


def package_name(task_id: str) -> str:
    """A name that Harbor accepts for a task, the same for the same id.

    >>> package_name("task-1"), package_name("a b/ü")[:4]
    ('task-1', 'a-b-')
    """
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", task_id).strip("-")
    if plain == task_id and len(plain) <= 60:
        return plain
    return f"{plain[:40]}-{hashlib.sha256(task_id.encode()).hexdigest()[:12]}".lstrip("-")


def _write_package(place: Path, task: Task, sheet: JudgingSheet, applications: Sequence[Application]) -> None:
    names = [item.name for item in applications]
    files = {
        "task.toml": _configuration(task, sheet, names),
        "instruction.md": f"{task.instruction}\n",
        "environment/Dockerfile": _DOCKERFILE.format(applications=",".join(names)),
        "environment/start.py": start_script(applications),
        "tests/test.sh": _TEST,
        "tests/sheet.json": sheet.model_dump_json(indent=2) + "\n",
    }
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (place / "tests/test.sh").chmod(0o755)


def _configuration(task: Task, sheet: JudgingSheet, names: list[str]) -> str:
    complexity = task.complexity.model_dump(mode="json")
    left_out = sorted({name for item in sheet.subtasks for name in item.left_out})
    sections: dict[str, dict[str, object]] = {
        "": {"schema_version": _SCHEMA},
        "task": {
            "name": f"taskloom/{package_name(task.task_id)}",
            "description": task.intent or task.instruction,
            "keywords": ["computer-use", *names],
        },
        "metadata": {
            "task_id": task.task_id,
            "scenario": task.scenario,
            "applications": names,
            "capabilities": list(task.capabilities),
            "checks_left_out": left_out,
            "judged_through_others": list(sheet.through_others),
            **complexity,
        },
        "agent": {"timeout_sec": _AGENT_SECONDS},
        "verifier": {"timeout_sec": _VERIFIER_SECONDS},
        "environment": {"build_timeout_sec": _BUILD_SECONDS, "cpus": 2, "memory_mb": 4096},
        "environment.healthcheck": {
            "command": f"test -e {Path(START_COPY).with_name('ready')}",
            "retries": 60,
        },
    }
    lines: list[str] = []
    for section, values in sections.items():
        lines += [f"[{section}]"] if section else []
        lines += (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
        lines.append("")
    return "\n".join(lines).replace("\x7f", "\\u007f")  # otherwise values are as in JSON
