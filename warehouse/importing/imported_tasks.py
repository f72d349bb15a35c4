"""Records from foreign data: tasks from graphs, with the metrics of our own tasks; trajectories and their
actions; application names."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Final

import networkx
from pydantic import AfterValidator, FiniteFloat, JsonValue, TypeAdapter, ValidationError

from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource, bind_resource, guessed_kind
from taskloom.resources.reading.catalog import load_capabilities, load_scenarios
from taskloom.resources.scenarios import scenario_of
from taskloom.taskgraph.errors import GraphInvalidError, GraphTooLargeError
from taskloom.taskgraph.measures.coherency import maximum_coherency_of
from taskloom.taskgraph.measures.complexity import capabilities_met, cell_of, complexity_from_shape, shape_of
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.reading.faults import reason_of
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.interaction import Action
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.items import IMPORTED, ForeignModel, Item, Text

_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_NEW_NAMES: Final = {"wheel_dist": "wheel_distance"}


def build_task(
    task_id: str,
    nodes: Sequence[BoundSubtask],
    edges: Sequence[Dependency],
    instruction: str,
    refusal: Callable[[str], ImportRefusedError],
    intent: str = "",
    other_applications: Mapping[str, str] | None = None,
) -> Task:
    """The task of an imported graph; raises `refusal` if it is cyclic, names unknown nodes, or is too large.

    `other_applications`, with their categories, count towards the knowledge that the task requires.
    """
    others = other_applications or {}
    categories = {*(node.application_category for node in nodes), *others.values()}
    try:
        graph = TaskGraph(nodes=_sort_nodes(nodes, edges), edges=tuple(edges))
        complexity = complexity_from_shape(shape_of(graph.predecessors), len(categories))
        orders = orders_of(graph)
    except ValidationError as error:
        raise refusal(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    except (GraphInvalidError, GraphTooLargeError) as error:
        raise refusal(str(error)) from None
    by_id = {node.instance_id: node for node in graph.nodes}
    names = list(by_id)
    successful_orders = tuple(tuple(names[position] for position in order) for order in orders.successful)
    first = successful_orders[0] if successful_orders else tuple(names)
    return Task(
        status="imported",
        task_id=task_id,
        graph=graph,
        intent=intent,
        scenario=scenario_of(categories, load_scenarios()).name,
        complexity=complexity,
        capabilities=capabilities_met(cell_of(complexity), load_capabilities()),
        instruction=instruction,
        low_level_instructions=tuple(by_id[name].instruction for name in first),
        order_count=orders.count,
        successful_order_count=orders.successful_count,
        successful_orders=successful_orders,
        interferences=tuple(threat.record(graph) for threat in orders.threats),
        maximum_coherency=maximum_coherency_of(graph) or 0,
        other_applications=tuple(sorted(others)),
        provenance=IMPORTED,
    )


def imported_trajectory(
    trajectory_id: str,
    subtask_id: str,
    instruction: str,
    steps: Iterable[TrajectoryStep],
    *,
    instance_id: str = "",
    parameters: Mapping[str, str] | None = None,
) -> Trajectory:
    """The trajectory of a foreign recording, which has no evidence."""
    return Trajectory(
        trajectory_id=trajectory_id,
        subtask_id=subtask_id,
        instance_id=instance_id or subtask_id,
        parameters=dict(parameters or {}),
        instruction=instruction,
        platform="imported",
        initial_evidence=Evidence(step=0),
        steps=tuple(steps),
        termination="finished",
        provenance=IMPORTED,
    )


def _check_corners(corners: list[float]) -> list[float]:
    if len(corners) != 4 or corners[0] > corners[2] or corners[1] > corners[3]:
        raise ValueError("must be left, top, right, bottom")
    return corners


class PaperAction(ForeignModel):
    """An action of C.2."""

    function: Text
    args: dict[str, JsonValue]
    description: str | None = None
    thought: str | None = None
    control_text: str | None = None
    rect: Annotated[list[FiniteFloat], AfterValidator(_check_corners)] | None = None
    """Left, top, right and bottom of the control."""


def read_action(action: PaperAction, item: Item, place: str = "") -> Action:
    """Our equivalent of `action`, at `place` in `item`; refused if the function or arguments are unknown."""
    values: dict[str, object] = {_NEW_NAMES.get(name, name): value for name, value in action.args.items()}
    values["operation"] = action.function
    if action.function in ("click_input", "drag_input"):
        values["control_label"] = ""
    try:
        return _ACTION.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        field_path = f"{place}args.{field}" if field else f"{place}function"
        raise item.refusal(field_path, reason_of(first)) from None


def guess_resource(category: str, application: str, value: str) -> Resource:
    """A resource of a category unknown to the catalogue; its kind is guessed from the category's ending."""
    kind = guessed_kind(category) or ResourceKind.RECORD
    known = ResourceCategory(name=category, kind=kind, description="")
    return bind_resource(known, application, value)


def _sort_nodes(nodes: Sequence[BoundSubtask], edges: Sequence[Dependency]) -> tuple[BoundSubtask, ...]:
    """The nodes in the topological order closest to the given one; unchanged for a cycle or a repeated id."""
    place = {node.instance_id: number for number, node in enumerate(nodes)}
    if not edges or len(place) < len(nodes):
        return tuple(nodes)
    order: networkx.DiGraph[str] = networkx.DiGraph()
    order.add_nodes_from(place)
    order.add_edges_from(
        (edge.producer, edge.consumer) for edge in edges if {edge.producer, edge.consumer} <= place.keys()
    )
    try:
        names = list(networkx.lexicographical_topological_sort(order, key=place.__getitem__))
    except networkx.NetworkXUnfeasible:
        return tuple(nodes)
    return tuple(nodes[place[name]] for name in names)


UNKNOWN_CATEGORY: Final = "Unknown"
"""Category of an application that is not in the table."""

_KNOWN_APPLICATIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "chrome": ("Web Browsing", ("google chrome", "chromium", "browser", "chrome browser")),
    "firefox": ("Web Browsing", ("mozilla firefox",)),
    "edge": ("Web Browsing", ("microsoft edge", "msedge")),
    "gimp": ("Multimedia Editing", ("gnu image manipulation program",)),
    "libreoffice_calc": (
        "Office",
        ("calc", "libreoffice calc", "localc", "excel", "libreoffice spreadsheet"),
    ),
    "libreoffice_impress": ("Office", ("impress", "libreoffice impress", "loimpress", "powerpoint", "ppt")),
    "libreoffice_writer": ("Office", ("writer", "libreoffice writer", "lowriter", "word")),
    "libreoffice": ("Office", ("libre office", "soffice")),
    "thunderbird": ("Social Communication", ("mail", "email", "mozilla thunderbird")),
    "vlc": ("Multimedia Playback", ("vlc media player",)),
    "vs_code": ("Programming", ("vscode", "code", "visual studio code", "vsc")),
    "terminal": ("System Management", ("gnome terminal", "bash", "shell", "xterm")),
    "os": (
        "System Management",
        ("ubuntu", "operating system", "settings", "system", "gnome settings", "windows"),
    ),
    "files": ("System Management", ("nautilus", "file manager", "file explorer", "explorer")),
    "calculator": ("Utility Tools", ("gnome calculator",)),
    "pdf_viewer": ("Utility Tools", ("pdf", "evince", "document viewer")),
    "image_viewer": ("Multimedia Playback", ("picture", "eog", "image", "photo")),
}


def canonical_application(spelling: str) -> tuple[str, str]:
    """Name and category of an application as another dataset spells it; an unknown one keeps its name.

    >>> canonical_application("LibreOffice-Calc"), canonical_application("VSCode")
    (('libreoffice_calc', 'Office'), ('vs_code', 'Programming'))
    >>> canonical_application("Blender")
    ('blender', 'Unknown')
    """
    folded = " ".join(re.split(r"[\s_\-]+", spelling.strip().casefold()))
    for name, (category, aliases) in _KNOWN_APPLICATIONS.items():
        if folded == name.replace("_", " ") or folded in aliases:
            return name, category
    return folded.replace(" ", "_"), UNKNOWN_CATEGORY
