"""Questions whether anything else happened, which functions asked before the framework told it of a whole
episode.

They are kept so that such functions run, and are all answered with yes: what was harmed is said by
`taskloom.evaluators_api.state.account`. Models are not told of them.
"""

from __future__ import annotations

from taskloom.evaluators_api.checks.declaration import Scene, check


@check("files", empty_allowed=True, guard=True)
def check_other_records_unchanged(
    scene: Scene,
    file_path: str,
    added: int | None = 0,
    removed: int | None = 0,
    changed: int | None = 0,
    within: str = "",
) -> bool:
    """Asks if exactly so many records of the file, or of all that applications keep, differ."""
    return True


@check("files", guard=True)
def check_other_fields_unchanged(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Asks if in the records of a file that were there and are, no other field has another value."""
    return True


@check("files", guard=True)
def check_other_fields_empty(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Asks if in the records of a file that are new, no other field holds anything."""
    return True


@check("files", guard=True)
def check_other_parts_unchanged(scene: Scene, file_path: str, parts: list[str]) -> bool:
    """Asks if all of the file is as it was at the start, except for these parts."""
    return True


@check("files", guard=True)
def check_other_files_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Asks if no other file of the user was made, lost or changed, and no application lost data."""
    return True


@check("files", empty_allowed=True, guard=True)
def check_other_data_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Asks if in no other file in which applications keep their own data anything differs."""
    return True


@check("files", guard=True)
def check_other_folders_unchanged(scene: Scene, folders: list[str]) -> bool:
    """Asks if no other folder of the user was made or lost, but for those around and inside of these."""
    return True


@check("screen", guard=True)
def check_other_rows_unchanged(scene: Scene, rows: list[str]) -> bool:
    """Asks if the rows on the screen that were there before are there still, except for these."""
    return True
