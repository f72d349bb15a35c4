"""Checks of what became of the state since the start: what changed, what was lost, and what a field held before."""

from __future__ import annotations

from evaluators_api.checks.declaration import Scene, check
from evaluators_api.evidence.sandbox_paths import relative_to_home
from evaluators_api.state.effects import file_changes
from evaluators_api.state.records import count_records, parts_of, text_of
from evaluators_api.state.volatility import is_volatile

_DATABASE = "database"


@check("files")
def check_file_changed(scene: Scene, file_path: str) -> bool:
    """Checks if the file is not what it was at the start: made, changed or removed. What was there before is nobody's work.

    Args:
        file_path: Path relative to the home folder, of a file or a folder.

    Returns:
        True if the file differs from what it was at the start, or the folder was made or removed.

    Example:
        check_file_changed(file_path='Downloads/report.csv')
    """
    before, after = scene.start.file(file_path), scene.view.file(file_path)
    if before is None and after is None:
        return scene.start.is_directory(file_path) is not scene.view.is_directory(file_path)
    if before is None or after is None:
        return True
    return before.sha256 != after.sha256 or before.text != after.text


@check("files")
def check_nothing_lost(scene: Scene, file_paths: list[str]) -> bool:
    """Checks if nothing was lost beside these files: no other file, of the user or of an application, and no row of a database.

    Args:
        file_paths: Paths relative to the home folder of the files that may be removed, or lose something; [] for none.

    Returns:
        True if all else that was there at the start is still there.

    Example:
        check_nothing_lost(file_paths=['Documents/old.txt'])
    """
    allowed = {relative_to_home(path) for path in file_paths}
    for path, before in scene.start.files.items():
        if path in allowed or is_volatile(path):
            continue
        after = scene.view.files.get(path)
        if after is None or (before.size and not after.size):
            return False
        if before.text == after.text or before.truncated or after.truncated:
            continue
        name, changes = file_changes(before, after)
        if name == _DATABASE and count_records(changes).removed:
            return False
    return True


@check("files")
def get_field(scene: Scene, file_path: str, field: str, at_start: bool = False) -> str:
    """Gets the value of the field at this address of the file, now or at the start of the subtask.

    Args:
        file_path: Path relative to the home folder.
        field: Names from the outside in, joined by '/', as in check_field.
        at_start: Whether to read it as it was at the start.

    Returns:
        The value; '' if there is no such file or field.

    Example:
        check_clipboard_text(text=get_field(file_path='Documents/note.md', field='text', at_start=True))
    """
    tree = (scene.start if at_start else scene.view).tree(file_path)
    found = None if tree is None else tree.at(parts_of(field))
    return "" if found is None else text_of(found)
