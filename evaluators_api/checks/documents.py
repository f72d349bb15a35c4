"""Checks of what documents say to those who read them, however they are laid out."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.formats.delimited import HEADER, ROWS
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import FileState

_MARKUP, _TABLE, _PROJECT, _DOCUMENT = "markup", "delimited", "project", "document"
_MARKS = re.compile(r"^(?:#+|-) |!\[\]\([0-9a-f]{64}\)", re.MULTILINE)
"""What evidence adds to the lines of a word processor's document."""
_MOST_PLACES = 100
"""Places in a text up to which lines may have said it."""
_NOT_SHOWN = frozenset({"head", "script", "style", "template"})


@check("files", of_source=True)
def check_says_all(scene: Scene, source: str, target: str) -> bool:
    """Checks if the target says all that the source said at the start of the subtask, in this order: a web
    page or a text that was printed as a PDF document, what a page shows copied to the clipboard, a document
    of a word processor saved as a text.

    How it is laid out, and spaces and line breaks, do not count. The target may have further lines, such as
    the number of a page. Of a web page only what it shows is meant; of a table each line, of a project each
    text in it, wherever they stand.

    Args:
        target: A file, or 'clipboard'.

    Example:
        check_says_all(source='Documents/page.html', target='Documents/page.pdf')
    """
    file = scene.start.place(source)
    marked = file is not None and file.content == _DOCUMENT
    wanted, made = _said(scene.start, source), _held(scene.view, target, marked=marked)
    if made is None or not made.text:
        return False
    lines = _bare(*(_values(made.path, made.text) if _is_page(made) else made.text.splitlines()))
    return bool(wanted) and all(_stands_in(lines, part) for part in wanted)


def is_laid_out(file: FileState) -> bool:
    """Whether a file says something else than its text as it stands."""
    return file.content in ("pdf", _DOCUMENT) or (file.content in ("text", None) and _is_page(file))


def _said(view: EvidenceView, place: str) -> tuple[str, ...]:
    file = _held(view, place)
    if file is None or not file.text:
        return ()
    text = file.text
    if file.content == _PROJECT:
        return _bare(*(value for value in _values(file.path, text) if any(map(str.isalpha, value))))
    if _is_page(file):
        return _bare(" ".join(_values(file.path, text)))
    form, tree = read(file.path, text)
    if form != _TABLE:
        return _bare(text)
    lines = [tree.at((HEADER,)), *tree.parts((ROWS,))]
    return _bare(*(" ".join(cell.value or "" for cell in line.children) for line in lines if line))


def _held(view: EvidenceView, place: str, *, marked: bool = False) -> FileState | None:
    """A file without marks, if it is a document or `marked`: compared with one, whose lines may begin like
    marks."""
    file = view.place(place)
    if file is None or file.text is None:
        return None
    bare = _MARKS.sub("", text_of_file(file, whole=True))
    return file.model_copy(update={"text": bare}) if marked or file.content == _DOCUMENT else file


def _stands_in(lines: Sequence[str], wanted: str) -> bool:
    """Whether some of the lines, in their order, are just what is wanted; others may stand between them, such
    as the number of a page. Of lines that all look alike only the furthest places are followed."""
    reached = [0]
    for line in lines:
        longer = {place + len(line) for place in reached if wanted.startswith(line, place)}
        if longer:
            reached = [*sorted(longer.union(reached), reverse=True)[:_MOST_PLACES], 0]
    return len(wanted) in reached


def _is_page(file: FileState) -> bool:
    path = file.path.casefold()
    return path.endswith((".html", ".htm", ".xhtml")) and read(file.path, file.text or "")[0] == _MARKUP


@lru_cache(maxsize=64)
def _values(path: str, text: str) -> tuple[str, ...]:
    texts = []
    pending = [read(path, text)[1]]
    while pending:
        node = pending.pop()
        tag = node.name.partition("#")[0].partition("[")[0].casefold()
        if tag in _NOT_SHOWN or tag.startswith("@"):
            continue
        if node.value is not None:
            texts.append(node.value)
        pending.extend(reversed(node.children))
    return tuple(texts)


def _bare(*texts: str) -> tuple[str, ...]:
    """Texts without spaces, and without what only their typesetting adds, such as ligatures."""
    bare = ("".join(unicodedata.normalize("NFKC", text).split()) for text in texts)
    return tuple(text for text in bare if text)
