"""Scenarios: which of the 20 a set of application categories belongs to (App. A.5)."""

from collections.abc import Collection, Sequence
from typing import Literal

from taskloom.resources.record import Record


class Scenario(Record):
    """One of the 20 scenarios."""

    name: str
    """Name, as reports show it."""
    kind: Literal["base", "combination", "remainder"]
    """One application category, a combination of two, or all that remains."""
    application_categories: tuple[str, ...] = ()
    """The categories that make it; none for the remainder."""


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

    A scenario matches when its categories are exactly the task's, or else those of its `ends`: the
    applications in which the task's end products come about, which is what its goal is about; or else that of
    the first end, to which the longest way leads. Every other set, the empty one included, belongs to the
    remainder. So each task has one scenario, whatever the order of `scenarios`.

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
    known = {frozenset(item.application_categories): item for item in scenarios if item.kind != "remainder"}
    for wanted in (frozenset(application_categories), frozenset(ends), frozenset(ends[:1])):
        if wanted in known:
            return known[wanted]
    remainder = next((item for item in scenarios if item.kind == "remainder"), None)
    if remainder is None:
        raise ValueError("The scenarios have no remainder; the catalogue must name one of that kind.")
    return remainder
