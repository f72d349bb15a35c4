"""Checks that nothing else happened, as functions asked before the framework told it of a whole episode.

They are kept for such functions, in plain terms: whatever was changed counts, but for measured noise. New
functions are not told of them: see `taskloom.evaluators_api.state.account`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.evidence.sandbox_paths import relative_to_home
from taskloom.evaluators_api.state.account import lasting
from taskloom.evaluators_api.state.effects import effects, file_changes
from taskloom.evaluators_api.state.records import parts_of
from taskloom.evaluators_api.text_matching import same_name
from taskloom.taskgraph.records.effect import Effect

_APPLICATIONS = ".applications/"


@check("files", empty_allowed=True, guard=True)
def check_other_records_unchanged(
    scene: Scene,
    file_path: str,
    added: int | None = 0,
    removed: int | None = 0,
    changed: int | None = 0,
    within: str = "",
) -> bool:
    """Checks if exactly so many records of the file, or of all that applications keep, differ; None for any
    number."""
    before, after = scene.start.files, scene.view.files
    paths = [relative_to_home(file_path)] if file_path else sorted({*before, *after})
    if file_path and not (paths[0] in before and paths[0] in after):
        return False
    counts: dict[str, set[tuple[str, ...]]] = {"added": set(), "removed": set(), "changed": set()}
    for path in paths:
        if path is None or not (file_path or path.startswith(_APPLICATIONS)):
            continue
        old, new = before.get(path), after.get(path)
        if old is None or new is None:
            counts["added" if old is None else "removed"].add((path,))
            continue
        for change in file_changes(old, new, scene.noise)[1]:
            kept = [index + 1 for index, naming in enumerate(change.namings) if naming != "field"]
            field = change.namings[-1] == "field" and bool(kept)
            if change.address[: len(parts_of(within))] != parts_of(within):
                continue
            if change.kind == "changed" or (field and change.parents is not None):
                counts["changed"].add((path, *change.address[: max(kept, default=None)]))
            elif change.parents is not None:
                counts[change.kind].add((path, *change.address))
    wanted = {"added": added, "removed": removed, "changed": changed}
    return all(number is None or number == len(counts[kind]) for kind, number in wanted.items())


@check("files", guard=True)
def check_other_fields_unchanged(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Checks that in the records of a file that were there and are, no other field has another value."""
    changed = [item for item in _changes(scene) if _is(item, file_path) and item.kind == "changed"]
    return scene.view.file(file_path) is not None and all(set(item.address) & set(fields) for item in changed)


@check("files", guard=True)
def check_other_fields_empty(scene: Scene, file_path: str, fields: list[str]) -> bool:
    """Checks that in the records of a file that are new, no other field holds anything."""
    new = [item for item in _all(scene) if _is(item, file_path) and item.kind == "added" and item.address]
    return scene.view.file(file_path) is not None and all(
        set(item.address) & set(fields) or (item.after or "").strip() in ("", "0", "NULL", "null", "false")
        for item in new
        if not (item.after or "").startswith(("{", "["))
    )


@check("files", guard=True)
def check_other_parts_unchanged(scene: Scene, file_path: str, parts: list[str]) -> bool:
    """Checks if all of the file is as it was at the start, except for these parts."""
    allowed = [parts_of(part) for part in parts]
    return scene.view.file(file_path) is not None and all(
        any(part and item.address[: len(part)] == part for part in allowed)
        for item in _changes(scene)
        if _is(item, file_path)
    )


@check("files", guard=True)
def check_other_files_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Checks that no other file of the user was made, lost or changed, and no application lost data."""
    return all(
        any(_is(item, path) for path in file_paths)
        or (item.container.startswith(_APPLICATIONS) and item.kind != "removed")
        for item in _changes(scene)
        if item.area == "file"
    )


@check("files", empty_allowed=True, guard=True)
def check_other_data_unchanged(scene: Scene, file_paths: list[str]) -> bool:
    """Checks that in no other file in which applications keep their own data anything differs."""
    allowed = [path for path in map(relative_to_home, file_paths) if path]
    return all(
        any(fnmatchcase(item.container, path) for path in allowed)
        for item in _changes(scene)
        if item.area == "file" and item.container.startswith(_APPLICATIONS)
    )


@check("files", guard=True)
def check_other_folders_unchanged(scene: Scene, folders: list[str]) -> bool:
    """Checks that no other folder of the user was made or lost, but for those around and inside of these."""
    allowed = [f"{relative_to_home(path)}/" for path in folders]
    return all(
        any(
            f"{item.container}/".startswith(path) or path.startswith(f"{item.container}/") for path in allowed
        )
        for item in _changes(scene)
        if item.area == "directory" and not item.container.startswith(".")
    )


@check("screen", guard=True)
def check_other_rows_unchanged(scene: Scene, rows: list[str]) -> bool:
    """Checks that the rows on the screen that were there before are there still, except for these."""
    return scene.start.evidence.url != scene.view.evidence.url or all(
        name in scene.view.rows or any(same_name(row, name) for row in rows) for name in scene.start.rows
    )


def _all(scene: Scene) -> Iterator[Effect]:
    for view in (scene.start, scene.view):
        view.must_be_seen("", below=True)
    return lasting(effects(scene.start.evidence, scene.view.evidence, {}, screen=False))


def _changes(scene: Scene) -> Iterator[Effect]:
    """Changes that lie in no other one."""
    holders: set[tuple[str, ...]] = set()
    for item in _all(scene):
        if any(
            (item.container, item.kind, *item.address[:depth]) in holders
            for depth in range(len(item.address))
        ):
            continue
        if item.kind != "changed":
            holders.add((item.container, item.kind, *item.address))
        yield item


def _is(effect: Effect, path: str) -> bool:
    return effect.container == relative_to_home(path)
