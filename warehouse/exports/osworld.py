"""OSWorld: `examples/<domain>/<id>.json` per task, and `test_all.json` with the names of every domain's
files.

With sets, `test_train.json`, `test_validation.json` and `test_test.json` list each, as OSWorld's
`--test_all_meta_path` reads them.

A task judgeable by files alone is exported with `taskloom judge` as its evaluator, which the machine must
have. The judging sheet is sent after the work (`postconfig`), so it cannot be read before; the copy of
the home folder that it compares with is made at the start, when all applications run but not yet the browser.
Other tasks are refused with the reason. Tasks imported from OSWorld are exported unchanged.
"""

import uuid
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import Final

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError, InexpressibleError
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.files import write_json
from taskloom.warehouse.exporting.judging_sheets import applications_of, sheet_of
from taskloom.warehouse.exporting.machine_setup import HOME, execute, setup, write_file
from taskloom.warehouse.records import ImportedItem

_NAMESPACE = uuid.UUID("6f7c2f0c-2f5f-5d3e-9a55-0d7c2a6f1b11")
_FOLDER: Final = "/tmp/taskloom"  # noqa: S108 - on the machine of OSWorld, which is new for each task
_SHEET: Final = f"{_FOLDER}/sheet.json"
_COPY: Final = f"{_FOLDER}/start"
_JUDGE_COMMAND: Final = (
    f"taskloom judge {_SHEET} --start {_COPY} --home {HOME} > /dev/null 2>&1 && echo done || echo not done"
)
_COPY_HOME: Final = f"""\
import shutil
shutil.rmtree({_COPY!r}, ignore_errors=True)
ignored = lambda folder, names: ['applications'] if folder == {HOME!r} else []
try:
    shutil.copytree({HOME!r}, {_COPY!r}, symlinks=True, ignore=ignored)
except shutil.Error as error:
    print(error)
"""

REFUSES_TASKS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write every task judgeable by files alone, and lists of them by domain; refuses if there are none."""
    stems_by_set: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    refused: list[Refused] = []
    for task, originals in source.tasks_with(ImportedItem, "item_id"):
        original = originals[0] if originals else None
        if original is not None and original.format == "osworld" and isinstance(original.content, dict):
            place = PurePosixPath(original.place)
            domain, stem, fields = place.parent.as_posix(), place.stem, dict[str, object](original.content)
        else:
            try:
                domain, fields = _fields(task, source)
                stem = str(fields["id"])
            except InexpressibleError as error:
                refused.append(Refused(item_id=task.task_id, reason=str(error)))
                continue
        write_json(folder / "examples" / domain / f"{stem}.json", fields)
        stems_by_set[source.split_of(task.task_id)][domain].append(stem)
    if not stems_by_set:
        raise ExportRefusedError(
            f"OSWorld can express none of the {len(refused)} selected tasks; the first: {refused[0].item_id}:"
            f" {refused[0].reason}."
        )
    all_stems: dict[str, list[str]] = defaultdict(list)
    for domains in stems_by_set.values():
        for domain, stems in domains.items():
            all_stems[domain] += stems
    for name, domains in {**(stems_by_set if source.splits else {}), "all": all_stems}.items():
        sorted_stems = {domain: sorted(stems) for domain, stems in sorted(domains.items())}
        write_json(folder / f"test_{name}.json", sorted_stems)
    return ExportOutcome(
        counts={"tasks": sum(len(stems) for stems in all_stems.values())},
        refused=tuple(refused),
        notes=(
            "Our tasks assume a machine image that has `taskloom judge`, and on which each application is"
            f" installed under {HOME}/applications.",
        ),
    )


def _fields(task: Task, source: ExportSource) -> tuple[str, dict[str, object]]:
    """The domain of a task, and the fields of its file."""
    applications = applications_of(task, source)
    names = [application.name for application in applications]
    return names[0] if len(names) == 1 else "multi_apps", {
        "id": str(uuid.uuid5(_NAMESPACE, task.task_id)),
        "snapshot": names[0],
        "instruction": task.instruction,
        "source": f"taskloom:{task.task_id}",
        "config": setup(applications, [execute(["python3", "-c", _COPY_HOME])]),
        "trajectory": "trajectories/",
        "related_apps": names,
        "evaluator": {
            "postconfig": write_file(_SHEET, sheet_of(task, source).model_dump_json().encode()),
            "func": "exact_match",
            "result": {"type": "vm_command_line", "command": ["bash", "-c", _JUDGE_COMMAND]},
            "expected": {"type": "rule", "rules": {"expected": "done\n"}},
            "options": {},
        },
        "proxy": False,
        "fixed_ip": False,
        "possibility_of_env_change": "low",
    }
