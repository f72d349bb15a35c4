"""What exploration keeps from run to run: screens and records seen, resource categories proposed."""

from typing import Literal

from taskloom.resources.applications import ControlQuery, Fixture
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.provenance import Provenance


class SeenScreen(Record):
    """One control that exploration clicked, and the screen it opened; the first screen has an empty path."""

    screen_id: str
    """Opaque id, equal for the same path in the same version of the application."""
    application: str
    """The application."""
    version: str
    """Its version; every version is explored separately."""
    path: tuple[ControlQuery, ...] = ()
    """Controls to click in order, starting from the first page."""
    outcome: Literal["new", "known", "gone"]
    """`new`: a screen not seen before; `known`: one seen before; `gone`: the path could not be followed."""
    window_title: str = ""
    """Title of the window."""
    url: str = ""
    """Address of the page."""
    controls: tuple[Control, ...] = ()
    """Controls of a new screen."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class ProposedCategory(Record):
    """A resource category that a model proposed and that passed the checks."""

    name: str
    """Name by which subtasks refer to it."""
    kind: ResourceKind
    """How its resources exist."""
    description: str
    """One sentence for people and models."""
    application: str
    """Application it was proposed for; others may use it too."""
    provenance: Provenance = Provenance()
    """Where it comes from."""

    @property
    def category(self) -> ResourceCategory:
        """The category itself."""
        return ResourceCategory(name=self.name, kind=self.kind, description=self.description)


class FoundRecord(Record):
    """An application record present after every reset, although the application's entry does not name it."""

    record_id: str
    """Opaque id, equal for the same record of the same version."""
    application: str
    """The application."""
    version: str
    """Its version; another version may start with other records."""
    category: str
    """Resource category."""
    value: str
    """Its value."""
    provenance: Provenance = Provenance()
    """Where it comes from."""

    @property
    def fixture(self) -> Fixture:
        """The record as a fixture of the application's entry."""
        return Fixture(category=self.category, value=self.value)
