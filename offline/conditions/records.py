"""Conditions of records: one that holds all the values that the performances share, and how many differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from taskloom.evaluators_api.state.kept_data import is_kept
from taskloom.evaluators_api.state.records import is_choice, is_note_of_change
from taskloom.offline.conditions.conditions import Call, Condition, Value
from taskloom.offline.conditions.expressions import Expression, generalise
from taskloom.offline.conditions.terms import Terms
from taskloom.prompts.shown_effects import TouchedRecord

_Key = tuple[Expression, Expression, str, tuple[str, ...], int]
_TABLES = frozenset({"delimited", "lines"})
"""Formats in which nothing in a file of the user is a default."""
_APPLICATIONS, _DATABASE = ".applications/", "database"
_NOWHERE = (("", ""),)


def record_conditions(terms: Sequence[Terms]) -> list[Condition]:
    """Records that were added, changed or removed, in terms of the parameters."""
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


def changed_numbers(terms: Sequence[Terms]) -> list[Condition]:
    """How many records of each changed file differ; any number, where the performances have different ones.

    Where tables were made or dropped, all others are as they were: how many rows these hold says nothing.
    """
    tables = [
        {item.text(count.file_path): count for count in item.performance.effects.counts} for item in terms
    ]
    found = []
    for path in tables[0] if tables else ():
        if all(path in table for table in tables):
            told = generalise("something else in the file was lost, added or changed", {})
            parts = {_tables(item, path) for item in terms}
            if len(parts) == 1 and parts != {()}:
                call = Call("check_other_parts_unchanged", (("file_path", path), ("parts", parts.pop())))
                found.append(Condition("remainder", call, told))
                continue
            arguments: list[tuple[str, Value]] = [("file_path", path)]
            for name in ("added", "removed", "changed"):
                numbers = {getattr(table[path], name) for table in tables}
                taken = name == "added" and any(_takes_records_over(item, path) for item in terms)
                arguments.append((name, numbers.pop() if len(numbers) == 1 and not taken else None))
            call = Call("check_other_records_unchanged", tuple(arguments))
            found.append(Condition("remainder", call, told))
            touched = {
                item.text(part)
                for item, table in zip(terms, tables, strict=True)
                for part in table[path].parts
            }
            if touched and any(value is None for _, value in arguments):
                meant = tuple(sorted(touched, key=Expression.source))
                call = Call("check_other_parts_unchanged", (("file_path", path), ("parts", meant)))
                found.append(Condition("remainder", call, told))
            fields = {table[path].fields for table in tables}
            if len(fields) == 1 and fields != {()}:
                names = tuple(generalise(name, {}) for name in fields.pop())
                kept = Call("check_other_fields_unchanged", (("file_path", path), ("fields", names)))
                other = generalise("another field of the record was changed as well", {})
                found.append(Condition("remainder", kept, other))
    return found


def _takes_records_over(terms: Terms, path: Expression) -> bool:
    """Whether all records of another file were added to a table of the one at `path`: how many these are is
    up to that file."""
    origins = terms.performance.effects.origins
    return any(
        item.kind == "records" and item.target_at and terms.text(item.target) == path for item in origins
    )


def _is_copy(terms: Terms, path: Expression) -> bool:
    """Whether the file at `path` holds what another one held, all of it or all of its records: what its
    fields are is up to that one."""
    origins = terms.performance.effects.origins
    return any(item.kind in ("whole", "records") and terms.text(item.target) == path for item in origins)


def empty_fields(terms: Sequence[Terms]) -> list[Condition]:
    """That new records hold nothing in fields that no performance fills; which ones these are is up to the
    file that records come from."""
    tables = [
        {item.text(filled.file_path): filled.fields for filled in item.performance.effects.filled}
        for item in terms
    ]
    told = generalise("another field of the new record was filled as well", {})
    return [
        Condition(
            "remainder",
            Call(
                "check_other_fields_empty",
                (
                    ("file_path", path),
                    (
                        "fields",
                        tuple(generalise(name, {}) for name in sorted({*chain(*(t[path] for t in tables))})),
                    ),
                ),
            ),
            told,
        )
        for path in (tables[0] if tables else ())
        if all(path in table for table in tables) and not any(_is_copy(item, path) for item in terms)
    ]


def _tables(terms: Terms, path: Expression) -> tuple[Expression, ...]:
    """Tables of the database that were made or dropped."""
    return tuple(
        terms.text(effect.address[0])
        for effect in terms.performance.effects.essential
        if effect.format == _DATABASE
        and len(effect.address) == 1
        and effect.kind != "changed"
        and terms.text(effect.container) == path
    )


def _condition(path: Expression, within: Expression, kind: str, fields: dict[str, Expression]) -> Condition:
    arguments: tuple[tuple[str, Value], ...] = (
        ("file_path", path),
        ("fields", tuple(sorted(fields.items()))),
    )
    where: tuple[tuple[str, Value], ...] = (("within", within),) if within.parts != _NOWHERE else ()
    if kind == "removed":
        call = Call("check_record_gone", (*arguments, *where))
        return Condition("lasting", call, generalise("the record is still there, or never was", {}))
    told = generalise("there is no record that holds all this", {})
    return Condition("lasting", Call("check_record", (*arguments, *where)), told)


def _row_as_text(terms: Sequence[Terms], path: Expression) -> list[Condition]:
    """A row of a table that a parameter gives as it stands in the file."""
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
            if record.kind == "added" and record.file_path in tables and item.text(record.file_path) == path
        }
        for item in terms
    ]
    told = generalise("the row is missing", {})
    return [
        Condition("lasting", Call("check_file_contains", (("file_path", path), ("text", row))), told)
        for row in rows[0].intersection(*rows[1:])
        if row.parameters
    ]


def _keyed(terms: Terms) -> dict[_Key, dict[str, Expression]]:
    """Fields of each record that decide, in terms of the parameters; what was taken over from elsewhere is
    asked for there."""
    effects = terms.performance.effects
    whole = {item.container: item for item in effects.essential if item.area == "file" and not item.address}
    tables = {
        item.container
        for item in effects.essential
        if item.format in _TABLES and not item.container.startswith(_APPLICATIONS)
    }
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
            name: terms.text(value)
            for name, value in record.fields.items()
            if everything
            or (value.strip() and terms.said(value))
            or (is_kept(record.file_path) and is_choice(value) and not is_note_of_change(record.fields))
        }
        fields = {
            name: value
            for name, value in fields.items()
            if value.depends or (record.file_path, name) not in taken_over
        }
        for name, (identity, known_by, known) in record.references.items():
            fields[name] = terms.linked(record.file_path, identity, known_by, known)
        for name, (known_by, known, behind) in record.grown.items():
            fields[name] = terms.grown(record.file_path, name, (known_by, known), behind)
        number = 0
        while (key := _key(record, terms, number)) in found:
            number += 1
        found[key] = fields
    return found


def _key(record: TouchedRecord, terms: Terms, number: int) -> _Key:
    return (
        terms.text(record.file_path),
        terms.text(record.within),
        record.kind,
        record.changed_fields,
        number,
    )
