"""Resources of the forms, bound with the catalogue."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource, bind_resource, guessed_kind
from taskloom.taskgraph.errors import GraphInvalidError
from taskloom.taskgraph.reading.forms import ResourceForm

_NO_VALUES: Mapping[str, str] = {}


def bound_resources(
    given: Sequence[ResourceForm],
    name: str,
    application: str,
    categories: Mapping[str, ResourceCategory],
    *,
    values: Mapping[str, str] = _NO_VALUES,
    guess: bool = False,
) -> tuple[Resource, ...]:
    """The resources, each once.

    Args:
        given: What was written.
        name: Whose they are, for messages.
        application: Where those live that live in an application.
        categories: The known ones by name.
        values: Values of resources that give none, by category.
        guess: Whether a category that is unknown is taken for what its name says (`xlsx_path` is a file).

    >>> form = ResourceForm(category="xlsx_path")
    >>> bound_resources([form], "a", "Excel", {}, values={"xlsx_path": "a.xlsx"}, guess=True)[0].value
    'a.xlsx'

    Raises:
        GraphInvalidError: a category is unknown, and neither its kind is given nor guessed.
    """
    found = []
    for item in given:
        known = categories.get(item.category)
        if known is None:
            kind = item.kind or (guessed_kind(item.category) if guess else None)
            if kind is None:
                raise GraphInvalidError(_unknown_category(name, item.category, categories))
            known = ResourceCategory(name=item.category, kind=kind, description="")
        found.append(bind_resource(known, application, item.value.strip() or values.get(item.category, "")))
    return tuple(dict.fromkeys(found))


def _unknown_category(name: str, category: str, categories: Collection[str]) -> str:
    near = get_close_matches(category, categories, n=3) or sorted(categories)[:6]
    return (
        f"{name} names the unknown resource category {category!r}. Use one of the catalogue"
        f" ({', '.join(near)}, …)"
        f' or give its kind: {{"category": …, "kind": one of {", ".join(ResourceKind)}}}.'
    )
