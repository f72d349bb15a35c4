"""Checks of drawings: their shapes and texts, whatever the program and the file format."""

import re
from collections import Counter
from collections.abc import Iterator

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.formats.drawing import PAGES, SHAPE, SHAPES, TEXT
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.text_matching import has_phrase, shown_in
from taskloom.taskgraph.records.evidence import FileState
from taskloom.taskgraph.text_folding import written_out

_WRITTEN = "text"
_FIRST_TAG = re.compile(r"<([A-Za-z][\w.-]*)")


@check("files", of="drawing")
def check_drawing(scene: Scene, file_path: str, shapes: list[str], texts: list[str]) -> bool:
    """Checks if a drawing holds exactly these shapes and texts, each as often as it is given, in any order
    and place.

    Reads Excalidraw and draw.io files and SVG images. Shapes are 'rectangle', 'ellipse', 'diamond', 'line',
    'arrow', and others as the program calls them; in SVG images what was drawn by hand is a 'path'. A text
    that stands alone is no shape.

    Args:
        texts: All its texts, labels of shapes included; [] for none. Their case counts, line breaks do not.

    Example:
        check_drawing(file_path='Documents/plan.drawio', shapes=['rectangle'], texts=['Main server'])
    """
    found = _drawn(scene.view, file_path)
    if found is None:
        return False
    wanted = Counter(kind.casefold() for kind in shapes), Counter(_said(text) for text in texts)
    return found == wanted


@check("files", of_source=True, of="drawing")
def check_drawing_copied(scene: Scene, source: str, target: str) -> bool:
    """Checks if a drawing holds what another one held at the start: the same texts, as many shapes, and pages
    of the same names where both have pages. For exports and copies, and for what is open in an editor.

    Example:
        check_drawing_copied(source='Documents/plan.excalidraw', target='Downloads/plan.svg')
    """
    first, second = _drawn(scene.start, source), _drawn(scene.view, target)
    if first is None or second is None or not (first[0] or first[1]):
        return False
    pages = _pages(scene.start, source), _pages(scene.view, target)
    return (
        first[1] == second[1]
        and first[0].total() == second[0].total()
        and (pages[0] == pages[1] or not all(pages))
    )


def _pages(view: EvidenceView, path: str) -> list[str]:
    held = view.node(path, (PAGES,))
    return [] if held is None else [page.value or "" for page in held.children]


@check("screen", of_source=True, of="drawing")
def check_drawing_shown_before(scene: Scene, file_path: str) -> bool:
    """Checks if the drawing has texts and all were shown on the screen at the start: it is the drawing that
    was open then.

    Where a file was open then (the screen showed its name and all its texts), nothing of it may be missing.

    Example:
        check_drawing_shown_before(file_path='Downloads/plan.svg')
    """
    found = _drawn(scene.view, file_path)
    if found is None or not _all_shown(found[1], scene.start):
        return False
    opened = list(_opened(scene.start))
    return not opened or any(
        texts <= found[1] and shapes.total() <= found[0].total() for shapes, texts in opened
    )


@check("screen", of="drawing")
def check_drawing_shown(scene: Scene, file_path: str) -> bool:
    """Checks if the drawing has texts and all are shown on the last screen: it was opened, and what it holds
    is still there.

    Example:
        check_drawing_shown(file_path='Documents/plan.drawio')
    """
    found = _drawn(scene.view, file_path)
    return found is not None and _all_shown(found[1], scene.view)


def _opened(screen: EvidenceView) -> Iterator[tuple[Counter[str], Counter[str]]]:
    for path in screen.files:
        name = path.rpartition("/")[2]
        if any(has_phrase(name, text) for text in screen.shown):
            drawn = _drawn(screen, path)
            if drawn is not None and _all_shown(drawn[1], screen):
                yield drawn


def _all_shown(texts: Counter[str], screen: EvidenceView) -> bool:
    return bool(texts) and all(any(shown_in(text, shown) for shown in screen.shown) for text in texts)


def _said(text: str) -> str:
    """A text with its case, whatever its white space: lines are broken anew to fit a shape."""
    return " ".join(written_out(text).split())


def _is_drawing(file: FileState) -> bool:
    """Whether a file holds text; one called a picture must be one, and not a diagram under that name."""
    text = text_of_file(file)
    first = _FIRST_TAG.search(text)
    return bool(text) and (
        not file.path.casefold().endswith(".svg") or (first is not None and first[1].casefold() == "svg")
    )


def _drawn(view: EvidenceView, path: str) -> tuple[Counter[str], Counter[str]] | None:
    file = view.file(path)
    tree = None if file is None or not _is_drawing(file) else read(file.path, text_of_file(file))[1]
    drawn = None if tree is None else tree.at((SHAPES,))
    if drawn is None:
        return None
    shapes: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for item in drawn.children:
        kind, text = item.at((SHAPE,)), item.at((TEXT,))
        if kind is not None and kind.value and kind.value != _WRITTEN:
            shapes[kind.value.casefold()] += 1
        if text is not None and text.value:
            texts[_said(text.value)] += 1
    return shapes, texts
