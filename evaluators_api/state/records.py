"""Records in trees (rows, objects, elements, sections) and their fields."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from taskloom.evaluators_api.state.nodes import Node, identity
from taskloom.taskgraph.text_folding import is_cut_of, written_out

_LONGEST_NUMBER = 40
_AMOUNT = re.compile(r"(-?\d{1,20}(?:\.\d{1,10})?) ([A-Z]{3})")
_ANY_ITEM = "*"
_LITERALS = ("true", "false", "null")
"""Values in JSON and SQL whose case depends on the format."""


def records_of(tree: Node, within: str = "", *, outermost: bool = False) -> Iterator[Node]:
    """Groups that hold values, below the address `within`, written with '/'; all of them, or only the
    `outermost`, which lie in no other."""
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
    """The address of the innermost record around `address`, and its values by name; empty without one."""
    addresses = (tuple(address[:depth]) for depth in range(len(address) - 1, -1, -1))
    records = ((outer, named_fields(node)) for outer in addresses if (node := tree.at(outer)) is not None)
    return next((item for item in records if item[1]), ((), {}))


def named_fields(record: Node) -> dict[str, str]:
    """Values of a record's own fields by name, texts in lines included."""
    return {child.name: text_of(child) for child in filter(_is_field, record.children)}


def _is_field(node: Node) -> bool:
    return node.naming == "field" and (node.value is not None or is_lines(node))


def holds(record: Node, fields: Mapping[str, str]) -> bool:
    """Whether a record has all these fields with exactly these values.

    In a name such as `postings/*/account` the `*` is one item of the list, the same for all names with that
    beginning.
    """
    by_list: dict[str, dict[str, str]] = {}
    for name, value in fields.items():
        list_address, item, rest = name.partition(_ANY_ITEM)
        if item:
            by_list.setdefault(list_address, {})[rest.removeprefix("/")] = value
            continue
        found = field_of(record, name)
        if found is None or not same_value(value, text_of(found)):
            return False
    for list_address, wanted in by_list.items():
        items = record.at(parts_of(list_address))
        # an empty name means the item itself
        if items is None or not any(
            same_value(wanted[""], text_of(item)) if "" in wanted else holds(item, wanted)
            for item in items.children
        ):
            return False
    return True


def reference(tree: Node, value: str, names: Iterable[str]) -> tuple[str, str, str] | None:
    """The record with the id `value`, if a field holds one of `names`: the field of the id, the field of the
    name, the name."""
    wanted = {name for name in names if name.strip()}
    if not value.strip() or value in wanted:
        return None
    for record in records_of(tree):
        if identity(record) == value:
            values = [(child.name, child.value) for child in record.children if child.value is not None]
            for field, name in values:
                if name in wanted:
                    return next(other_field for other_field, text in values if text == value), field, name
    return None


def belonging(tree: Node, fields: Mapping[str, str]) -> list[Node]:
    """The first record with these fields, then all records that refer to it by its id, in file order."""
    records = list(records_of(tree))
    first = [record for record in records if holds(record, fields)][:1]
    return [*first, *(record for record in records if first and refers(record, first[0]))]


def refers(record: Node, other: Node) -> bool:
    """Whether a record holds the id of another one."""
    name = identity(other)
    return bool(name) and identity(record) != name and any(item.value == name for item in record.children)


def field_of(record: Node, name: str) -> Node | None:
    """The field with this name or, below the record, this address; attributes also without '@'."""
    found = record.at((name,)) or record.at((f"@{name}",))
    if found is None and "/" in name:
        found = record.at(parts_of(name))
    any_case = (child for child in record.children if child.name.casefold() == name.casefold())
    return found or next(any_case, None)


def text_of(node: Node) -> str:
    """The content of a field: the value of a leaf, the lines of a text, JSON for everything else."""
    if node.value is None and is_lines(node):
        return "\n".join(child.value or "" for child in node.children)
    return node.content()


def parts_of(address: str) -> tuple[str, ...]:
    """The segments of an address written with '/'."""
    return tuple(part for part in address.split("/") if part)


def same_value(wanted: str, found: str) -> bool:
    """Whether two values are the same: as whole texts, with case and outer spaces, as numbers, as amounts of
    one currency, or as literals.

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
    """Whether a group is a text in lines: all its children are values named by position."""
    return bool(node.children) and all(
        child.naming == "position" and child.value is not None for child in node.children
    )


def rows_in(tree: Node, within: str = "") -> str:
    """The address of the rows below `within`, if any: the column names are not a record."""
    return f"{within}/rows" if tree.at((*parts_of(within), "rows")) is not None else within


def fields_in(tree: Node, within: str = "") -> list[dict[str, str]]:
    """The fields of each outermost record below the address `within`."""
    return [fields_of(record) for record in records_of(tree, rows_in(tree, within), outermost=True)]


def fields_of(record: Node) -> dict[str, str]:
    """Values by the names of fields, whatever their case."""
    return {child.name.removeprefix("@").casefold(): child.content() for child in record.children}


def row_of(fields: Mapping[str, str], names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The fields called `names`, in a form that is equal for copies that write numbers differently."""
    return tuple((name, _canonical_value(fields[name])) for name in sorted({*names} & fields.keys()))


def _canonical_value(value: str) -> str:
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
