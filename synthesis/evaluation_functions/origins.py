"""Where new content comes from: what a performance pasted, imported, exported or copied was somewhere at the start.

Found with the checks themselves, so that what is shown to a writer can be asked for by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from evaluators_api.checks.contents import CLIPBOARD, check_copied
from evaluators_api.checks.declaration import Scene
from evaluators_api.checks.records import check_records_copied
from evaluators_api.errors import CheckUnavailableError
from evaluators_api.evidence.evidence_view import view
from evaluators_api.evidence.ocr import ScreenReader
from evaluators_api.state.reading import read
from evaluators_api.state.records import text_of
from evaluators_api.state.volatility import is_generated, is_volatile
from prompts.shown_effects import Origin
from taskgraph.records.evidence import Evidence, FileState

_SHORTEST = 4
_LARGEST_SOURCE = 64 * 1024
_MOST = 20
_DATABASE = "database"


def origins(start: Evidence, end: Evidence, containers: Sequence[str]) -> tuple[Origin, ...]:
    """Origins of what is in the files `containers`, and in the clipboard, at the end."""
    scene = Scene(view(end), ScreenReader(None), view(start))
    nothing_done = Scene(view(start), ScreenReader(None), view(start))
    targets = [path for path in containers if any(file.path == path for file in end.files)]
    if end.clipboard != start.clipboard:
        targets.append(CLIPBOARD)
    found: list[Origin] = []
    for target in targets:
        held = list(_from(target, start, end))
        found += [item for item in held if _holds(item, scene) and not _holds(item, nothing_done)]
    return tuple(found[:_MOST])


def _from(target: str, start: Evidence, end: Evidence) -> Iterator[Origin]:
    sources = [
        file
        for file in start.files
        if file.path != target
        and file.text
        and len(file.text) <= _LARGEST_SOURCE
        and not file.truncated
        and not is_volatile(file.path)
    ]
    places = [file.path for file in sources if file.text and len(file.text.strip()) >= _SHORTEST]
    if start.clipboard.text:
        places.insert(0, CLIPBOARD)
    for source in places:
        yield Origin(kind="whole", source=source, target=target)
        yield Origin(kind="part", source=source, target=target)
    if target == CLIPBOARD:
        wanted = (end.clipboard.text or "").strip()
        for file in sources:
            for address, value in _values(file):
                if value.strip() == wanted and len(wanted) >= _SHORTEST:
                    yield Origin(kind="field", source=file.path, source_at="/".join(address), target=target)
        return
    yield from _same_fields(target, sources, start, end)
    tables = _tables(end, target)
    for file in sources:
        for source_at in _tables(start, file.path):
            for target_at in tables:
                yield Origin(
                    kind="records",
                    source=file.path,
                    source_at=source_at,
                    target=target,
                    target_at=target_at,
                )


def _holds(origin: Origin, scene: Scene) -> bool:
    try:
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
    held = scene.view.evidence.clipboard.text
    return found is not None and held is not None and held.strip() == text_of(found).strip()


def _same_fields(
    target: str, sources: Sequence[FileState], start: Evidence, end: Evidence
) -> Iterator[Origin]:
    """Fields of a new file that have the name and the value of a field of one other file at the start.

    Where several files have such a field, it is taken to come from the one that another field can only come from.
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
        if not is_generated(value)
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
