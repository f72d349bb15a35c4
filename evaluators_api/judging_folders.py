"""Judges a task by comparing its home folder at the start and now, to grade exported tasks in other
harnesses. It only reads files and executes nothing in the folders."""

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.evaluators_api.errors import SheetInvalidError
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.taskgraph.records.evaluation_function import (
    HomeJudgement,
    JudgedSubtask,
    JudgingSheet,
    SubtaskJudgement,
)
from taskloom.taskgraph.records.evidence import CLIPBOARD, ClipboardState, Evidence, FileState

INSTALLED: Final = frozenset({"applications"})
"""Folders of the home that are not evidence: machine images keep the applications there."""


def read_sheet(path: Path) -> JudgingSheet:
    """Read the judging sheet in a file.

    Raises:
        SheetInvalidError: the file cannot be read, or is not a sheet.
    """
    try:
        return JudgingSheet.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SheetInvalidError(f"Cannot read the judging sheet {path}: {error}.") from None
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(part) for part in problem["loc"]) or "the whole file"
        raise SheetInvalidError(f"{path} is not a judging sheet: {field}: {problem['msg']}.") from None


def judge_home(sheet: JudgingSheet, start: Path, home: Path) -> HomeJudgement:
    """Judge `home`, which equalled `start` before the work, with the functions of the sheet.

    Raises:
        SheetInvalidError: one of the folders does not exist.
        SandboxUnavailableError: the sandbox cannot start here.
    """
    for folder in (start, home):
        if not folder.is_dir():
            raise SheetInvalidError(f"There is no folder {folder} to judge.")
    before, after = _evidence(start, 0, sheet), _evidence(home, 1, sheet)
    judgements = []
    with EvaluationSandbox() as sandbox:
        for item in sheet.subtasks:
            subtask_start = _subtask_start(item, before, after)
            result = sandbox.evaluate(item.source, item.parameters, after, subtask_start)
            judgements.append(
                SubtaskJudgement(instance_id=item.instance_id, success=result.passed, message=result.said)
            )
    passed = sum(item.success for item in judgements)
    return HomeJudgement(
        task_id=sheet.task_id,
        reward=float(passed == len(judgements)),
        coverage=passed / len(judgements),
        subtasks=tuple(judgements),
        side_effects=None if sheet.allowed is None else find_side_effects(before, after, sheet.allowed),
    )


def _subtask_start(subtask: JudgedSubtask, before: Evidence, after: Evidence) -> Evidence:
    """The state at the start of a subtask, reconstructed from the states at the start and end of the task."""
    known = {file.path for file in before.files}
    files = [file for file in before.files if file.path not in subtask.as_left]
    files += [file for file in after.files if file.path in subtask.made_before and file.path not in known]
    files += [file for file in after.files if file.path in subtask.as_left]
    files.sort(key=lambda file: file.path)
    texts = {file.path: file.text for file in files if file.text is not None}
    inputs = {place: texts[path] for place, path in subtask.given_from.items() if path in texts}
    clipboard = ClipboardState(text=inputs.pop(CLIPBOARD, None))
    opened = (FileState(path=path, size=len(text), sha256="", text=text) for path, text in inputs.items())
    return before.model_copy(update={"files": (*files, *opened), "clipboard": clipboard})


def _evidence(home: Path, step: int, sheet: JudgingSheet) -> Evidence:
    snapshot = FileSnapshots(home.absolute(), INSTALLED).take()
    return Evidence(
        step=step,
        files=snapshot.files,
        directories=snapshot.directories,
        unseen=snapshot.unseen,
        noise=sheet.noise,
    )
