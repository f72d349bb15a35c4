"""Adds controls found in the screen's picture (text and known icons) to those that the platform lists, or
replaces those; and adds names of colours. An action on a found control is done at its centre."""

import functools
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image

from taskloom.environments.agent import Decision
from taskloom.environments.aiming import aim
from taskloom.environments.errors import ActionInvalidError
from taskloom.environments.evidence.picture_text import read_picture
from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import PointedGesture
from taskloom.taskgraph.records.interaction import Control, DragInput, Observation, Rectangle
from taskloom.taskgraph.text_folding import fold_label, same_label

_COLOURS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "red": (215, 40, 40),
    "orange": (240, 140, 20),
    "yellow": (245, 220, 50),
    "green": (40, 160, 70),
    "blue": (40, 100, 215),
    "purple": (125, 55, 160),
    "pink": (240, 140, 190),
    "brown": (130, 80, 40),
}
_MOST_OCCURRENCES = 20


class Perception(Record):
    """What to perceive in the picture of a screen."""

    text: bool = False
    """Whether text that no control has is read from the picture."""
    icons: str = ""
    """Folder of PNG icons, pixel by pixel as on the screen, named after what they show; empty for none."""
    colours: bool = False
    """Whether texts of controls end with the main colour of the control, such as `Save (blue)`."""
    controls: bool = True
    """Whether the platform's controls are shown as well."""


def perceive(observation: Observation, perception: Perception) -> Observation:
    """The observation with what is perceived; the platform's controls keep their labels.

    Raises:
        PictureUnreadableError: the text of the picture cannot be read.
    """
    controls = list(observation.controls) if perception.controls else []
    found: list[tuple[str, str, Rectangle]] = []
    with Image.open(io.BytesIO(observation.screenshot.png)) as opened:
        picture = opened.convert("RGB")
    if perception.text:
        pieces = ((piece.text, "Text", piece.place) for piece in read_picture(observation.screenshot.png))
        found += [item for item in pieces if not _is_listed(item[0], item[2], controls)]
    for name, icon in _icons(perception.icons) if perception.icons else ():
        found += [(name, "Image", place) for place in _find_icon(icon, picture)]
    first = 1 + max((int(item.label) for item in observation.controls if item.label.isdecimal()), default=0)
    controls += [
        Control(label=str(label), text=text, control_type=kind, rectangle=place)
        for label, (text, kind, place) in enumerate(found, first)
    ]
    if perception.colours:
        controls = [
            item.model_copy(update={"text": f"{item.text} ({colour_in(picture, item.rectangle)})".strip()})
            for item in controls
        ]
    return observation.model_copy(update={"controls": tuple(controls)})


def replace_perceived_labels(decision: Decision, perceived: Observation, original: Observation) -> Decision:
    """The decision with points instead of labels that only perception assigned, and without a text that
    equals the shown one, which may hold a colour; unchanged if the environment should refuse it."""
    action = decision.action
    if not isinstance(action, PointedGesture) or not action.control_label:
        return decision
    ends = [action.control_label, *([action.end_label] if isinstance(action, DragInput) else [])]
    shown = perceived.control(action.control_label)
    is_real = original.control(action.control_label) is not None
    if shown is not None and _is_text_of(action.control_text, shown, perceived=not is_real):
        action = action.model_copy(update={"control_text": ""})
    if any(name and original.control(name) is None for name in ends):
        try:
            aimed = aim(action, perceived.controls, perceived.screen_size).action
        except ActionInvalidError:
            return decision
        update: dict[str, object] = {"control_label": "", "control_text": ""}
        if isinstance(aimed, DragInput):
            update |= {"end_label": "", "path": (), "points": aimed.points}
        elif isinstance(aimed, PointedGesture):
            update |= {"position": None, "point": aimed.point}
        action = action.model_copy(update=update)
    return decision.model_copy(update={"action": action})


def colour_in(picture: Image.Image, place: Rectangle) -> str:
    """The name of the main colour of a part of a picture.

    >>> colour_in(Image.new("RGB", (4, 4), (30, 90, 220)), Rectangle(left=0, top=0, right=4, bottom=4))
    'blue'
    """
    box = (
        max(0, place.left),
        max(0, place.top),
        min(picture.width, max(place.right, place.left + 1)),
        min(picture.height, max(place.bottom, place.top + 1)),
    )
    if box[0] >= box[2] or box[1] >= box[3]:
        return "unseen"
    part = picture.crop(box).resize((24, 24), Image.Resampling.NEAREST)
    counted: dict[str, int] = {}
    for count, pixel in part.getcolors(24 * 24) or ():
        nearest = min(_COLOURS, key=lambda name: _distance(_COLOURS[name], pixel))
        counted[nearest] = counted.get(nearest, 0) + count
    return max(counted, key=lambda name: counted[name])


def _is_text_of(text: str, control: Control, *, perceived: bool) -> bool:
    """Whether `text` is the shown one; it may lack the colour of a control that is only perceived."""
    name, _, colour = control.text.rpartition(" (")
    bare = name if perceived and colour.removesuffix(")") in _COLOURS else control.text
    return same_label(text, control.text) or same_label(text, bare)


def _distance(one: Sequence[int], other: object) -> int:
    assert isinstance(other, tuple)
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _is_listed(text: str, place: Rectangle, controls: Sequence[Control]) -> bool:
    wanted = fold_label(text)
    return any(
        control.rectangle.contains(*place.center) and wanted in fold_label(f"{control.text} {control.value}")
        for control in controls
    )


@functools.cache
def _icons(folder: str) -> tuple[tuple[str, Image.Image], ...]:
    found = []
    for path in sorted(Path(folder).glob("*.png")):
        with Image.open(path) as opened:
            found.append((path.stem.replace("_", " "), opened.convert("RGB")))
    return tuple(found)


def _find_icon(icon: Image.Image, picture: Image.Image) -> list[Rectangle]:
    found: list[Rectangle] = []
    if icon.width > picture.width or icon.height > picture.height:
        return found
    wanted, screen = icon.tobytes(), picture.tobytes()
    row, line = 3 * icon.width, 3 * picture.width
    for x, y in _find_row(wanted[:row], screen, line):
        starts = [(y + number) * line + 3 * x for number in range(icon.height)]
        if wanted == b"".join(screen[start : start + row] for start in starts):
            found.append(Rectangle(left=x, top=y, right=x + icon.width, bottom=y + icon.height))
            if len(found) == _MOST_OCCURRENCES:
                break
    return found


def _find_row(row: bytes, screen: bytes, line: int) -> Iterator[tuple[int, int]]:
    """The places where a row of pixels occurs within one line of the screen."""
    at = screen.find(row)
    while at >= 0:
        if at % 3 == 0 and at % line + len(row) <= line:
            yield at % line // 3, at // line
        at = screen.find(row, at + 1)
