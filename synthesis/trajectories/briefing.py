"""What an actor is told of one performance before it begins, however it is asked."""

from dataclasses import dataclass

from taskloom.resources.applications import Application


@dataclass(frozen=True, slots=True)
class Briefing:
    """One performance: of what, where, for how long, and what went wrong before."""

    item_id: str
    """Id of what is performed, for the accounts of model calls."""
    application: Application
    """Where; of a whole task, one record with the manuals of all applications."""
    step_limit: int
    attempt: int = 0
    """Which performance of it this is."""
    feedback: tuple[str, ...] = ()
    """What was wrong with earlier ones."""
