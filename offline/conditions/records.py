"""Conditions of records: one that holds all the values that the performances share, together."""

from collections.abc import Sequence
from itertools import count

from taskloom.offline.conditions.conditions import Call, Condition, Value
from taskloom.offline.conditions.expressions import Expression, generalise
from taskloom.offline.conditions.terms import Terms

_Key = tuple[Expression, Expression, str, tuple[str, ...], int]
_TABLES = frozenset({"delimited", "lines"})
"""Formats in which every value of a new record is the user's."""
_NOWHERE = (("", ""),)
_CHECKS = {
    "added": ("check_record_added", "no record with all this was added"),
    "changed": ("check_record", "there is no record that holds all this"),
    "removed": ("check_record_gone", "the record is still there, or never was"),
}


def record_conditions(terms: Sequence[Terms]) -> list[Condition]:
    """Records that were added, changed or removed, in terms of the parameters; of a new one the values that
    parameters or the instruction give."""
    tables = [_keyed(item) for item in terms]
    conditions = []
    for key, fields in tables[0].items() if tables else ():
        others = [table.get(key) for table in tables[1:]]
        shared = {
            name: value
            for name, value in fields.items()
            if all(other is not None and other.get(name) == value for other in others)
        }
        path, within, kind, changed, _ = key
        named = {name: value for name, value in shared.items() if value.depends}
        if kind == "changed":
            shared = {**named, **{name: shared[name] for name in changed if name in shared}}
        elif kind == "removed" or not named:
            shared = named
        if kind == "added" and not named:
            conditions += _row_as_text(terms, path)
        if shared and (kind != "changed" or set(changed) <= set(shared)):
            conditions.append(_condition(path, within, kind, shared))
    return conditions


def _condition(path: Expression, within: Expression, kind: str, fields: dict[str, Expression]) -> Condition:
    arguments: dict[str, Value] = {"file_path": path, "fields": tuple(sorted(fields.items()))}
    if within.parts != _NOWHERE:
        arguments["within"] = within
    check, told = _CHECKS[kind]
    return Condition(Call(check, tuple(arguments.items())), generalise(told, {}))


def _row_as_text(terms: Sequence[Terms], path: Expression) -> list[Condition]:
    tables = {
        effect.container
        for item in terms
        for effect in item.performance.effects.essential
        if effect.format == "delimited"
    }
    rows = [
        {
            item.text(",".join(record.fields.values()))
            for record in item.performance.effects.records
            if record.kind == "added" and record.file_path in tables and item.file(record.file_path) == path
        }
        for item in terms
    ]
    told = generalise("the row is missing", {})
    return [
        Condition(Call("check_file_contains", (("file_path", path), ("text", row))), told)
        for row in rows[0].intersection(*rows[1:])
        if row.parameters
    ]


def _keyed(terms: Terms) -> dict[_Key, dict[str, Expression]]:
    """Fields of each record that decide, in terms of the parameters; what was taken over from elsewhere is
    asked for there."""
    effects = terms.performance.effects
    whole = {item.container: item for item in effects.essential if item.area == "file" and not item.address}
    tables = {item.container for item in effects.essential if item.format in _TABLES}
    taken_over = {
        (item.target, item.target_at.rpartition("/")[2]) for item in effects.origins if item.kind == "field"
    }
    found: dict[_Key, dict[str, Expression]] = {}
    for record in effects.records:
        holder = whole.get(record.file_path)
        if holder is not None and (holder.kind == "removed" or holder.format == "drawing"):
            continue
        everything = record.file_path in tables or record.kind != "added"
        fields = {
            name: text
            for name, value in record.fields.items()
            if everything or (value.strip() and terms.said(value))
            if (text := terms.text(value)).depends or (record.file_path, name) not in taken_over
        }
        for name, (identity, known_by, known) in record.references.items():
            fields[name] = terms.linked(record.file_path, identity, known_by, known)
        for name, (known_by, known, behind) in record.grown.items():
            fields[name] = terms.grown(record.file_path, name, (known_by, known), behind)
        where = (terms.file(record.file_path), terms.text(record.within), record.kind, record.changed_fields)
        number = next(number for number in count() if (*where, number) not in found)
        found[(*where, number)] = fields
    return found
