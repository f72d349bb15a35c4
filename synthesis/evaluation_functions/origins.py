"""Where new content comes from: content at the start that was pasted, imported, exported or copied.

Found with the checks themselves, so that the writer can use them to check what it is shown.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial
from itertools import permutations, product

from taskloom.evaluators_api.checks.contents import is_archive
from taskloom.evaluators_api.checks.declaration import Answer, Scene, checks
from taskloom.evaluators_api.checks.documents import is_laid_out
from taskloom.evaluators_api.checks.pictures import CHANGES, picture_of
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.evidence.ocr import ScreenReader
from taskloom.evaluators_api.state.effects import DATABASE
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import FALLBACK, read
from taskloom.evaluators_api.state.records import records_of, refers, text_of
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.prompts.shown_effects import CheckAsked, Origin
from taskloom.taskgraph.records.evidence import CLIPBOARD, Evidence, FileState, is_open_document

SCREEN = "screen"
"""Stands for the screen in place of a file path."""
_SHORTEST = 4
_LARGEST_SOURCE = 64 * 1024
_MOST_ORIGINS = 20
_DRAWING = "drawing"


def origins(
    start: Evidence, end: Evidence, containers: Sequence[str], named: Collection[str] = ()
) -> tuple[Origin, ...]:
    """Origins of the content of the files `containers`, and of the clipboard, at the end.

    Only records with a value in `named` are considered. If a file consists of the content of `named` files,
    these are its origin, even if another file has the same content. If nothing new is in the files or the
    clipboard, drawings whose paths are `named` may be the origin of what the screen shows.
    """
    end_scene = Scene(view(end), ScreenReader(None), view(start))
    start_scene = Scene(view(start), ScreenReader(None), view(start))
    targets = [_stable_path(path) for path in containers if end.file(path) is not None]
    if end.clipboard != start.clipboard:
        targets.append(CLIPBOARD)
    candidates = [item for target in targets for item in _candidates(target, start, end, named)]
    candidates += _archives(containers, start, end, named)
    if not targets:
        drawings = [file.path for file in start.files if file.path in named and _format_of(file) == _DRAWING]
        candidates = [Origin(kind="opened", source=path, target=SCREEN) for path in drawings]
    found = [item for item in candidates if _holds(item, end_scene) and not _holds(item, start_scene)]
    explained = {item.target for item in found if item.kind in ("whole", "joined") and item.source in named}
    known = {CLIPBOARD, *named}
    kept = [item for item in found if item.target not in explained or item.source in known]
    return tuple(kept[:_MOST_ORIGINS])


def _candidates(target: str, start: Evidence, end: Evidence, named: Collection[str]) -> Iterator[Origin]:
    """Every possible origin of the content of `target`; the checks decide which are real."""
    sources = list(_sources(start, target))
    for source in sources:  # texts that the target may hold alone or among other text
        if source.path == CLIPBOARD or len((source.text or "").strip()) >= _SHORTEST:
            yield Origin(kind="whole", source=source.path, target=target)
            yield Origin(kind="part", source=source.path, target=target)
    result = view(end).place(target)
    if result is None:
        return
    files = [file for file in sources if file.path != CLIPBOARD]
    copied, new = target == CLIPBOARD, target != CLIPBOARD and start.file(target) is None
    yield from _drawings(result, files, new=new)
    yield from _pictures(result, start)
    yield from _concatenations(result, start, named)
    yield from _restatements(result, [file for file in files if file.path in named])
    if new or copied:
        yield from _relations(result, files, named)
    if copied:
        yield from _clipboard_sources((result.text or "").strip(), files)
    elif not is_archive(result):  # archives list the same file identically
        yield from _same_fields(result, files) if new else ()
        yield from _table_records(result, files)


def _sources(start: Evidence, target: str) -> Iterator[FileState]:
    """The clipboard and the files, except `target`, whose content may have been taken over."""
    for file in (view(start).place(CLIPBOARD), *start.files):
        readable = file is not None and file.text and len(file.text) <= _LARGEST_SOURCE and not file.truncated
        if file is not None and readable and (file.path != target or target == CLIPBOARD):
            yield file


def _restatements(result: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Documents and tables whose content the target may repeat in another layout."""
    for source in sources:
        is_table = result.path == CLIPBOARD and read(source.path, source.text or "")[0] == "delimited"
        if is_table or is_laid_out(source) or is_laid_out(result):
            yield Origin(kind="said", source=source.path, target=result.path)


def _drawings(result: FileState, sources: Sequence[FileState], *, new: bool) -> Iterator[Origin]:
    """Drawings, and what an application shows of them, as origins of a new or open drawing."""
    is_open = is_open_document(result.path)
    if _format_of(result) != _DRAWING or not (new or is_open):
        return
    for source in (file for file in sources if _format_of(file) == _DRAWING):
        yield Origin(kind="drawing", source=source.path, target=result.path)
    if not is_open:
        yield Origin(kind="shown", source=SCREEN, target=result.path)


def _pictures(result: FileState, start: Evidence) -> Iterator[Origin]:
    """The screen, and pictures before a change, as origins of a picture."""
    if picture_of(result) is None:
        return
    yield Origin(kind="captured", source=SCREEN, target=result.path)
    for source in filter(picture_of, start.files):
        for change in CHANGES:
            yield Origin(kind="picture", source=source.path, source_at=change, target=result.path)


def _table_records(result: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Tables whose records may be in another table."""
    for source in (file for file in sources if _format_of(file) != _DRAWING):
        for at, to in product(_tables(source), _tables(result)):
            yield Origin(kind="records", source=source.path, source_at=at, target=result.path, target_at=to)


def _clipboard_sources(wanted: str, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Fields equal to the clipboard's text; the first records of each table, which it may hold."""
    for file in sources:
        for address, value in _values(file) if len(wanted) >= _SHORTEST else ():
            if value.strip() == wanted:
                yield Origin(kind="field", source=file.path, source_at="/".join(address), target=CLIPBOARD)
    for file in sources if wanted.startswith("{") else ():
        tree = read(file.path, file.text or "")[1]
        for at in _tables(file):
            rows = tree.at((*filter(None, (at,)), "rows"))
            for number in range(1, 1 + min(_MOST_ORIGINS, len(rows.children) if rows is not None else 0)):
                yield Origin(kind="record", source=file.path, source_at=at, target=CLIPBOARD, number=number)


def _stable_path(path: str) -> str:
    """`path`, or the folder that contains its generated part."""
    return steady_path(path).partition("*")[0].rpartition("/")[0] if "*" in steady_path(path) else path


def _archives(
    containers: Collection[str], start: Evidence, end: Evidence, named: Collection[str]
) -> Iterator[Origin]:
    """Named files and folders that may be in an archive, and named archives that files may come from."""
    folders = [path for path in named if path and path in view(start).directories | view(end).directories]
    files = [file.path for file in start.files if file.path in named]
    for archive in (file.path for file in end.files if file.path in containers and is_archive(file)):
        sources = (source for source in (*files, *folders) if source != archive)
        yield from (Origin(kind="packed", source=source, target=archive) for source in sources)
    for archive in (file.path for file in start.files if file.path in named and is_archive(file)):
        yield from (Origin(kind="unpacked", source=archive, target=to) for to in (*containers, *folders))


def _concatenations(result: FileState, start: Evidence, named: Collection[str]) -> Iterator[Origin]:
    texts = {item.path: item.text for item in start.files if item.path in named and item.text}
    for source, other in permutations(texts, 2) if result.path != CLIPBOARD else ():
        if texts[source] + texts[other] == result.text:
            yield Origin(kind="joined", source=source, source_at=other, target=result.path)


def _relations(result: FileState, sources: Sequence[FileState], named: Collection[str]) -> Iterator[Origin]:
    """Records that belong together, or fields of them, that make up a new file or the clipboard."""
    wanted = (result.text or "").strip()
    for source in sources if 0 < len(wanted) <= _LARGEST_SOURCE else ():
        form, tree = read(source.path, source.text or "")
        origin = partial(Origin, source=source.path, target=result.path)
        if wanted.isdigit() and form == "delimited":
            yield origin(kind="count")
        for record in records_of(tree) if form != FALLBACK else ():
            identities = _identities(record, named)
            if wanted[:1] in "[{" and any(known in (result.text or "") for known in identities.values()):
                for name, known in identities.items():
                    yield origin(kind="belonging", belonging_to={name: known})
            for field, name, known in _matches(record, tree, wanted, named):
                yield origin(kind="linked", source_at=field, belonging_to={name: known})


def _matches(record: Node, tree: Node, wanted: str, named: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Fields equal to `wanted`, with a name and value identifying their record or one it refers to."""
    for child in record.children if len(wanted) >= _SHORTEST else ():
        if child.value is not None and child.value.strip() == wanted:
            for owner in (record, *(item for item in records_of(tree) if refers(record, item))):
                for name, known in _identities(owner, named).items():
                    yield child.name, name, known


def _identities(record: Node, named: Collection[str]) -> dict[str, str]:
    return {child.name: child.value for child in record.children if child.value and child.value in named}


def _holds(origin: Origin, scene: Scene) -> bool:
    try:
        return bool(_answer(origin.asked, scene))
    except CheckUnavailableError:
        return False


def _answer(check: CheckAsked, scene: Scene) -> Answer:
    arguments = {
        name: "".join(str(_answer(part, scene)) for part in value) if isinstance(value, tuple) else value
        for name, value in check.arguments.items()
    }
    return checks()[check.check].function(scene, **arguments)


def _same_fields(result: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Fields of a new file that have the name and the value of a field of one other file at the start.

    If several files have such a field, it is attributed to one from which another field must come.
    """
    places = {
        address: [
            (source.path, place)
            for source in sources
            for place, held in _values(source)
            if place[-1] == address[-1] and held.strip() == value.strip()
        ]
        for address, value in _values(result)
    }
    certain = {found[0][0] for found in places.values() if len(found) == 1}
    for address, found in places.items():
        likely = found if len(found) == 1 else [item for item in found if item[0] in certain]
        if len(likely) == 1:
            ((source, place),) = likely
            at, to = "/".join(place), "/".join(address)
            yield Origin(kind="field", source=source, source_at=at, target=result.path, target_at=to)


def _format_of(file: FileState) -> str:
    return "" if file.text is None or file.path == CLIPBOARD else read(file.path, file.text)[0]


def _tables(file: FileState) -> tuple[str, ...]:
    """Where in a file records are: the tables of a database, or anywhere ("") in other files."""
    form = _format_of(file)
    if form == DATABASE:
        return tuple(child.name for child in read(file.path, file.text or "")[1].children)
    return () if form in ("", FALLBACK) else ("",)


@lru_cache(maxsize=256)
def _values(file: FileState) -> tuple[tuple[tuple[str, ...], str], ...]:
    form, tree = read(file.path, file.text or "")
    if form == FALLBACK:
        return ()
    return tuple(
        (address, text_of(node))
        for address, node in tree.walk()
        if address and node.naming == "field" and len(text_of(node)) >= _SHORTEST
    )
