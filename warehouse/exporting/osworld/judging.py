"""Lets OSWorld judge a task by its evaluation functions: `taskloom judge` on the machine, where getters
cannot say what they say.

The sheet comes to the machine after the work (`postconfig`), so nobody can read it before; the copy of the
home folder that it compares with is made at the start, when all applications run and the browser does not
yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taskloom.taskgraph.records.judging_sheet import JudgingSheet
from taskloom.warehouse.exporting.osworld.setup import HOME, execute, write_file

_FOLDER: Final = "/tmp/taskloom"  # noqa: S108 - on the machine of OSWorld, which is new for each task
_SHEET: Final = f"{_FOLDER}/sheet.json"
_COPY: Final = f"{_FOLDER}/start"
_DONE: Final = "done\n"
_COPY_HOME: Final = f"""\
import shutil
shutil.rmtree({_COPY!r}, ignore_errors=True)
ignored = lambda folder, names: ['applications'] if folder == {HOME!r} else []
try:
    shutil.copytree({HOME!r}, {_COPY!r}, symlinks=True, ignore=ignored)
except shutil.Error as error:
    print(error)
"""


def copy_of_home() -> dict[str, object]:
    """The step that keeps the home folder as it is before the work."""
    return execute(["python3", "-c", _COPY_HOME])


def judged_evaluator(sheet: JudgingSheet) -> Mapping[str, object]:
    """The evaluator: OSWorld's `exact_match` of what a command says at the end."""
    judging = (
        f"taskloom judge {_SHEET} --start {_COPY} --home {HOME} > /dev/null 2>&1 && echo done || echo not"
        " done"
    )
    return {
        "postconfig": write_file(_SHEET, sheet.model_dump_json().encode()),
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": ["bash", "-c", judging]},
        "expected": {"type": "rule", "rules": {"expected": _DONE}},
        "options": {},
    }
