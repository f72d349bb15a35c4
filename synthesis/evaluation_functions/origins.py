"""Where new content comes from: what a performance pasted, imported, exported or copied was somewhere at the
start.

Found with the checks themselves, so that what is shown to a writer can be asked for by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from taskloom.evaluators_api.checks.archives import check_packed, check_unpacked, is_archive
from taskloom.evaluators_api.checks.contents import (
    CLIPBOARD,
    check_clipboard_text,
    check_copied,
    check_file_text,
    get_file_text,
)
from taskloom.evaluators_api.checks.declaration import Scene
from taskloom.evaluators_api.checks.drawings import (
    check_drawing_copied,
    check_drawing_shown,
    check_drawing_shown_before,
)
from taskloom.evaluators_api.checks.pictures import CHANGES, check_picture, picture_of
from taskloom.evaluators_api.checks.records import check_one_record_copied, check_records_copied
from taskloom.evaluators_api.checks.since_start import get_linked_field, get_record_count
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.evidence.ocr import ScreenReader
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import records_of, refers, text_of
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.prompts.shown_effects import Origin
from taskloom.taskgraph.records.evidence import Evidence, FileState, is_open_document

SCREEN = "screen"
"""What stands for the screen where a file path could stand."""
_SHORTEST = 4
_LARGEST_SOURCE = 64 * 1024
_MOST = 20
_DATABASE = "database"


def origins(
    start: Evidence, end: Evidence, containers: Sequence[str], named: Collection[str] = ()
) -> tuple[Origin, ...]:
    """Origins of what is in the files `containers`, and in the clipboard, at the end.

    Records are meant that hold a value which is `named`. Where the end holds nothing new, drawings whose
    paths are `named` can be where what the screen shows comes from.
    """
    scene = Scene(view(end), ScreenReader(None), view(start))
    nothing_done = Scene(view(start), ScreenReader(None), view(start))
    targets = [_steady(path) for path in containers if any(file.path == path for file in end.files)]
    if end.clipboard != start.clipboard:
        targets.append(CLIPBOARD)
    possible = [list(_from(target, start, end, named)) for target in targets]
    possible.append(list(_packed(containers, start, end, named)))
    if not targets:
        drawings = [file.path for file in start.files if file.path in named and _is_drawing(file)]
        possible = [[Origin(kind="opened", source=path, target=SCREEN) for path in drawings]]
    found: list[Origin] = []
    for held in possible:
        found += [item for item in held if _holds(item, scene) and not _holds(item, nothing_done)]
    return tuple(found[:_MOST])


def _from(target: str, start: Evidence, end: Evidence, named: Collection[str]) -> Iterator[Origin]:
    sources = [
        file
        for file in start.files
        if file.path != target and file.text and len(file.text) <= _LARGEST_SOURCE and not file.truncated
    ]
    places = [file.path for file in sources if file.text and len(file.text.strip()) >= _SHORTEST]
    if start.clipboard.text:
        places.insert(0, CLIPBOARD)
    for source in places:
        yield Origin(kind="whole", source=source, target=target)
        yield Origin(kind="part", source=source, target=target)
    yield from _drawings(target, sources, start, end)
    yield from _pictures(target, start, end)
    yield from _joined(target, start, end, named)
    yield from _connected(target, sources, start, end, named)
    if target == CLIPBOARD:
        wanted = (end.clipboard.text or "").strip()
        for file in sources:
            for address, value in _values(file):
                if value.strip() == wanted and len(wanted) >= _SHORTEST:
                    yield Origin(kind="field", source=file.path, source_at="/".join(address), target=target)
        if wanted.startswith("{"):
            yield from _single_records(target, sources, start)
        return
    made = end.file(target)
    if made is not None and is_archive(made):
        return  # what it says of a file, other archives say as well
    yield from _same_fields(target, sources, start, end)
    tables = _tables(end, target)
    for file in sources:
        if _is_drawing(file):
            continue
        for source_at in _tables(start, file.path):
            for target_at in tables:
                yield Origin(
                    kind="records",
                    source=file.path,
                    source_at=source_at,
                    target=target,
                    target_at=target_at,
                )


def _single_records(target: str, sources: Sequence[FileState], start: Evidence) -> Iterator[Origin]:
    """Each of the first records of each table, of which the target may be a copy."""
    for file in sources:
        tree = read(file.path, file.text or "")[1]
        for table in _tables(start, file.path):
            rows = tree.at((*filter(None, (table,)), "rows"))
            for number in range(1, 1 + min(_MOST, len(rows.children) if rows is not None else 0)):
                yield Origin(kind="record", source=file.path, source_at=table, target=target, number=number)


def _steady(path: str) -> str:
    """`path`, or the folder around the part of it that was generated."""
    return steady_path(path).partition("*")[0].rpartition("/")[0] if "*" in steady_path(path) else path


def _drawings(target: str, sources: Sequence[FileState], start: Evidence, end: Evidence) -> Iterator[Origin]:
    """The drawing of which a new one is a copy; else the one that was open."""
    file = end.file(target) if is_open_document(target) else _new_file(target, start, end)
    if file is None or not _is_drawing(file):
        return
    for source in sources:
        if _is_drawing(source):
            yield Origin(kind="drawing", source=source.path, target=target)
    if not is_open_document(target):
        yield Origin(kind="shown", source=SCREEN, target=target)


def _pictures(target: str, start: Evidence, end: Evidence) -> Iterator[Origin]:
    """The pictures from which a new or changed one can be made; itself only where nothing else fits."""
    made = end.file(target)
    if made is None or picture_of(made) is None:
        return
    for source in start.files:
        if picture_of(source) is not None:
            for change in CHANGES:
                yield Origin(kind="picture", source=source.path, source_at=change, target=target)


def _packed(
    containers: Collection[str], start: Evidence, end: Evidence, named: Collection[str]
) -> Iterator[Origin]:
    """Named files and folders that an archive may hold, and archives from which a file, or all of a named
    folder, may come."""
    folders = [path for path in named if path and path in view(start).directories | view(end).directories]
    files = [file.path for file in start.files if file.path in named]
    for archive in (file for file in end.files if file.path in containers and is_archive(file)):
        for source in (*files, *folders):
            if source != archive.path:
                yield Origin(kind="packed", source=source, target=archive.path)
    for archive in (file for file in start.files if file.path in named and is_archive(file)):
        for target in (*containers, *folders):
            yield Origin(kind="unpacked", source=archive.path, target=target)


def _joined(target: str, start: Evidence, end: Evidence, named: Collection[str]) -> Iterator[Origin]:
    """Two named files of which the target may be the one with the other behind it."""
    file = end.file(target)
    if file is None or not file.text:
        return
    texts = {item.path: item.text for item in start.files if item.path in named and item.text}
    for source, text in texts.items():
        for other, behind in texts.items():
            if source != other and text + behind == file.text:
                yield Origin(kind="joined", source=source, source_at=other, target=target)


def _is_drawing(file: FileState) -> bool:
    return file.text is not None and read(file.path, file.text)[0] == "drawing"


def _connected(
    target: str, sources: Sequence[FileState], start: Evidence, end: Evidence, named: Collection[str]
) -> Iterator[Origin]:
    """Records that belong together, and fields of them, that are all of a new file or of the clipboard."""
    if target == CLIPBOARD:
        held = end.clipboard.text or ""
    else:
        file = _new_file(target, start, end)
        held = "" if file is None else file.text or ""
    wanted = held.strip()
    if not wanted or len(wanted) > _LARGEST_SOURCE:
        return
    for source in sources:
        form, tree = read(source.path, source.text or "")
        if wanted.isdigit() and form == "delimited":
            yield Origin(kind="count", source=source.path, target=target)
        if form == "lines":
            continue
        records = list(records_of(tree))
        for record in records:
            own = _known_by(record, named)
            if wanted[:1] in "[{" and any(known in held for known in own.values()):
                for known_by, known in own.items():
                    yield Origin(
                        kind="belonging", source=source.path, target=target, belonging_to={known_by: known}
                    )
            for child in record.children:
                if len(wanted) >= _SHORTEST and child.value is not None and child.value.strip() == wanted:
                    owners = [record, *(item for item in records if refers(record, item))]
                    for known_by, known in (
                        pair for owner in owners for pair in _known_by(owner, named).items()
                    ):
                        yield Origin(
                            kind="linked",
                            source=source.path,
                            source_at=child.name,
                            target=target,
                            belonging_to={known_by: known},
                        )


def _known_by(record: Node, named: Collection[str]) -> dict[str, str]:
    """Fields whose values are named, so that they say which record is meant."""
    return {child.name: child.value for child in record.children if child.value and child.value in named}


def _new_file(path: str, start: Evidence, end: Evidence) -> FileState | None:
    if any(item.path == path for item in start.files):
        return None
    return next((item for item in end.files if item.path == path), None)


def _holds(origin: Origin, scene: Scene) -> bool:
    try:
        if origin.kind == "drawing":
            return bool(check_drawing_copied(scene, origin.source, origin.target))
        if origin.kind == "picture":
            return bool(check_picture(scene, origin.source, origin.target, origin.source_at))
        if origin.kind == "packed":
            return bool(check_packed(scene, origin.source, origin.target))
        if origin.kind == "unpacked":
            return bool(check_unpacked(scene, origin.source, origin.target))
        if origin.kind == "joined":
            joined = [
                str(get_file_text(scene, path, at_start=True)) for path in (origin.source, origin.source_at)
            ]
            return bool(check_file_text(scene, origin.target, "".join(joined)))
        if origin.kind == "opened":
            return bool(check_drawing_shown(scene, origin.source))
        if origin.kind == "record":
            place = (origin.source, origin.target, origin.number, origin.source_at)
            return bool(check_one_record_copied(scene, *place))
        if origin.kind == "shown":
            return bool(check_drawing_shown_before(scene, origin.target))
        if origin.kind == "belonging":
            return bool(
                check_records_copied(
                    scene, origin.source, origin.target, belonging_to=dict(origin.belonging_to)
                )
            )
        if origin.kind == "linked":
            held = str(
                get_linked_field(
                    scene, origin.source, origin.source_at, dict(origin.belonging_to), at_start=True
                )
            )
            return _is_held(scene, origin.target, held)
        if origin.kind == "count":
            return _is_held(scene, origin.target, str(get_record_count(scene, origin.source, at_start=True)))
        if origin.kind in ("whole", "part"):
            return bool(check_copied(scene, origin.source, origin.target, origin.kind == "whole"))
        if origin.kind == "records":
            return bool(
                check_records_copied(scene, origin.source, origin.target, origin.source_at, origin.target_at)
            )
    except CheckUnavailableError:
        return False
    if origin.target != CLIPBOARD:
        return scene.start_view is not scene.view
    source = scene.start.tree(origin.source)
    found = source.at(tuple(origin.source_at.split("/"))) if source is not None else None
    copied = scene.view.evidence.clipboard.text
    return found is not None and copied is not None and copied.strip() == text_of(found).strip()


def _is_held(scene: Scene, target: str, text: str) -> bool:
    if target == CLIPBOARD:
        return bool(check_clipboard_text(scene, text))
    return bool(check_file_text(scene, target, text))


def _same_fields(
    target: str, sources: Sequence[FileState], start: Evidence, end: Evidence
) -> Iterator[Origin]:
    """Fields of a new file that have the name and the value of a field of one other file at the start.

    Where several files have such a field, it is taken to come from the one that another field can only come
    from.
    """
    file = next((item for item in end.files if item.path == target), None)
    if file is None or any(item.path == target for item in start.files):
        return
    places = {
        address: [
            (source.path, place)
            for source in sources
            for place, held in _values(source)
            if place[-1] == address[-1] and held.strip() == value.strip()
        ]
        for address, value in _values(file)
    }
    certain = {found[0][0] for found in places.values() if len(found) == 1}
    for address, found in places.items():
        likely = found if len(found) == 1 else [item for item in found if item[0] in certain]
        if len(likely) == 1:
            path, place = likely[0]
            yield Origin(
                kind="field",
                source=path,
                source_at="/".join(place),
                target=target,
                target_at="/".join(address),
            )


def _tables(evidence: Evidence, path: str) -> tuple[str, ...]:
    """Where in a file records are: the tables of a database, everywhere in other files."""
    file = next((item for item in evidence.files if item.path == path), None)
    if file is None or file.text is None:
        return ()
    form, tree = read(path, file.text)
    if form == "lines":
        return ()
    return tuple(child.name for child in tree.children) if form == _DATABASE else ("",)


@lru_cache(maxsize=256)
def _values(file: FileState) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Every text field of a file with its address."""
    form, tree = read(file.path, file.text or "")
    if form == "lines":
        return ()
    return tuple(
        (address, text_of(node))
        for address, node in tree.walk()
        if address and node.naming == "field" and len(text_of(node)) >= _SHORTEST
    )
