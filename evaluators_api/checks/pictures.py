"""Checks of drawings, by their shapes and texts, whatever the program and the file format; and of raster
pictures made from another picture or of the screen, by their mean colours in a grid."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.errors import CheckMisusedError, CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.formats.drawing import PAGES, SHAPE, SHAPES, TEXT
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.text_matching import has_phrase, shown_in
from taskloom.taskgraph.records.evidence import FileState
from taskloom.taskgraph.text_folding import written_out

_FIRST_TAG = re.compile(r"<([A-Za-z][\w.-]*)")
_Colour = tuple[int, int, int]
_Grid = tuple[tuple[_Colour, ...], ...]
_MEAN_TOLERANCE, _GREATEST_TOLERANCE = 6.0, 60
"""Difference of colours, in steps of 255, that rendering again may cause: on average, and anywhere."""


def _invert(colour: _Colour) -> _Colour:
    return (255 - colour[0], 255 - colour[1], 255 - colour[2])


def _to_grey(colour: _Colour) -> _Colour:
    light = round(0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2])
    return (light, light, light)


def _for_each_colour(change: Callable[[_Colour], _Colour]) -> Callable[[_Grid], _Grid]:
    return lambda grid: tuple(tuple(change(colour) for colour in row) for row in grid)


CHANGES: Mapping[str, Callable[[_Grid], _Grid]] = MappingProxyType(
    {
        "same": lambda grid: grid,
        "turned right": lambda grid: tuple(zip(*grid[::-1], strict=True)),
        "turned left": lambda grid: tuple(zip(*grid, strict=True))[::-1],
        "upside down": lambda grid: tuple(row[::-1] for row in grid[::-1]),
        "left and right exchanged": lambda grid: tuple(row[::-1] for row in grid),
        "top and bottom exchanged": lambda grid: grid[::-1],
        "colours inverted": _for_each_colour(_invert),
        "without colours": _for_each_colour(_to_grey),
    }
)
"""Changes of a whole picture, by name."""


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
    found = _drawing(scene.view, file_path)
    if found is None:
        return False
    wanted = Counter(kind.casefold() for kind in shapes), Counter(_one_line(text) for text in texts)
    return found == wanted


@check("files", of_source=True, of="drawing")
def check_drawing_copied(scene: Scene, source: str, target: str) -> bool:
    """Checks if a drawing holds what another one held at the start: the same texts, as many shapes, and pages
    of the same names where both have pages. For exports and copies, and for what is open in an editor.

    Example:
        check_drawing_copied(source='Documents/plan.excalidraw', target='Downloads/plan.svg')
    """
    original, copy = _drawing(scene.start, source), _drawing(scene.view, target)
    if original is None or copy is None or not (original[0] or original[1]):
        return False
    pages = _pages(scene.start, source), _pages(scene.view, target)
    return (
        original[1] == copy[1]
        and original[0].total() == copy[0].total()
        and (pages[0] == pages[1] or not all(pages))
    )


def _pages(view: EvidenceView, path: str) -> list[str]:
    tree = view.tree(path)
    return [] if tree is None else [page.value or "" for page in tree.parts((PAGES,))]


@check("screen", of_source=True, of="drawing")
def check_drawing_shown_before(scene: Scene, file_path: str) -> bool:
    """Checks if the drawing has texts and all were shown on the screen at the start: it is the drawing that
    was open then.

    Where a file was open then (the screen showed its name and all its texts), nothing of it may be missing.

    Example:
        check_drawing_shown_before(file_path='Downloads/plan.svg')
    """
    drawing = _drawing(scene.view, file_path)
    if drawing is None or not _all_shown(drawing[1], scene.start):
        return False
    opened = list(_open_drawings(scene.start))
    return not opened or any(
        texts <= drawing[1] and shapes.total() <= drawing[0].total() for shapes, texts in opened
    )


@check("screen", of="drawing")
def check_drawing_shown(scene: Scene, file_path: str) -> bool:
    """Checks if the drawing has texts and all are shown on the last screen: it was opened, and what it holds
    is still there.

    Example:
        check_drawing_shown(file_path='Documents/plan.drawio')
    """
    drawing = _drawing(scene.view, file_path)
    return drawing is not None and _all_shown(drawing[1], scene.view)


def _open_drawings(screen: EvidenceView) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Shapes and texts of the files whose name and all texts are on the screen."""
    for path in screen.files:
        name = path.rpartition("/")[2]
        if any(has_phrase(name, text) for text in screen.shown):
            drawing = _drawing(screen, path)
            if drawing is not None and _all_shown(drawing[1], screen):
                yield drawing


def _all_shown(texts: Counter[str], screen: EvidenceView) -> bool:
    return bool(texts) and all(any(shown_in(text, shown) for shown in screen.shown) for text in texts)


def _one_line(text: str) -> str:
    """A text on one line: programs break lines anew to fit a shape."""
    return " ".join(written_out(text).split())


def _drawing(view: EvidenceView, path: str) -> tuple[Counter[str], Counter[str]] | None:
    """Shapes and texts of a drawing, with how often each occurs; None for any other file."""
    file = view.file(path)
    content = "" if file is None else text_of_file(file)
    if file is None or not content:
        return None
    is_svg = file.path.casefold().endswith(".svg")
    root = _FIRST_TAG.search(content) if is_svg else None
    drawn = read(file.path, content)[1].at((SHAPES,))
    if drawn is None or (is_svg and (root is None or root[1].casefold() != "svg")):
        return None  # no drawing, or a diagram with the name of a picture
    shapes: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for item in drawn.children:
        kind, text = item.at((SHAPE,)), item.at((TEXT,))
        if kind is not None and kind.value and kind.value != TEXT:
            shapes[kind.value.casefold()] += 1
        if text is not None and text.value:
            texts[_one_line(text.value)] += 1
    return shapes, texts


@check("files", of_source=True)
def check_picture(scene: Scene, source: str, target: str, change: str = "same") -> bool:
    """Checks if a picture shows what another one showed at the start, changed as a whole; its size does not
    count.

    Args:
        target: It may be the same path.
        change: 'same' (also scaled, or in another format), 'turned right', 'turned left', 'upside down',
            'left and right exchanged', 'top and bottom exchanged', 'colours inverted' or 'without colours'.

    Example:
        check_picture(source='Pictures/sign.png', target='Pictures/turned.png', change='turned right')
    """
    if change not in CHANGES:
        raise CheckMisusedError(f"check_picture knows the changes {', '.join(CHANGES)}; not {change[:80]!r}.")
    original, changed = scene.start.file(source), scene.view.file(target)
    before = None if original is None else picture_of(original)
    after = None if changed is None else picture_of(changed)
    if before is None or after is None:
        return False
    wanted = CHANGES[change](before)
    return _is_similar(wanted, after) and (change == "same" or not _is_similar(wanted, before))


@check("screen")
def check_screen_captured(scene: Scene, file_path: str) -> bool:
    """Checks if a picture shows what the screen shows now: all of it, in its size. The pointer does not
    count.

    It is for pictures that were just taken of the screen, once the program that took them is gone from it.

    Example:
        check_screen_captured(file_path='Pictures/screen.png')
    """
    file = scene.view.file(file_path)
    picture = None if file is None or picture_of(file) is None else _read_picture(text_of_file(file))
    if picture is None:
        return False
    if not scene.view.evidence.screen:
        raise CheckUnavailableError("The evidence does not tell what the screen showed.")
    screen = _read_picture(scene.view.evidence.screen)
    return screen is not None and screen[:2] == picture[:2] and _is_similar(screen[2], picture[2])


@lru_cache(maxsize=64)
def picture_of(file: FileState) -> _Grid | None:
    """Mean colours of a picture, row by row; None for any other file."""
    if file.content not in (None, "picture") or not (file.text or "").startswith('{\n "width":'):
        return None
    picture = _read_picture(text_of_file(file))
    return None if picture is None else picture[2]


@lru_cache(maxsize=64)
def _read_picture(text: str) -> tuple[int, int, _Grid] | None:
    """Width, height and mean colours of a picture as evidence describes it; None for any other text."""
    try:
        picture = json.loads(text)
        size = (int(picture["width"]), int(picture["height"]))
        rows = [[int(colour, 16) for colour in row.split()] for row in picture["colours"]]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    if not rows or any(len(row) != len(rows) for row in rows):
        return None
    grid = tuple(
        tuple((colour >> 16 & 255, colour >> 8 & 255, colour & 255) for colour in row) for row in rows
    )
    return (*size, grid)


def _is_similar(one: _Grid, other: _Grid) -> bool:
    if len(one) != len(other):
        return False
    differences = [
        abs(first - second)
        for row, other_row in zip(one, other, strict=True)
        for colour, other_colour in zip(row, other_row, strict=True)
        for first, second in zip(colour, other_colour, strict=True)
    ]
    mean = sum(differences) / len(differences)
    return mean <= _MEAN_TOLERANCE and max(differences) <= _GREATEST_TOLERANCE
