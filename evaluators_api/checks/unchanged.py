"""Checks that nothing else happened: everything but what was asked for is as it was at the start of the
subtask."""

from __future__ import annotations

import re

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.sandbox_paths import relative_to_home
from taskloom.evaluators_api.state.comparison import Change
from taskloom.evaluators_api.state.effects import changed_folders, changed_paths, file_changes
from taskloom.evaluators_api.state.kept_data import (
    APPLICATIONS,
    changed_kept_files,
    file_counts,
    kept_counts,
)
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import changed_fields, count_records, filled_fields, parts_of
from taskloom.evaluators_api.state.templates import is_generated
from taskloom.taskgraph.records.evidence import FileState, is_open_document

_DATABASE, _JSON = "database", "json_tree"
_LONG = 12
"""Characters from which on a value is content rather than a switch."""


@check("files", empty_allowed=True, guard=True)
def check_other_records_unchanged(
    scene: Scene,
    file_path: str,
    added: int | None = 0,
    removed: int | None = 0,
    changed: int | None = 0,
    within: str = "",
) -> bool:
    """Checks if all records of the file are as they were at the start, except for exactly so many.

    Records are rows, objects, elements and lines; in settings each field. Times and ids that an application
    writes by itself do not count. Together with check_record it tells that the right thing happened and
    nothing beside it.

    Args:
        file_path: Path relative to the home folder; '' for all files in which applications keep their own
            data, together. A file that is new or gone counts as one record there.
        added: How many records must be new; None for any number.
        removed: How many must be gone; None for any number.
        changed: How many must hold another value; None for any number.
        within: Where in the file, such as the name of the database's table; '' for all of it.

    Returns:
        True if the file was there at the start, is there now, and differs in exactly these numbers.

    Example:
        check_other_records_unchanged(file_path='Documents/sales.csv', added=1)
    """
    if not file_path:
        counts = kept_counts(scene.start.evidence, scene.view.evidence, parts_of(within))
    else:
        before, after = scene.start.file(file_path), scene.view.file(file_path)
        if before is None or after is None:
            return False
        counts = file_counts(
            before,
            after,
            parts_of(within),
            scene.noise,
        )
    if counts is None:
        raise CheckUnavailableError(
            f"The whole content of {file_path or 'what applications keep'} was not kept, so its records"
            " cannot be compared; check what must be there."
        )
    return all(
        wanted is None or wanted == found
        for wanted, found in ((added, counts.added), (removed, counts.removed), (changed, counts.changed))
    )


@check("files", guard=True)
def check_other_fields_unchanged(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Checks that in the records of a file that were there at the start and still are, no other field has
    another value.

    Records are rows and objects. Times and ids that an application writes by itself do not count. Together
    with check_record it tells that a record was changed in the right way and in no other.

    Args:
        file_path: Path relative to the home folder.
        fields: Names of the fields or columns that the subtask changes; [] for none.

    Returns:
        True if the file was there at the start, is there now, and nothing else in its records was changed.

    Example:
        check_other_fields_unchanged(file_path='Documents/contacts.json', fields=['city'])
    """
    before, after = scene.start.file(file_path), scene.view.file(file_path)
    if before is None or after is None:
        return False
    return changed_fields(file_changes(before, after, scene.noise)[1]) <= set(fields)


@check("files", guard=True)
def check_other_fields_empty(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Checks that in the records of a file that are new since the start, no other field holds anything.

    Records are rows, objects and notes; all those of a file that is new. Times and ids that an application
    writes by itself do not count, nor do 0 and switches that are off. Together with check_record it tells
    that a record holds what it should and nothing more.

    Args:
        file_path: Path relative to the home folder.
        fields: Names of the fields or columns that new records fill, those that the application fills by
            itself included.

    Returns:
        True if the file is there, and its new records hold nothing else.

    Example:
        check_other_fields_empty(file_path='.applications/tickets/tickets.db', fields=['id', 'summary',
        'status'])
    """
    before, after = scene.start.file(file_path), scene.view.file(file_path)
    if after is None or after.text is None:
        return False
    changes = None if before is None else file_changes(before, after, scene.noise)[1]
    return filled_fields(read(after.path, after.text)[1], changes) <= set(fields)


@check("files", guard=True)
def check_other_files_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Checks that nothing else happened: no other file of the user was made, lost or changed, and no
    application lost data.

    Files in which applications keep their own data may change. They must be there as long as they were at the
    start, no row of their databases may be gone, and no text in them emptied or cut short. What is only open
    in an editor does not count.

    Args:
        file_paths: Paths relative to the home folder of the files that the subtask makes, changes or removes,
            those of applications included; [] for none.

    Returns:
        True if all else is as it was.

    Example:
        check_other_files_unchanged(file_paths=['Documents/report.md', 'Downloads/report.md'])
    """
    allowed = {relative_to_home(path) for path in file_paths}
    before, after = scene.start.files, scene.view.files
    for view in (scene.start, scene.view):
        view.must_be_seen("", below=True)
    for path in changed_paths(scene.start.evidence, scene.view.evidence):
        if path in allowed or is_open_document(path):
            continue
        if not path.startswith(APPLICATIONS) or _lost(before.get(path), after.get(path)):
            return False
    return True


@check("files", empty_allowed=True, guard=True)
def check_other_data_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Checks that in no other file in which applications keep their own data anything was added, removed or
    changed.

    Times and ids that an application writes by itself do not count. Stricter than
    check_other_files_unchanged, which lets applications write what they like as long as nothing is lost: it
    tells that no other note, page or setting was touched.

    Args:
        file_paths: Paths relative to the home folder of the files in which the subtask has something kept,
            and of those that the application writes on the way; [] for none. '*' stands for a part of a path
            that the application makes up.

    Returns:
        True if all others are as they were at the start.

    Example:
        check_other_data_unchanged(file_paths=['.applications/wiki/pages/Opening hours.txt'])
    """
    allowed = [_pattern(path) for path in map(relative_to_home, file_paths) if path]
    return all(
        any(pattern.fullmatch(path) for pattern in allowed)
        for path in changed_kept_files(scene.start.evidence, scene.view.evidence)
    )


def _pattern(path: str) -> re.Pattern[str]:
    """What a path must be like, in which `*` is any part."""
    return re.compile("[^/]*".join(map(re.escape, path.split("*"))))


@check("files", guard=True)
def check_other_folders_unchanged(scene: Scene, folders: list[str]) -> bool:
    """Checks that no other folder of the user was made or lost, empty ones included.

    Folders whose names begin with a dot do not count, nor those in which applications keep their own data.

    Args:
        folders: Paths relative to the home folder of the folders that the subtask makes or removes; [] for
            none. Those around them may come with them, and those inside of them may go.

    Returns:
        True if all others are there that were there, and no others.

    Example:
        check_other_folders_unchanged(folders=['Documents/Project Files'])
    """
    allowed = [relative_to_home(path) for path in folders]
    return all(
        any(f"{named}/".startswith(f"{path}/") for named in allowed)
        or (not scene.view.is_directory(path) and any(path.startswith(f"{named}/") for named in allowed))
        for path in changed_folders(scene.start.evidence, scene.view.evidence)
    )


def _lost(before: FileState | None, after: FileState | None) -> bool:
    """Whether a file of an application is gone, or something that was in it."""
    if before is None:
        return False
    if after is None or (before.size and not after.size):
        return True
    if before.truncated or after.truncated:
        return False
    name, changes = file_changes(before, after)
    if name == _DATABASE:
        return count_records(changes).removed > 0
    return any(_shortened(change, name) for change in changes)


def _shortened(change: Change, name: str) -> bool:
    """Whether content was cut: a value that is shorter now, or a line of a text that is gone."""
    before = "" if change.before is None else change.before.value or ""
    after = "" if change.after is None else change.after.value or ""
    if change.kind == "removed" and change.before is not None and name != _JSON:
        lines = change.before.children or (change.before,)
        return any(len(line.value or "") >= _LONG and line.naming == "position" for line in lines)
    if len(before) < _LONG or is_generated(before):
        return False
    return change.kind == "changed" and len(after) < len(before) and after in before
