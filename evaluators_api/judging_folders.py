"""Judges a task by its home folder at the start and now; exported tasks are graded with it elsewhere. Only
files are looked at, and nothing in the folders is executed."""

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.evaluators_api.errors import SheetInvalidError
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import beyond
from taskloom.taskgraph.records.evaluation_function import (
    HomeJudgement,
    JudgedSubtask,
    JudgingSheet,
    SubtaskJudgement,
)
from taskloom.taskgraph.records.evidence import CLIPBOARD, ClipboardState, Evidence, FileState

INSTALLED: Final = frozenset({"applications"})
"""Folder of the home in which machine images have the applications; no evidence."""


def read_sheet(path: Path) -> JudgingSheet:
    """The sheet in a file.

    Raises:
        SheetInvalidError: it cannot be read, or is no sheet.
    """
    try:
        return JudgingSheet.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SheetInvalidError(f"Cannot read the judging sheet {path}: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise SheetInvalidError(f"{path} is not a judging sheet: {place}: {first['msg']}.") from None


def judge_home(sheet: JudgingSheet, start: Path, home: Path) -> HomeJudgement:
    """What the functions of the sheet say of `home`, which was as `start` before the work.

    Raises:
        SheetInvalidError: one of the folders does not exist.
        SandboxUnavailableError: the sandbox cannot start here.
    """
    for folder in (start, home):
        if not folder.is_dir():
            raise SheetInvalidError(f"There is no folder {folder} to judge.")
    before, after = _evidence(start, 0, sheet), _evidence(home, 1, sheet)
    found = []
    with EvaluationSandbox() as sandbox:
        for item in sheet.subtasks:
            first = _start_of(item, before, after)
            answer = sandbox.evaluate(item.source, item.parameters, after, first)
            name, done = item.instance_id, answer.passed
            found.append(SubtaskJudgement(instance_id=name, success=done, message=answer.said))
    right = sum(item.success for item in found)
    beside = None if sheet.allowed is None else beyond(before, after, sheet.allowed)
    return HomeJudgement(
        task_id=sheet.task_id,
        reward=float(right == len(found)),
        coverage=right / len(found),
        subtasks=tuple(found),
        side_effects=beside,
    )


def _start_of(subtask: JudgedSubtask, before: Evidence, after: Evidence) -> Evidence:
    there = {file.path for file in before.files}
    made = [file for file in after.files if file.path in subtask.made_before and file.path not in there]
    made += [file for file in after.files if file.path in subtask.as_left]
    kept = [file for file in before.files if file.path not in subtask.as_left]
    files = tuple(sorted((*kept, *made), key=lambda file: file.path))
    texts = {file.path: file.text for file in files}
    given = {place: texts.get(path) for place, path in subtask.given_from.items()}
    clipboard = ClipboardState(text=given.pop(CLIPBOARD, None))
    there_is = {path: text for path, text in given.items() if text is not None}
    opened = (FileState(path=path, size=len(text), sha256="", text=text) for path, text in there_is.items())
    return before.model_copy(update={"files": (*files, *opened), "clipboard": clipboard})


def _evidence(home: Path, step: int, sheet: JudgingSheet) -> Evidence:
    found = FileSnapshots(home.absolute(), INSTALLED).take()
    held = Evidence(step=step, files=found.files, directories=found.directories, unseen=found.unseen)
    return held.model_copy(update={"noise": sheet.noise})
