"""Conditions on files, the clipboard and records: what was made, changed or removed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from taskloom.offline.conditions.conditions import Call, Condition, Expression, Terms, Value, generalise
from taskloom.prompts.shown_effects import ExtendedText, Origin
from taskloom.taskgraph.records.effect import Effect

_LONGEST_TEXT = 4_000
_CUT = "… sha256:"
_COPIES = ("whole", "packed")
_DRAWING, _DATABASE, _PICTURE = "drawing", "database", "picture"
_ORIGIN_WORDS = {"shown": "was open", "captured": "is on the display"}
_DATA = frozenset({"front_matter", "json_tree", "key_values", "ledger", "yaml_tree"})
"""Formats in which the same data can be written in several ways."""
_Key = tuple[Expression, Expression, str, tuple[str, ...], int]
_TABLES = frozenset({"delimited", "lines"})
"""Formats in which the user gives every value of a new record."""
_ANYWHERE = (("", ""),)
_RECORD_CHECKS = {
    "added": ("check_record_added", "no record with all this was added"),
    "changed": ("check_record", "there is no record that holds all this"),
    "removed": ("check_record_gone", "the record is still there, or never was"),
}


def lasting_conditions(terms: Terms) -> Iterator[Condition]:
    """Conditions on what was made, changed or removed, except the world-dependent colours of new pictures."""
    effects = terms.performance.effects
    copies = {(item.source, item.target) for item in effects.origins if item.kind in _COPIES}
    for origin in effects.origins:
        if origin.kind in _COPIES or (origin.source, origin.target) not in copies:
            yield from _origin(terms, origin)
    pictures = {item.container for item in effects.essential if item.content == _PICTURE}
    for effect in effects.essential:
        if effect.area == "directory" and effect.kind == "added" and not terms.is_holder(effect.container):
            complaint = f"there is no folder {effect.container}"
            yield terms.condition("check_directory_exists", complaint, path=effect.container)
        elif effect.area == "clipboard":
            yield from _clipboard(terms, effect)
        elif effect.area == "file" and (not effect.address or effect.container not in pictures):
            yield from _file(terms, effect)
    for item in effects.extended:
        yield _extended(terms, item)


def _extended(terms: Terms, item: ExtendedText) -> Condition:
    """The condition that a text, or a new file's copy of another file's text, was extended at its end."""
    if item.source:
        held = f"get_file_text(file_path={terms.text(item.source).source()}, at_start=True).rstrip()"
        text = Expression((("call", held), ("", "\n"), *terms.text(item.text).parts))
        complaint = f"{item.file_path} does not hold what {item.source} held, with the new text at the end"
        return terms.condition("check_file_text", complaint, file_path=item.file_path, text=text)
    complaint = f"{item.text} does not stand at the end of {item.file_path}, behind what was there"
    field = {"field": item.field} if item.field else {}
    arguments = {"file_path": item.file_path, "text": item.text, **field}
    return terms.condition("check_text_extended", complaint, **arguments)


def _origin(terms: Terms, item: Origin) -> Iterator[Condition]:
    """The condition that something was copied, unless no parameter identifies the record or table."""
    complaint = f"{item.target} does not hold what {_ORIGIN_WORDS.get(item.kind, f'{item.source} held')}"
    if item.belonging_to and not any(terms.text(text).parameters for text in item.belonging_to.values()):
        return
    if item.kind == "opened" or (item.kind == "count" and not terms.file(item.source).depends):
        return
    yield terms.condition_of(item.asked, complaint)


def _clipboard(terms: Terms, effect: Effect) -> Iterator[Condition]:
    value = effect.after or ""
    if effect.address == ("image",) and value:
        yield terms.condition("clipboard_contains_image", "there is no image in the clipboard")
    elif effect.address == ("file",) and value:
        yield terms.condition("clipboard_contains_file", "the file is not in the clipboard", file_name=value)
    elif value and _is_whole(value):
        complaint = "the clipboard does not hold what it should"
        yield terms.condition("check_clipboard_text", complaint, text=value)


def _is_whole(text: str) -> bool:
    return _CUT not in text and len(text) <= _LONGEST_TEXT


def _file(terms: Terms, effect: Effect) -> Iterator[Condition]:
    path, value = effect.container, effect.after or ""
    if not effect.address:
        yield from _whole_file(terms, effect)
    elif effect.format == _DATABASE and len(effect.address) == 1 and effect.kind != "changed":
        yield _table_condition(terms, effect)
    elif _is_field(effect):
        if effect.kind == "changed":
            yield from _former_name(terms, effect)
        complaint, field = f"{' / '.join(effect.address)} is not what it should be", "/".join(effect.address)
        yield terms.condition("check_field", complaint, file_path=path, field=field, value=value)
    elif effect.address[-1].isdigit():
        yield from _line(terms, effect)


def _table_condition(terms: Terms, effect: Effect) -> Condition:
    gone, name = effect.kind == "removed", effect.address[0]
    complaint = f"the table {name} is {'still there, or never was' if gone else 'not there, or not new'}"
    check, place = "check_part_exists", {"file_path": effect.container, "part": name}
    now, before = terms.call(check, **place), terms.call(check, **place, at_start=True)
    return Condition(now, terms.text(complaint), gone, before)


def _is_field(effect: Effect) -> bool:
    """Whether an effect changed a named value, or the name of a drawing's page."""
    if effect.format == _DRAWING and effect.kind != "removed" and effect.address[:-1] == ("pages",):
        return True
    named = effect.kind == "changed" and not effect.address[-1].isdigit()
    return named and _CUT not in (effect.after or "")


def _former_name(terms: Terms, effect: Effect) -> Iterator[Condition]:
    """The condition that nothing has the old name of something renamed."""
    former = effect.before or ""
    before = terms.text(former)
    if len(before.parts) == 1 and before.parameters:
        within = {"within": effect.address[0]} if effect.format == _DATABASE else {}
        fields, path = {effect.address[-1]: former}, effect.container
        complaint = f"{former} is still there"
        yield terms.condition("check_record_gone", complaint, file_path=path, fields=fields, **within)


def _whole_file(terms: Terms, effect: Effect) -> Iterator[Condition]:
    path, value = effect.container, effect.after or ""
    if effect.kind == "removed":
        yield terms.condition("check_file_missing", f"{path} is still there", file_path=path)
    elif effect.kind == "added" and effect.format == _DRAWING:
        yield from _drawing(terms, path)
    elif effect.kind == "added" and effect.format and value and _is_whole(value) and terms.is_given(value):
        check = "check_file_data" if effect.format in _DATA else "check_file_text"
        yield terms.condition(check, f"{path} does not hold what it should", file_path=path, text=value)
    elif effect.kind == "added" and effect.format == "delimited" and value:
        complaint = f"the names of the columns are not what they should be in {path}"
        yield terms.condition("check_file_contains", complaint, file_path=path, text=value.splitlines()[0])


def _drawing(terms: Terms, path: str) -> Iterator[Condition]:
    """All shapes and texts of a new drawing, if its texts are given."""
    records = [item.fields for item in terms.performance.effects.records if item.file_path == path]
    texts = [fields["text"] for fields in records if fields.get("text")]
    shapes = [fields["shape"] for fields in records if fields.get("shape", "text") != "text"]
    if records and all(map(terms.is_given, texts)):
        complaint = f"{path} does not show what it should"
        yield terms.condition("check_drawing", complaint, file_path=path, shapes=shapes, texts=texts)


def _line(terms: Terms, effect: Effect) -> Iterator[Condition]:
    path, value, before = effect.container, (effect.after or "").strip(), (effect.before or "").strip()
    if value and value[0] not in "[{":
        complaint = f"a line is missing in {path}"
        yield terms.condition("check_file_contains", complaint, file_path=path, text=value)
    if effect.kind != "added" and before[:1] not in ("", "[", "{") and terms.text(before).depends:
        complaint = f"an old line is still in {path}"
        found = terms.condition("check_file_contains", complaint, file_path=path, text=before)
        yield replace(found, negated=True)


def record_conditions(terms: Sequence[Terms]) -> list[Condition]:
    """Conditions on records that were added, changed or removed, in terms of the parameters; for a new one,
    on the values that parameters or the instruction give."""
    tables = [_fields_by_key(item) for item in terms]
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
            arguments: dict[str, Value] = {"file_path": path, "fields": tuple(sorted(shared.items()))}
            if within.parts != _ANYWHERE:
                arguments["within"] = within
            check, complaint = _RECORD_CHECKS[kind]
            conditions.append(Condition(Call(check, tuple(arguments.items())), generalise(complaint, {})))
    return conditions


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
    complaint = generalise("the row is missing", {})
    return [
        Condition(Call("check_file_contains", (("file_path", path), ("text", row))), complaint)
        for row in rows[0].intersection(*rows[1:])
        if row.parameters
    ]


def _fields_by_key(terms: Terms) -> dict[_Key, dict[str, Expression]]:
    """The decisive fields of each record in terms of the parameters; copied fields have other conditions."""
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
            if everything or (value.strip() and terms.is_given(value))
            if (text := terms.text(value)).depends or (record.file_path, name) not in taken_over
        }
        for name, (identity, known_by, known) in record.references.items():
            fields[name] = terms.linked(record.file_path, identity, known_by, known)
        for name, (known_by, known, addition) in record.grown.items():
            fields[name] = terms.extended(record.file_path, name, (known_by, known), addition)
        where = (terms.file(record.file_path), terms.text(record.within), record.kind, record.changed_fields)
        number = next(number for number in count() if (*where, number) not in found)
        found[(*where, number)] = fields
    return found
