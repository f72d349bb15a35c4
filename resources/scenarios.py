"""Scenarios: which of the 20 a set of application categories belongs to (App. A.5)."""

from collections.abc import Collection, Sequence
from typing import Literal

from taskloom.resources.record import Record


class Scenario(Record):
    """One of the 20 scenarios."""

    name: str
    """Name in reports."""
    kind: Literal["base", "combination", "remainder"]
    """One application category, a combination of two, or everything else."""
    application_categories: tuple[str, ...] = ()
    """The categories that define it; none for the remainder."""


class PaperCategory(Record):
    """An application category with the paper's applications (Table 11)."""

    category: str
    """Name of the category."""
    applications: tuple[str, ...]
    """The paper's applications in it."""


def scenario_of(
    application_categories: Collection[str], scenarios: Sequence[Scenario], ends: Sequence[str] = ()
) -> Scenario:
    """The scenario of a task whose applications belong to `application_categories`.

    A scenario matches if its categories are exactly the task's, or else those of its `ends`, the applications
    that make the end products that its goal is about, or else that of the first end, which has the longest
    path. Every other set, even the empty one, belongs to the remainder. So each task has one scenario,
    whatever the order of `scenarios`.

    >>> rest = Scenario(name="Mixed Work", kind="remainder")
    >>> notes = Scenario(name="Note Taking", kind="base", application_categories=("Note Management",))
    >>> scenario_of(["Note Management", "Note Management"], [rest, notes]).name
    'Note Taking'
    >>> scenario_of(["Note Management", "Office"], [rest, notes]).name
    'Mixed Work'
    >>> scenario_of(["Note Management", "Office"], [rest, notes], ["Note Management"]).name
    'Note Taking'

    Raises:
        ValueError: `scenarios` has no remainder.
    """
    by_categories = {
        frozenset(item.application_categories): item for item in scenarios if item.kind != "remainder"
    }
    for categories in (frozenset(application_categories), frozenset(ends), frozenset(ends[:1])):
        if categories in by_categories:
            return by_categories[categories]
    remainder = next((item for item in scenarios if item.kind == "remainder"), None)
    if remainder is None:
        raise ValueError("The scenarios have no remainder; the catalogue must name one of that kind.")
    return remainder
