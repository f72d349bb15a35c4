"""Checks of the large parts of a file: tables of a database, sections of settings, top fields of JSON and
YAML."""

from __future__ import annotations

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.state.records import parts_of


@check("files", of="records")
def check_part_exists(scene: Scene, file_path: str, part: str, at_start: bool = False) -> bool:
    """Checks if the file has a part of this name, whatever is in it: a table of a database, a section, a
    field.

    Example:
        check_part_exists(file_path='Documents/settings.json', part='colours')
    """
    tree = (scene.start if at_start else scene.view).tree(file_path)
    return bool(parts_of(part)) and tree is not None and tree.at(parts_of(part)) is not None
