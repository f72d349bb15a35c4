"""Ids, edges and resources as users write them in JSON, read into values or refused by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from resources.categories import ResourceCategory, ResourceKind
from resources.instances import Resource, bind_resource, guessed_kind
from taskgraph.errors import GraphInvalidError
from taskgraph.measures.bitmasks import require_size

_ENDS = (("producer", "source", "from"), ("consumer", "target", "to"))
_NO_VALUES: Mapping[str, str] = {}


def json_kind(value: object) -> str:
    """What a parsed JSON value is, in the words of JSON.

    >>> [json_kind(value) for value in (None, True, 1.5, "a", [], {})]
    ['null', 'a boolean', 'a number', 'text', 'a list', 'an object']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, Mapping) else "a list"


def read_id(given: object, place: str) -> str:
    r"""An id as text, whole again where a printed page broke it: the paper's own example has such ids.

    >>> read_id("df3fc68b-7da6 \n  -aef1", "a node"), read_id(7, "a node")
    ('df3fc68b-7da6-aef1', '7')

    Raises:
        GraphInvalidError: it is neither text nor a whole number, or blank.
    """
    text = re.sub(r"\s*\n\s*", "", str(given))
    if isinstance(given, bool) or not isinstance(given, str | int) or not text.strip():
        found = "blank" if isinstance(given, str) else json_kind(given)
        raise GraphInvalidError(f"{place} has no id: it is {found}; an id is text or a whole number.")
    return text


def ids_of(nodes: object, key: str) -> list[str]:
    """The ids of `nodes`, given as ids or as objects with an `id`.

    >>> ids_of(["a", {"id": 2}], "nodes")
    ['a', '2']

    Raises:
        GraphInvalidError: it is no list, an entry has no id, or ids stand twice.
        GraphTooLargeError: more than 30 of them.
    """
    if not isinstance(nodes, Sequence) or isinstance(nodes, str):
        raise GraphInvalidError(
            f"`{key}` is {json_kind(nodes)}; it must be a list of ids or of objects with an `id`."
        )
    names = [
        read_id(node.get("id") if isinstance(node, Mapping) else node, f"Number {position} of `{key}`")
        for position, node in enumerate(nodes, start=1)
    ]
    twice = [name for name, count in sorted(Counter(names).items()) if count > 1]
    if twice:
        raise GraphInvalidError(f"These ids stand twice in `{key}`: {', '.join(twice[:10])}.")
    require_size(names)
    return names


def adjacency(edges: object) -> list[tuple[str, str]]:
    """Edges as (producer, consumer), from an adjacency object or a list of pairs or objects.

    >>> adjacency({"a": ["b", "c"]}) == adjacency([["a", "b"], {"from": "a", "to": "c"}])
    True

    Raises:
        GraphInvalidError: an edge has not two ends.
    """
    if isinstance(edges, Mapping):
        wrong = [f"{name}: {found!r}" for name, found in edges.items() if not isinstance(found, list | tuple)]
        if wrong:
            raise GraphInvalidError(
                f"`edges` has no list of consumers for {wrong[0][:80]}; write {{producer: [consumer, …]}}."
            )
        return [
            (
                read_id(producer, "A producer in `edges`"),
                read_id(consumer, f"A consumer of {producer} in `edges`"),
            )
            for producer, found in edges.items()
            for consumer in found
        ]
    if not isinstance(edges, Sequence) or isinstance(edges, str):
        raise GraphInvalidError(
            f"`edges` is {json_kind(edges)}; it must be a list of pairs or an adjacency object."
        )
    return [_ends(edge, position) for position, edge in enumerate(edges, start=1)]


def _ends(edge: object, position: int) -> tuple[str, str]:
    if isinstance(edge, Mapping):
        found = [edge[name] for names in _ENDS for name in names if name in edge]
    else:
        found = list(edge) if isinstance(edge, Sequence) and not isinstance(edge, str) else []
    if len(found) != 2:
        raise GraphInvalidError(f"This edge has not two ends: {str(edge)[:80]}. Write [producer, consumer].")
    return (
        read_id(found[0], f"The producer of edge {position}"),
        read_id(found[1], f"The consumer of edge {position}"),
    )


def edges_with_resources(
    edges: object, categories: Mapping[str, ResourceCategory], applications: Mapping[str, str]
) -> dict[tuple[str, str], list[Resource]]:
    """Resources that edges given as objects name; those that live in an application live in the producer's.

    >>> list(edges_with_resources([["a", "b"]], {}, {}))
    []

    Raises:
        GraphInvalidError: a category is unknown.
    """
    named: dict[tuple[str, str], list[Resource]] = {}
    if isinstance(edges, Sequence):
        for edge, pair in zip(edges, adjacency(edges), strict=True):
            if isinstance(edge, Mapping) and edge.get("resource") is not None:
                place = f"the edge {pair[0]} → {pair[1]}"
                found = read_resources([edge["resource"]], place, applications.get(pair[0], ""), categories)
                named.setdefault(pair, []).extend(found)
    return named


def read_resources(
    given: object,
    name: str,
    application: str,
    categories: Mapping[str, ResourceCategory],
    *,
    values: Mapping[str, str] = _NO_VALUES,
    guess: bool = False,
) -> tuple[Resource, ...]:
    """Resources written `category`, `category:value` or as objects with `category`, `value` and `kind`.

    Args:
        given: A list of them.
        name: Whose they are, for messages.
        application: Where those live that live in an application.
        categories: The known ones by name.
        values: Values of resources that give none, by category.
        guess: Whether a category that is unknown is taken for what its name says (`xlsx_path` is a file).

    >>> read_resources(["xlsx_path"], "a", "Excel", {}, values={"xlsx_path": "a.xlsx"}, guess=True)[0].value
    'a.xlsx'

    Raises:
        GraphInvalidError: this is no list of resources, or a category is unknown.
    """
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise GraphInvalidError(f"The resources of {name} are {json_kind(given)}; they must be a list.")
    found = []
    for item in given:
        kind: object = None
        if isinstance(item, Mapping):
            refuse_unknown_keys(item, ("category", "value", "kind"), f"a resource of {name}", strict=True)
            category, kind = text_in(item, "category", name), item.get("kind")
            value = text_in(item, "value", name)
        elif isinstance(item, str):
            category, _, value = item.partition(":")
        else:
            raise GraphInvalidError(
                f"A resource of {name} is {json_kind(item)}; write 'category', 'category:value' or an object with `category`."
            )
        known = categories.get(category)
        if known is None and kind is None and guess:
            kind = guessed_kind(category)
        if known is None and isinstance(kind, str) and kind in set(ResourceKind):
            known = ResourceCategory(name=category, kind=ResourceKind(kind), description="")
        if known is None:
            raise GraphInvalidError(_unknown_category(name, category, categories))
        found.append(bind_resource(known, application, value.strip() or values.get(category, "")))
    return tuple(dict.fromkeys(found))


def _unknown_category(name: str, category: str, categories: Collection[str]) -> str:
    near = get_close_matches(category, categories, n=3) or sorted(categories)[:6]
    return (
        f"{name} names the unknown resource category {category!r}. Use one of the catalogue ({', '.join(near)}, …)"
        f' or give its kind: {{"category": …, "kind": one of {", ".join(ResourceKind)}}}.'
    )


def object_in(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The object under `key`, empty where there is none.

    >>> object_in({"a": {"b": 1}}, "a"), object_in({}, "a")
    ({'b': 1}, {})

    Raises:
        GraphInvalidError: something else is there.
    """
    value = document.get(key, {})
    if not isinstance(value, Mapping):
        raise GraphInvalidError(f"`{key}` is {json_kind(value)}; it must be an object.")
    return value


def text_in(document: Mapping[str, object], key: str, place: str) -> str:
    """The text under `key`, empty where there is none; a number is its text.

    >>> text_in({"a": "x"}, "a", "here"), text_in({}, "a", "here")
    ('x', '')

    Raises:
        GraphInvalidError: something else is there.
    """
    value = document.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise GraphInvalidError(f"{key!r} of {place} is {json_kind(value)}; it must be text.")
    return str(value)


def refuse_unknown_keys(
    document: Mapping[str, object], known: Collection[str], place: str, *, strict: bool = False
) -> None:
    """Refuse lists and objects under keys that mean nothing here: `edgs` would silently mean no edges.

    Texts and numbers, such as a name or a colour, are let be unless `strict`.

    >>> refuse_unknown_keys({"edgs": [["a", "b"]]}, ["nodes", "edges"], "a plain graph")
    Traceback (most recent call last):
    taskgraph.errors.GraphInvalidError: 'edgs' means nothing in a plain graph; did you mean 'edges'? Known: nodes, edges.

    Raises:
        GraphInvalidError: naming the key and those known.
    """
    for key, value in document.items():
        if key not in known and (strict or (isinstance(value, Mapping | list | tuple) and value)):
            near = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise GraphInvalidError(f"{key!r} means nothing in {place}{hint} Known: {', '.join(known)}.")
