"""Checks of the large parts of a file: tables of a database, sections of settings, top fields of JSON and
YAML."""

from __future__ import annotations

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.records import count_records, parts_of


@check("files")
def check_part_exists(scene: Scene, file_path: str, part: str) -> bool:
    """Checks if the file has a part of this name, whatever is in it: a table of a database, a section, a
    field.

    Args:
        file_path: Path relative to the home folder.
        part: The name, such as that of the table; names inside each other are separated by '/'.

    Returns:
        True if the file is there and has that part.

    Example:
        check_part_exists(file_path='Documents/settings.json', part='colours')
    """
    tree = scene.view.tree(file_path)
    return bool(parts_of(part)) and tree is not None and tree.at(parts_of(part)) is not None


@check("files", guard=True)
def check_other_parts_unchanged(scene: Scene, file_path: str, parts: list[str]) -> bool:
    """Checks if all of the file is as it was at the start, except for these parts, which may be new, gone or
    changed.

    Times and ids that an application writes by itself do not count.

    Args:
        file_path: Path relative to the home folder.
        parts: Names of the parts that may differ, such as tables of a database; [] for none.

    Returns:
        True if the file was there at the start, is there now, and differs nowhere else.

    Example:
        check_other_parts_unchanged(file_path='Documents/settings.json', parts=['colours'])
    """
    before, after = scene.start.file(file_path), scene.view.file(file_path)
    if before is None or after is None:
        return False
    if before.text is None or after.text is None:
        raise CheckUnavailableError(
            f"The content of {file_path} was not kept, so its parts cannot be compared; check what must be"
            " there."
        )
    allowed = [parts_of(part) for part in parts]
    others = [
        change
        for change in file_changes(before, after, scene.noise)[1]
        if not any(part and change.address[: len(part)] == part for part in allowed)
    ]
    counts = count_records(others)
    return not (counts.added or counts.removed or counts.changed)
