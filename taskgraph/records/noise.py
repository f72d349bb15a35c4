"""What an application was measured to change by itself."""

from __future__ import annotations

from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance


class ApplicationNoise(Record):
    """The places that an application changes while nobody works with it: measured once for a version and
    some worlds."""

    noise_id: str
    """Opaque id: application, version, worlds and way of measuring."""
    application: str
    """The application."""
    version: str
    """Version that was measured; another one is measured anew."""
    world: str = ""
    """Worlds whose data it started with, separated by commas; empty for the first."""
    places: tuple[NoisePlace, ...] = ()
    """Where it changes something by itself."""
    recordings: int = 0
    """Idle recordings that were compared."""
    seconds: float = 0.0
    """How long each of them lasted at least."""
    provenance: Provenance = Provenance()
    """Where it comes from."""
