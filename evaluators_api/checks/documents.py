"""Checks of the text that documents show to a reader, whatever their layout."""

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
"""Marks that evidence adds to the lines of a word processor's document."""
_MOST_POSITIONS = 100
"""Most positions in the wanted text that are followed at once."""
_HIDDEN_TAGS = frozenset({"head", "script", "style", "template"})


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
    wanted, found = _shown_parts(scene.start, source), _file_to_compare(scene.view, target, marked=marked)
    if found is None or not found.text:
        return False
    lines = _compact(*(_shown_values(found.path, found.text) if _is_page(found) else found.text.splitlines()))
    return bool(wanted) and all(_spell(lines, part) for part in wanted)


def is_laid_out(file: FileState) -> bool:
    """Whether what a file shows to a reader differs from its raw text."""
    return file.content in ("pdf", _DOCUMENT) or (file.content in ("text", None) and _is_page(file))


def _shown_parts(view: EvidenceView, place: str) -> tuple[str, ...]:
    """The texts that a reader sees, each in one piece, without spaces."""
    file = _file_to_compare(view, place)
    if file is None or not file.text:
        return ()
    text = file.text
    if file.content == _PROJECT:
        return _compact(*(value for value in _shown_values(file.path, text) if any(map(str.isalpha, value))))
    if _is_page(file):
        return _compact(" ".join(_shown_values(file.path, text)))
    format_name, tree = read(file.path, text)
    if format_name != _TABLE:
        return _compact(text)
    lines = [tree.at((HEADER,)), *tree.parts((ROWS,))]
    return _compact(*(" ".join(cell.value or "" for cell in line.children) for line in lines if line))


def _file_to_compare(view: EvidenceView, place: str, *, marked: bool = False) -> FileState | None:
    """A file, without marks if it is a document or `marked`, which means compared with a document: its lines
    may begin like marks."""
    file = view.place(place)
    if file is None or file.text is None:
        return None
    text = _MARKS.sub("", text_of_file(file, whole=True))
    return file.model_copy(update={"text": text}) if marked or file.content == _DOCUMENT else file


def _spell(lines: Sequence[str], wanted: str) -> bool:
    """Whether some of the lines, joined in their order, make up `wanted`; other lines, such as page numbers,
    may stand between them. Where many lines look alike, only the furthest positions are followed."""
    positions = [0]
    for line in lines:
        reached = {position + len(line) for position in positions if wanted.startswith(line, position)}
        if reached:
            positions = [*sorted(reached.union(positions), reverse=True)[:_MOST_POSITIONS], 0]
    return len(wanted) in positions


def _is_page(file: FileState) -> bool:
    path = file.path.casefold()
    return path.endswith((".html", ".htm", ".xhtml")) and read(file.path, file.text or "")[0] == _MARKUP


@lru_cache(maxsize=64)
def _shown_values(path: str, text: str) -> tuple[str, ...]:
    """Texts of the elements of a page that are shown."""
    texts = []
    pending = [read(path, text)[1]]
    while pending:
        node = pending.pop()
        tag = node.name.partition("#")[0].partition("[")[0].casefold()
        if tag in _HIDDEN_TAGS or tag.startswith("@"):
            continue
        if node.value is not None:
            texts.append(node.value)
        pending.extend(reversed(node.children))
    return tuple(texts)


def _compact(*texts: str) -> tuple[str, ...]:
    """Texts without spaces and without typesetting such as ligatures; empty ones are left out."""
    compact = ("".join(unicodedata.normalize("NFKC", text).split()) for text in texts)
    return tuple(text for text in compact if text)
