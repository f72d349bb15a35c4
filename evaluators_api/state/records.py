"""Records in trees: rows, objects, elements, sections; what they hold."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from taskloom.evaluators_api.state.nodes import Node, identity
from taskloom.taskgraph.text_folding import is_cut_of, written_out

_LONGEST_NUMBER = 40
_AMOUNT = re.compile(r"(-?\d{1,20}(?:\.\d{1,10})?) ([A-Z]{3})")
_ITEM = "*"
_LITERALS = ("true", "false", "null")
"""Values of JSON and SQL whose case is a matter of the format."""


def records_of(tree: Node, within: str = "", *, outermost: bool = False) -> Iterator[Node]:
    """Groups that hold values, below the address `within`, with parts separated by '/'; all by default, or
    only the `outermost`, which lie in no other one."""
    top = tree.at(parts_of(within))
    pending = [] if top is None else [top]
    while pending:
        node = pending.pop()
        is_record = node.naming != "schema" and any(map(_is_field, node.children))
        if is_record:
            yield node
        if not (outermost and is_record):
            pending.extend(reversed(node.children))


def fields_around(tree: Node, address: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The innermost record around `address`: its address, and its values by name; none without names."""
    places = (tuple(address[:depth]) for depth in range(len(address) - 1, -1, -1))
    found = ((place, named_fields(node)) for place in places if (node := tree.at(place)) is not None)
    return next((item for item in found if item[1]), ((), {}))


def named_fields(record: Node) -> dict[str, str]:
    """Values, and texts in lines, of a record's own fields by name."""
    return {child.name: text_of(child) for child in filter(_is_field, record.children)}


def _is_field(node: Node) -> bool:
    return node.naming == "field" and (node.value is not None or is_lines(node))


def holds(record: Node, fields: Mapping[str, str]) -> bool:
    """Whether a record has all these fields with exactly these values.

    In a name such as `postings/*/account` the `*` is one item of the list, the same for all names with that
    beginning.
    """
    inside: dict[str, dict[str, str]] = {}
    for name, value in fields.items():
        place, item, rest = name.partition(_ITEM)
        if item:
            inside.setdefault(place, {})[rest.removeprefix("/")] = value
            continue
        found = field_of(record, name)
        if found is None or not same_value(value, text_of(found)):
            return False
    for place, wanted in inside.items():
        items = record.at(parts_of(place))
        # an empty name stands for the item itself
        if items is None or not any(
            same_value(wanted[""], text_of(item)) if "" in wanted else holds(item, wanted)
            for item in items.children
        ):
            return False
    return True


def reference(tree: Node, value: str, names: Iterable[str]) -> tuple[str, str, str] | None:
    """The record that `value` refers to, if a person knows it by one of `names`: its id's field, the field of
    the name, the name."""
    wanted = {name for name in names if name.strip()}
    if not value.strip() or value in wanted:
        return None
    for record in records_of(tree):
        if identity(record) == value:
            held = [(child.name, child.value) for child in record.children if child.value is not None]
            for name, known in held:
                if known in wanted:
                    return next(field for field, text in held if text == value), name, known
    return None


def belonging(tree: Node, fields: Mapping[str, str]) -> list[Node]:
    """The first record with these fields, then all records that refer to it by its id, in file order."""
    records = list(records_of(tree))
    known = [record for record in records if holds(record, fields)][:1]
    return [*known, *(record for record in records if known and refers(record, known[0]))]


def refers(record: Node, other: Node) -> bool:
    """Whether a record holds what another one is called by."""
    known = identity(other)
    return bool(known) and identity(record) != known and any(item.value == known for item in record.children)


def field_of(record: Node, name: str) -> Node | None:
    """The field called `name`, or at the address `name` below the record; attributes also without '@'."""
    found = record.at((name,)) or record.at((f"@{name}",))
    if found is None and "/" in name:
        found = record.at(parts_of(name))
    folded = (child for child in record.children if child.name.casefold() == name.casefold())
    return found or next(folded, None)


def text_of(node: Node) -> str:
    """What a field holds: the value of a leaf, the lines of a text, JSON for everything else."""
    if node.value is None and is_lines(node):
        return "\n".join(child.value or "" for child in node.children)
    return node.content()


def parts_of(address: str) -> tuple[str, ...]:
    """The segments of an address written with '/'."""
    return tuple(part for part in address.split("/") if part)


def same_value(wanted: str, found: str) -> bool:
    """Whether two values are the same: as whole texts, case and the spaces around them included, as numbers,
    as amounts of one currency, or as literals.

    >>> same_value("120", "120.0"), same_value("Desk", "Desk lamp"), same_value("", " "), same_value("True", "true")
    (True, False, True, True)
    >>> same_value("9.80 USD", "9.8 USD"), same_value("9.80 USD", "9.80 EUR"), same_value("9.80 USD", "-9.80 USD")
    (True, False, False)
    >>> same_value("Desk", "desk"), same_value("Desk", " Desk")
    (False, False)
    """  # noqa: E501
    if not wanted.strip() or not found.strip():
        return wanted.strip() == found.strip()
    if written_out(wanted) == written_out(found) or is_cut_of(found, wanted):
        return True
    if wanted.casefold() in _LITERALS:
        return wanted.casefold() == found.casefold()
    first, second = _AMOUNT.fullmatch(wanted), _AMOUNT.fullmatch(found)
    if first is not None and second is not None:
        return first[2] == second[2] and _number(first[1]) == _number(second[1])
    number = _number(wanted)
    return number is not None and number == _number(found)


def is_lines(node: Node) -> bool:
    """Whether a group is a text in lines: nothing but values that are known by their positions."""
    return bool(node.children) and all(
        child.naming == "position" and child.value is not None for child in node.children
    )


def rows_in(tree: Node, within: str = "") -> str:
    """The address of the rows below `within` where there are any: the names of columns are no record."""
    return f"{within}/rows" if tree.at((*parts_of(within), "rows")) is not None else within


def fields_in(tree: Node, within: str = "") -> list[dict[str, str]]:
    """The fields of each outermost record below the address `within`."""
    return [fields_of(record) for record in records_of(tree, rows_in(tree, within), outermost=True)]


def fields_of(record: Node) -> dict[str, str]:
    """Values by the names of fields, whatever their case."""
    return {child.name.removeprefix("@").casefold(): child.content() for child in record.children}


def row_of(fields: Mapping[str, str], names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The fields that are called `names`: equal for copies, in which numbers may be written otherwise."""
    return tuple((name, _canonical(fields[name])) for name in sorted({*names} & fields.keys()))


def _canonical(value: str) -> str:
    folded = " ".join(value.split())
    try:
        return f"{float(folded):.12g}" if len(folded) < _LONGEST_NUMBER else folded
    except ValueError:
        return "" if folded.casefold() == "null" else folded


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip() if len(text) <= _LONGEST_NUMBER else "")
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
