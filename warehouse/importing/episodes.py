"""Foreign demonstrations as records: a task of one subtask, and its trajectory."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image, UnidentifiedImageError
from pydantic import JsonValue, ValidationError

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.reading.faults import reason_of
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, DragInput, KeyboardInput, Screenshot, escape_keys
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.importing.imported_tasks import (
    UNKNOWN_CATEGORY,
    build_task,
    canonical_application,
    imported_trajectory,
)
from taskloom.warehouse.importing.items import IMPORTED, BrokenItem, Item, Records, check_items
from taskloom.warehouse.importing.json_reading import file_inside


@dataclass(frozen=True, slots=True)
class DemonstratedAction:
    """One action and where it was done."""

    action: Action
    rectangle: tuple[int, int, int, int] | None = None
    """Rectangle that holds its points, in pixels."""
    target: str = ""
    description: str = ""
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot with its size."""

    png: bytes
    width: int
    height: int


Step = tuple[Picture | None, DemonstratedAction | str | None]
"""A screen and the action on it, or the reason why it is not an action here."""


@dataclass(frozen=True, slots=True)
class Description:
    """A foreign item's description of a task of one subtask."""

    instruction: str
    applications: Sequence[str] = ()
    """Applications it needs, as its collection spells them; the first one is the subtask's own."""
    _: KW_ONLY
    place: str = ""
    """File and position it came from, where they differ from the item's."""
    infeasible: bool = False
    template: str = ""
    """Id of the template that it fills in; empty where it has none."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    low_level_instructions: Sequence[str] = ()
    content: JsonValue = None
    """The original to keep, where that is not the item itself."""
    steps: Sequence[Step] | str | None = None
    """Its demonstration, or the reason why it is left out."""
    end: Picture | None = None


def read_tasks(
    format_name: str,
    items: Iterable[Item | BrokenItem],
    name: Callable[[Item], str],
    describe: Callable[[Item], Description],
) -> Records:
    """The records of items, each a task of one subtask, and the broken items.

    `name` returns an item's id in its collection; it and `describe` may raise `ImportRefusedError`.
    """
    yield from check_items(
        items,
        lambda item: f"{format_name}:{name(item)}",
        lambda item, task_id: task_records(item, task_id, describe(item)),
    )


def task_records(item: Item, task_id: str, description: Description) -> Iterator[Record]:
    """The task of one subtask, its original, and the trajectory of its demonstration.

    Nothing in a demonstration is changed or made up: if a picture is absent, or an action has no
    counterpart here, the recording is left out, and a rejection names the step and the reason.
    """
    format_name = task_id.partition(":")[0]
    applications = dict(map(canonical_application, description.applications))
    (application, category), *others = list(applications.items()) or [(format_name, UNKNOWN_CATEGORY)]
    node = BoundSubtask(
        instance_id=task_id,
        subtask_id=description.template or task_id,
        application=application,
        application_category=category,
        instruction=description.instruction,
        parameters=dict(description.parameters),
    )
    task = build_task(
        task_id,
        [node],
        [],
        description.instruction,
        lambda reason: item.refusal("", reason),
        other_applications=dict(others),
    )
    if description.low_level_instructions:
        task = task.model_copy(update={"low_level_instructions": tuple(description.low_level_instructions)})
    yield task
    yield item.original(
        task_id, place=description.place, content=description.content, infeasible=description.infeasible
    )
    if description.steps is not None:
        yield _recording(node, description.place, description.steps, description.end)


def _recording(
    node: BoundSubtask, place: str, demonstration: Sequence[Step] | str, end: Picture | None
) -> Trajectory | Rejection:
    fault = demonstration if isinstance(demonstration, str) else _first_fault(demonstration)
    if fault or isinstance(demonstration, str):
        return Rejection(
            item_kind="trajectory",
            item_id=f"{node.instance_id}:demonstration",
            stage="import",
            reason="recording_left_out",
            message=f"the recording of {node.instance_id} is left out: {fault}",
            details={
                "original": node.instance_id,
                "place": place,
                "format": node.instance_id.partition(":")[0],
            },
            provenance=IMPORTED,
        )
    steps = [
        (picture, recorded)
        for picture, recorded in demonstration
        if picture and isinstance(recorded, DemonstratedAction)
    ]
    final_screenshot = Screenshot.of(end.png) if end is not None else None
    return imported_trajectory(
        f"{node.instance_id}:demonstration",
        node.subtask_id,
        node.instruction,
        (
            TrajectoryStep(
                step=number,
                observation_screenshot=Screenshot.of(picture.png),
                description=recorded.description,
                thought=recorded.thought,
                action=recorded.action,
                target=ControlQuery(text=recorded.target) if recorded.target else None,
                target_rectangle=recorded.rectangle,
                evidence=Evidence(step=number, screenshot=final_screenshot if number == len(steps) else None),
            )
            for number, (picture, recorded) in enumerate(steps, start=1)
        ),
        instance_id=node.instance_id,
        parameters=node.parameters,
    )


def _first_fault(steps: Sequence[Step]) -> str:
    for number, (picture, action) in enumerate(steps, start=1):
        if picture is None:
            return f"step {number} of {len(steps)}: its picture is missing or unreadable"
        if not isinstance(action, DemonstratedAction):
            return f"step {number} of {len(steps)}: {action or 'its action has no counterpart here'}"
    return "" if steps else "it has no steps"


def read_or_reason(
    picture: Picture | None, read: Callable[[Picture], DemonstratedAction | None]
) -> DemonstratedAction | str | None:
    """The result of `read`, or the reason why it refuses a value; None without a picture."""
    try:
        return None if picture is None else read(picture)
    except ValidationError as error:
        return reason_of(error.errors(include_url=False)[0])
    except (ValueError, ArithmeticError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        return str(error)[:200] or "its action cannot be read"


def read_picture(root: Path, name: str) -> Picture | None:
    """The picture `name` inside `root`; None if it is absent, outside, or unreadable."""
    target = file_inside(root, name)
    try:
        return as_picture(target.read_bytes()) if target is not None else None
    except OSError:
        return None


def as_picture(data: bytes) -> Picture | None:
    """A picture in any common format, as PNG; None if `data` is not a picture."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            if image.format == "PNG":
                return Picture(data, width, height)
            out = io.BytesIO()
            image.convert("RGB").save(out, "PNG")
            return Picture(out.getvalue(), width, height)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None


def point(x: float, y: float, picture: Picture) -> tuple[int, int, int, int]:
    """The rectangle of one pixel at fractions of a picture; a `ValueError` if they are outside.

    >>> point(0.5, 1.0, Picture(b"", 100, 50))
    (50, 49, 51, 50)
    """
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise ValueError(f"its point {x:g}, {y:g} (of 0 to 1) is outside the screen")
    left, top = (
        min(int(value * extent), extent - 1) for value, extent in ((x, picture.width), (y, picture.height))
    )
    return (left, top, left + 1, top + 1)


def drag(points: Sequence[tuple[float, float]], picture: Picture) -> DemonstratedAction:
    """A drag along points given as fractions of a picture; a `ValueError` if one is outside."""
    for x, y in points:
        point(x, y, picture)
    screen = (0, 0, picture.width, picture.height)
    return DemonstratedAction(DragInput(control_label="", path=tuple(points)), screen)


def typing(text: str) -> DemonstratedAction:
    """Typing text; characters that would mean keys are escaped, and empty text is a `ValueError`."""
    if not text:
        raise ValueError("types nothing")
    return DemonstratedAction(KeyboardInput(keys=escape_keys(text)))


def website_name(website: str) -> str:
    """The application: a website's name as it is, or the host of an address.

    >>> website_name("https://www.kohls.com/?locale=en"), website_name("careers.walmart")
    ('kohls.com', 'careers.walmart')
    """
    try:
        host = urlsplit(website.strip()).hostname
    except ValueError:
        host = None
    return host.removeprefix("www.") if host else website
