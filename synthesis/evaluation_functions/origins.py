"""Where new content comes from: what a performance pasted, imported, exported or copied was at the start.

Found with the checks themselves, so that what is shown to a writer can be asked for by it.
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
"""What stands for the screen where a file path could stand."""
_SHORTEST = 4
_LARGEST_SOURCE = 64 * 1024
_MOST = 20
_DRAWING = "drawing"


def origins(
    start: Evidence, end: Evidence, containers: Sequence[str], named: Collection[str] = ()
) -> tuple[Origin, ...]:
    """Origins of what is in the files `containers`, and in the clipboard, at the end.

    Records are meant that hold a value which is `named`. What is all that `named` files held comes from them,
    though another file may have held the same. Where the end holds nothing new, drawings whose paths are
    `named` can be where what the screen shows comes from.
    """
    scene = Scene(view(end), ScreenReader(None), view(start))
    nothing_done = Scene(view(start), ScreenReader(None), view(start))
    targets = [_steady(path) for path in containers if end.file(path) is not None]
    if end.clipboard != start.clipboard:
        targets.append(CLIPBOARD)
    possible = [item for target in targets for item in _from(target, start, end, named)]
    possible += _packed(containers, start, end, named)
    if not targets:
        drawings = [file.path for file in start.files if file.path in named and _form(file) == _DRAWING]
        possible = [Origin(kind="opened", source=path, target=SCREEN) for path in drawings]
    found = [item for item in possible if _holds(item, scene) and not _holds(item, nothing_done)]
    explained = {item.target for item in found if item.kind in ("whole", "joined") and item.source in named}
    known = {CLIPBOARD, *named}
    return tuple(item for item in found if item.target not in explained or item.source in known)[:_MOST]


def _from(target: str, start: Evidence, end: Evidence, named: Collection[str]) -> Iterator[Origin]:
    """Everything that the content of `target` may come from; which of it is so, the checks tell."""
    sources = list(_sources(start, target))
    for source in sources:  # texts that it may hold as a whole or among other text
        if source.path == CLIPBOARD or len((source.text or "").strip()) >= _SHORTEST:
            yield Origin(kind="whole", source=source.path, target=target)
            yield Origin(kind="part", source=source.path, target=target)
    made = view(end).place(target)
    if made is None:
        return
    files = [file for file in sources if file.path != CLIPBOARD]
    copied, new = target == CLIPBOARD, target != CLIPBOARD and start.file(target) is None
    yield from _drawn(made, files, new=new)
    yield from _captured(made, start)
    yield from _joined(made, start, named)
    yield from _said(made, [file for file in files if file.path in named])
    if new or copied:
        yield from _connected(made, files, named)
    if copied:
        yield from _copied((made.text or "").strip(), files)
    elif not is_archive(made):  # what it says of a file, other archives say as well
        yield from _same_fields(made, files) if new else ()
        yield from _recorded(made, files)


def _sources(start: Evidence, target: str) -> Iterator[FileState]:
    """The clipboard and the files, other than `target`, from which something can have been taken over."""
    for file in (view(start).place(CLIPBOARD), *start.files):
        readable = file is not None and file.text and len(file.text) <= _LARGEST_SOURCE and not file.truncated
        if file is not None and readable and (file.path != target or target == CLIPBOARD):
            yield file


def _said(made: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Documents and tables that the target may say in another layout."""
    for source in sources:
        table = made.path == CLIPBOARD and read(source.path, source.text or "")[0] == "delimited"
        if table or is_laid_out(source) or is_laid_out(made):
            yield Origin(kind="said", source=source.path, target=made.path)


def _drawn(made: FileState, sources: Sequence[FileState], *, new: bool) -> Iterator[Origin]:
    """Drawings, and what an application shows of them, for a drawing that is new or open."""
    is_open = is_open_document(made.path)
    if _form(made) != _DRAWING or not (new or is_open):
        return
    for source in (file for file in sources if _form(file) == _DRAWING):
        yield Origin(kind="drawing", source=source.path, target=made.path)
    if not is_open:
        yield Origin(kind="shown", source=SCREEN, target=made.path)


def _captured(made: FileState, start: Evidence) -> Iterator[Origin]:
    """The screen, and pictures that were changed, for a picture."""
    if picture_of(made) is None:
        return
    yield Origin(kind="captured", source=SCREEN, target=made.path)
    for source in filter(picture_of, start.files):
        for change in CHANGES:
            yield Origin(kind="picture", source=source.path, source_at=change, target=made.path)


def _recorded(made: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Tables whose records another table may hold."""
    for source in (file for file in sources if _form(file) != _DRAWING):
        for at, to in product(_tables(source), _tables(made)):
            yield Origin(kind="records", source=source.path, source_at=at, target=made.path, target_at=to)


def _copied(wanted: str, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Fields that are all of the clipboard; the first records of each table, of which it may hold one."""
    for file in sources:
        for address, value in _values(file) if len(wanted) >= _SHORTEST else ():
            if value.strip() == wanted:
                yield Origin(kind="field", source=file.path, source_at="/".join(address), target=CLIPBOARD)
    for file in sources if wanted.startswith("{") else ():
        tree = read(file.path, file.text or "")[1]
        for at in _tables(file):
            rows = tree.at((*filter(None, (at,)), "rows"))
            for number in range(1, 1 + min(_MOST, len(rows.children) if rows is not None else 0)):
                yield Origin(kind="record", source=file.path, source_at=at, target=CLIPBOARD, number=number)


def _steady(path: str) -> str:
    """`path`, or the folder around the part of it that was generated."""
    return steady_path(path).partition("*")[0].rpartition("/")[0] if "*" in steady_path(path) else path


def _packed(
    containers: Collection[str], start: Evidence, end: Evidence, named: Collection[str]
) -> Iterator[Origin]:
    """Named files and folders that an archive may hold, and archives that named ones may come from."""
    folders = [path for path in named if path and path in view(start).directories | view(end).directories]
    files = [file.path for file in start.files if file.path in named]
    for archive in (file.path for file in end.files if file.path in containers and is_archive(file)):
        sources = (source for source in (*files, *folders) if source != archive)
        yield from (Origin(kind="packed", source=source, target=archive) for source in sources)
    for archive in (file.path for file in start.files if file.path in named and is_archive(file)):
        yield from (Origin(kind="unpacked", source=archive, target=to) for to in (*containers, *folders))


def _joined(made: FileState, start: Evidence, named: Collection[str]) -> Iterator[Origin]:
    texts = {item.path: item.text for item in start.files if item.path in named and item.text}
    for source, other in permutations(texts, 2) if made.path != CLIPBOARD else ():
        if texts[source] + texts[other] == made.text:
            yield Origin(kind="joined", source=source, source_at=other, target=made.path)


def _connected(made: FileState, sources: Sequence[FileState], named: Collection[str]) -> Iterator[Origin]:
    """Records that belong together, and fields of them, that are all of a new file or of the clipboard."""
    wanted = (made.text or "").strip()
    for source in sources if 0 < len(wanted) <= _LARGEST_SOURCE else ():
        form, tree = read(source.path, source.text or "")
        made_of = partial(Origin, source=source.path, target=made.path)
        if wanted.isdigit() and form == "delimited":
            yield made_of(kind="count")
        for record in records_of(tree) if form != FALLBACK else ():
            own = _known_by(record, named)
            if wanted[:1] in "[{" and any(known in (made.text or "") for known in own.values()):
                for name, known in own.items():
                    yield made_of(kind="belonging", belonging_to={name: known})
            for field, name, known in _naming(record, tree, wanted, named):
                yield made_of(kind="linked", source_at=field, belonging_to={name: known})


def _naming(record: Node, tree: Node, wanted: str, named: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """`wanted` fields, each with a name and value by which the record, or one it refers to, is known."""
    for child in record.children if len(wanted) >= _SHORTEST else ():
        if child.value is not None and child.value.strip() == wanted:
            for owner in (record, *(item for item in records_of(tree) if refers(record, item))):
                for name, known in _known_by(owner, named).items():
                    yield child.name, name, known


def _known_by(record: Node, named: Collection[str]) -> dict[str, str]:
    return {child.name: child.value for child in record.children if child.value and child.value in named}


def _holds(origin: Origin, scene: Scene) -> bool:
    try:
        return bool(_answer(origin.asked, scene))
    except CheckUnavailableError:
        return False


def _answer(asked: CheckAsked, scene: Scene) -> Answer:
    given = {
        name: "".join(str(_answer(part, scene)) for part in value) if isinstance(value, tuple) else value
        for name, value in asked.arguments.items()
    }
    return checks()[asked.check].function(scene, **given)


def _same_fields(made: FileState, sources: Sequence[FileState]) -> Iterator[Origin]:
    """Fields of a new file that have the name and the value of a field of one other file at the start.

    Where several files have such a field, it is taken to come from the one that another field can only come
    from.
    """
    places = {
        address: [
            (source.path, place)
            for source in sources
            for place, held in _values(source)
            if place[-1] == address[-1] and held.strip() == value.strip()
        ]
        for address, value in _values(made)
    }
    certain = {found[0][0] for found in places.values() if len(found) == 1}
    for address, found in places.items():
        likely = found if len(found) == 1 else [item for item in found if item[0] in certain]
        if len(likely) == 1:
            ((source, place),) = likely
            at, to = "/".join(place), "/".join(address)
            yield Origin(kind="field", source=source, source_at=at, target=made.path, target_at=to)


def _form(file: FileState) -> str:
    return "" if file.text is None or file.path == CLIPBOARD else read(file.path, file.text)[0]


def _tables(file: FileState) -> tuple[str, ...]:
    """Where in a file records are: the tables of a database, everywhere in other files."""
    form = _form(file)
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
