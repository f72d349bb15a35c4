"""What applications keep, all of it together: how many of its records differ between two states."""

from __future__ import annotations

from taskloom.evaluators_api.state.effects import changed_paths, file_changes
from taskloom.evaluators_api.state.noise import NO_NOISE, Noise, noise_between
from taskloom.evaluators_api.state.records import RecordCounts, count_records
from taskloom.taskgraph.records.evidence import Evidence, FileState, is_open_document

APPLICATIONS = ".applications/"
"""What the paths of files begin with in which applications keep their own data."""
_DATABASE = "database"


def is_kept(path: str) -> bool:
    """Whether a file is one in which an application keeps its data, and not what is only open.

    >>> is_kept(".applications/desk/shop.db"), is_kept("Documents/a.txt")
    (True, False)
    """
    return path.startswith(APPLICATIONS) and not is_open_document(path)


def kept_counts(start: Evidence, end: Evidence, within: tuple[str, ...] = ()) -> RecordCounts | None:
    """Records of all that applications keep, without what they write for themselves; None where a change
    cannot be read.

    A file that is new or gone counts as one record; of the others only what is at or below the address
    `within` counts.
    """
    before, after = start.files_by_path(), end.files_by_path()
    noise = noise_between(start, end)
    added = removed = changed = 0
    for path in {**before, **after}:
        if not is_kept(path):
            continue
        counts = file_counts(before.get(path), after.get(path), within, noise)
        if counts is None:
            return None
        added, removed, changed = added + counts.added, removed + counts.removed, changed + counts.changed
    return RecordCounts(added, removed, changed)


def changed_kept_files(start: Evidence, end: Evidence) -> tuple[str, ...]:
    """Files in which applications keep their data and of which a record is new, gone or changed, or of which
    nobody can tell; sorted.

    What the applications change by themselves does not count.
    """
    before, after = start.files_by_path(), end.files_by_path()
    noise = noise_between(start, end)
    return tuple(
        path
        for path in changed_paths(start, end)
        if is_kept(path)
        and (
            (counts := file_counts(before.get(path), after.get(path), noise=noise)) is None
            or counts.added
            or counts.removed
            or counts.changed
        )
    )


def file_counts(
    before: FileState | None,
    after: FileState | None,
    within: tuple[str, ...] = (),
    noise: Noise = NO_NOISE,
) -> RecordCounts | None:
    """Records of a file that are new, gone and changed, at or below the address `within`; None where its text
    was not kept whole.

    A file that is new or gone counts as one record.
    """
    if before is None or after is None:
        return RecordCounts(
            int(before is None and after is not None), int(after is None and before is not None), 0
        )
    if before.sha256 == after.sha256 and before.text == after.text:
        return RecordCounts(0, 0, 0)
    name, changes = file_changes(before, after, noise)
    if (
        before.text is None
        or after.text is None
        or (name != _DATABASE and before.truncated | after.truncated)
    ):
        return None
    return count_records([change for change in changes if change.address[: len(within)] == within])
