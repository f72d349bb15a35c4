"""CUA-Gym's dataset: `data/tasks.parquet` and `artifacts/cua_gym_tasks_v1.tar.zst` with three files per task.

`<id>/task.json` describes the machine setup, `<id>/initial_setup.py` does it, and `<id>/reward.py` prints
`REWARD: 1.0` or `REWARD: 0.0`. The machine image needs taskloom, which judges, and the applications under
`/home/user/applications`. With sets, there is a table for each, `data/tasks_<set>.parquet`.
"""

import io
import json
import tarfile
import uuid
from collections import Counter
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Level
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.files import write_json
from taskloom.warehouse.exporting.judging_sheets import applications_of, expressible_tasks, sheet_of
from taskloom.warehouse.exporting.machine_setup import START_COPY, start_script

ARCHIVE: Final = "artifacts/cua_gym_tasks_v1.tar.zst"
"""Path of the archive with all bundles in the dataset."""
_NAMESPACE: Final = uuid.UUID("c2c6f3a0-55b1-5b0e-8f0c-5a9f4d0f3e77")
_SETUP: Final = "initial_setup.py"
_TARGET: Final = f"/home/user/{_SETUP}"
_REWARD: Final = '''\
"""Reward of the task {task_id}: taskloom's judgement of the home folder, compared with its start."""

import json
import pathlib
import sys

SHEET = json.loads({sheet!r})


def compute_reward():
    from taskloom.evaluators_api.judging_folders import judge_home
    from taskloom.taskgraph.records.judging_sheet import JudgingSheet

    judgement = judge_home(
        JudgingSheet.model_validate(SHEET), pathlib.Path("{start}"), pathlib.Path("/home/user")
    )
    for item in judgement.subtasks:
        print("done" if item.success else "not done", item.instance_id, item.message, file=sys.stderr)
    print("REWARD: {{:.1f}}".format(judgement.reward))


if __name__ == "__main__":
    compute_reward()
'''
REFUSES_TASKS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the table and the archive."""
    refused: list[Refused] = []
    rows: dict[str, list[dict[str, object]]] = {}
    (folder / "artifacts").mkdir()
    with (
        pa.output_stream(str(folder / ARCHIVE), compression="zstd") as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for task, (row, files) in expressible_tasks(source, lambda task: _bundle(task, source), refused):
            rows.setdefault(source.split_of(task.task_id) if source.splits else "", []).append(row)
            for name, text in files.items():
                data = text.encode()
                member = tarfile.TarInfo(f"{row['id']}/{name}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    (folder / "data").mkdir()
    for name, rows_of_set in rows.items():
        table = pa.Table.from_pylist(rows_of_set)
        suffix = f"_{name}" if name else ""
        pyarrow.parquet.write_table(table, folder / "data" / f"tasks{suffix}.parquet", compression="zstd")
    all_rows = [row for rows_of_set in rows.values() for row in rows_of_set]
    statistics = {
        "tasks": len(all_rows),
        "files": 3 * len(all_rows),
        "app_types": dict(sorted(Counter(str(row["app_type"]) for row in all_rows).items())),
        "platforms": dict(sorted(Counter(str(row["platform"]) for row in all_rows).items())),
    }
    write_json(folder / "stats.json", statistics)
    write_json(folder / "url_variables.json", {"variables": {}})
    (folder / "README.md").write_text(card_of(sorted(rows)), encoding="utf-8")
    return ExportOutcome(
        counts={"tasks": len(all_rows)} if all_rows else {},
        refused=tuple(refused),
        notes=(
            "The machine image needs taskloom for reward.py, and each application under"
            " /home/user/applications.",
        ),
    )


def _bundle(task: Task, source: ExportSource) -> tuple[dict[str, object], dict[str, str]]:
    """The row of a task, and its files."""
    sheet, applications = sheet_of(task, source), applications_of(task, source)
    names, task_id = [item.name for item in applications], str(uuid.uuid5(_NAMESPACE, task.task_id))
    is_multiple = len(names) > 1
    app_type = "multi_apps" if is_multiple else names[0]
    levels: list[Level] = [getattr(task.complexity, f"{name}_level") for name in DIMENSIONS]
    difficulty = max(levels, key=LEVELS.index)
    row: dict[str, object] = {
        "id": task_id,
        "instruction": task.instruction,
        "app_type": app_type,
        "app_family": "multi_apps" if is_multiple else "other",
        "platform": "cross_app" if is_multiple else "desktop",
        "difficulty": difficulty,
        "setup_kind": "py",
        "num_setup_steps": 2,
        "num_setup_files": 1,
        "setup_files": [_SETUP],
        "has_ground_truth": False,
        "archive_path": ARCHIVE,
        "archive_member": task_id,
        "task_json_member": f"{task_id}/task.json",
        "reward_member": f"{task_id}/reward.py",
        "setup_file_members": [f"{task_id}/{_SETUP}"],
    }
    description = {
        "id": task_id,
        "instruction": task.instruction,
        "app_type": app_type,
        "config": [
            {"type": "download", "parameters": {"files": [{"url": f"./{_SETUP}", "path": _TARGET}]}},
            {"type": "execute", "parameters": {"command": f"python3 {_TARGET}"}},
        ],
        "evaluator": {"type": "python", "url": "./reward.py"},
        "source": f"taskloom:{task.task_id}",
        "difficulty": difficulty,
        "related_apps": names,
    }
    return row, {
        "task.json": json.dumps(description, ensure_ascii=False, indent=2) + "\n",
        "reward.py": _REWARD.format(task_id=task_id, sheet=sheet.model_dump_json(), start=START_COPY),
        _SETUP: start_script(applications),
    }


def card_of(sets: list[str]) -> str:
    """The card that tells `datasets` which files hold rows; by default it takes every JSON file."""
    files = "".join(
        f"  - split: {name or 'train'}\n    path: data/tasks{'_' if name else ''}{name}.parquet\n"
        for name in sets
    )
    return (
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n\n# Tasks in the layout of"
        " CUA-Gym\n"
    )
