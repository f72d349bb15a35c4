"""Conditions of files and the clipboard: what was made, changed or removed."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.offline.conditions.conditions import Call, Condition, Value
from taskloom.offline.conditions.expressions import Expression
from taskloom.offline.conditions.terms import Terms
from taskloom.prompts.shown_effects import ExtendedText, Origin
from taskloom.taskgraph.records.effect import Effect

_LONGEST_TEXT = 4_000
_CUT = "… sha256:"
_DRAWING, _DATABASE = "drawing", "database"
_DATA = frozenset({"front_matter", "json_tree", "key_values", "ledger", "yaml_tree"})
"""Formats in which the same can be written in several ways."""


def lasting_conditions(terms: Terms) -> list[Condition]:
    """What was made, changed or removed."""
    effects = terms.performance.effects
    copies = {(item.source, item.target) for item in effects.origins if item.kind == "whole"}
    found = [
        condition
        for item in effects.origins
        if item.kind == "whole" or (item.kind != "opened" and (item.source, item.target) not in copies)
        for condition in _origin(terms, item)
    ]
    for effect in effects.essential:
        if effect.area == "directory" and effect.kind == "added" and not terms.is_holder(effect.container):
            told = f"there is no folder {effect.container}"
            found.append(terms.condition("check_directory_exists", told, path=effect.container))
        elif effect.area == "clipboard":
            found += _clipboard(terms, effect)
        elif effect.area == "file":
            found += _file(terms, effect)
    for item in effects.extended:
        if item.source:
            found.append(_continued(terms, item))
            continue
        told = f"{item.text} does not stand at the end of {item.file_path}, behind what was there"
        texts: tuple[tuple[str, Value], ...] = (
            ("file_path", terms.file(item.file_path)),
            ("text", terms.text(item.text)),
            *((("field", terms.text(item.field)),) if item.field else ()),
        )
        found.append(Condition(Call("check_text_extended", texts), terms.text(told)))
    return found


def _continued(terms: Terms, item: ExtendedText) -> Condition:
    """A new file that holds what another one held, and something behind it."""
    held = f"get_file_text(file_path={terms.text(item.source).source()}, at_start=True).rstrip()"
    text = Expression((("call", held), ("", "\n"), *terms.text(item.text).parts))
    told = terms.text(f"{item.file_path} does not hold what {item.source} held, with {item.text} at the end")
    return Condition(
        Call("check_file_text", (("file_path", terms.text(item.file_path)), ("text", text))), told
    )


def _origin(terms: Terms, item: Origin) -> Iterator[Condition]:
    source, target = terms.file(item.source), terms.file(item.target)
    told = terms.text(f"{item.target} does not hold what {item.source} held")
    place: tuple[tuple[str, Value], ...] = (("source", source), ("target", target))
    if item.kind in ("whole", "part"):
        yield Condition(Call("check_copied", (*place, ("whole", item.kind == "whole"))), told)
    elif item.kind == "records":
        within = (
            ("source_within", terms.text(item.source_at)),
            ("target_within", terms.text(item.target_at)),
        )
        yield Condition(Call("check_records_copied", (*place, *within)), told)
    elif item.kind == "record":
        which: tuple[tuple[str, Value], ...] = (
            ("number", item.number),
            ("source_within", terms.text(item.source_at)),
        )
        yield Condition(Call("check_one_record_copied", (*place, *which)), told)
    elif item.kind == "belonging":
        fields = _fields(terms, item)
        if fields:
            call = Call("check_records_copied", (*place, ("belonging_to", fields)))
            yield Condition(call, told)
    elif item.kind == "picture":
        told = terms.text(f"{item.target} is not {item.source}: {item.source_at}")
        yield Condition(
            Call("check_picture", (*place, ("change", Expression((("", item.source_at),))))), told
        )
    elif item.kind == "drawing":
        yield Condition(Call("check_drawing_copied", place), told)
    elif item.kind == "shown":
        told = terms.text(f"{item.target} does not show what was open")
        yield Condition(Call("check_drawing_shown_before", (("file_path", target),)), told)
    else:
        held = _held(terms, item, source)
        if held is None:
            return
        if item.target == "clipboard":
            yield Condition(Call("check_clipboard_text", (("text", held),)), told)
        elif item.kind == "field":
            field = terms.text(item.target_at)
            arguments: tuple[tuple[str, Value], ...] = (
                ("file_path", target),
                ("field", field),
                ("value", held),
            )
            yield Condition(Call("check_field", arguments), told)
        else:
            yield Condition(Call("check_file_text", (("file_path", target), ("text", held))), told)


def _held(terms: Terms, item: Origin, source: Expression) -> Call | None:
    """What gets the text that was somewhere at the start."""
    at_start: tuple[tuple[str, Value], ...] = (("at_start", True),)
    if item.kind == "field":
        return Call("get_field", (("file_path", source), ("field", terms.text(item.source_at)), *at_start))
    if item.kind == "count":
        return Call("get_record_count", (("file_path", source), *at_start)) if source.depends else None
    fields = _fields(terms, item)
    field = terms.text(item.source_at)
    arguments: tuple[tuple[str, Value], ...] = (
        ("file_path", source),
        ("field", field),
        ("fields", fields),
        *at_start,
    )
    return Call("get_linked_field", arguments) if fields else None


def _fields(terms: Terms, item: Origin) -> tuple[tuple[str, Expression], ...]:
    """The fields that say which record is meant; none where no parameter does."""
    found = tuple((name, terms.text(value)) for name, value in sorted(item.belonging_to.items()))
    return found if any(value.parameters for _, value in found) else ()


def _clipboard(terms: Terms, effect: Effect) -> Iterator[Condition]:
    value = effect.after or ""
    if effect.address == ("image",) and value:
        told = terms.text("there is no image in the clipboard")
        yield Condition(Call("clipboard_contains_image"), told)
    elif effect.address == ("file",) and value:
        yield terms.condition("clipboard_contains_file", "the file is not in the clipboard", file_name=value)
    elif value and _CUT not in value and len(value) <= _LONGEST_TEXT:
        yield terms.condition(
            "check_clipboard_text", "the clipboard does not hold what it should", text=value
        )


def _file(terms: Terms, effect: Effect) -> Iterator[Condition]:
    if not effect.address:
        yield from _whole_file(terms, effect)
    elif effect.format == _DATABASE and len(effect.address) == 1 and effect.kind != "changed":
        yield from _part(terms, effect)
    elif (
        effect.kind == "changed" and not effect.address[-1].isdigit() and _CUT not in (effect.after or "")
    ) or _is_page(effect):
        if effect.kind == "changed":
            yield from _former(terms, effect)
        yield terms.condition(
            "check_field",
            f"{' / '.join(effect.address)} is not what it should be",
            file_path=effect.container,
            field="/".join(effect.address),
            value=effect.after or "",
        )
    elif effect.address[-1].isdigit():
        yield from _line(terms, effect)


def _part(terms: Terms, effect: Effect) -> Iterator[Condition]:
    """That a table was made, or dropped: there at one end and not at the other."""
    gone, name = effect.kind == "removed", effect.address[0]
    place: tuple[tuple[str, Value], ...] = (
        ("file_path", terms.file(effect.container)),
        ("part", terms.text(name)),
    )
    told = terms.text(
        f"the table {name} is {'still there, or never was' if gone else 'not there, or not new'}"
    )
    before = Call("check_part_exists", (*place, ("at_start", True)))
    yield Condition(Call("check_part_exists", place), told, gone, before)


def _is_page(effect: Effect) -> bool:
    """Whether it is the name of a page of a drawing."""
    return effect.format == _DRAWING and effect.kind != "removed" and effect.address[:-1] == ("pages",)


def _former(terms: Terms, effect: Effect) -> Iterator[Condition]:
    """That nothing is called any more what was renamed."""
    before = terms.text(effect.before or "")
    if len(before.parts) == 1 and before.parameters:
        fields = ((effect.address[-1], before),)
        within: tuple[tuple[str, Value], ...] = ()
        if effect.format == _DATABASE:
            within = (("within", terms.text(effect.address[0])),)
        call = Call(
            "check_record_gone", (("file_path", terms.file(effect.container)), ("fields", fields), *within)
        )
        yield Condition(call, terms.text(f"{effect.before} is still there"))


def _whole_file(terms: Terms, effect: Effect) -> Iterator[Condition]:
    path, value, known = effect.container, effect.after or "", False
    if effect.kind == "removed":
        yield terms.condition("check_file_missing", f"{path} is still there", file_path=path)
    elif effect.kind == "added":
        if effect.format == _DRAWING:
            yield from _drawing(terms, path)
        elif effect.format and _CUT not in value and len(value) <= _LONGEST_TEXT and terms.said(value):
            known = True
            asked = "check_file_data" if effect.format in _DATA else "check_file_text"
            yield terms.condition(asked, f"{path} does not hold what it should", file_path=path, text=value)
        if effect.format == "delimited" and value and not known:
            yield terms.condition(
                "check_file_contains",
                f"the names of the columns are not what they should be in {path}",
                file_path=path,
                text=value.splitlines()[0],
            )


def _drawing(terms: Terms, path: str) -> Iterator[Condition]:
    """All shapes and texts of a new drawing, unless it shows what was there before."""
    records = [item for item in terms.performance.effects.records if item.file_path == path]
    texts = [item.fields["text"] for item in records if item.fields.get("text")]
    shapes = [item.fields["shape"] for item in records if item.fields.get("shape", "text") != "text"]
    if records and all(map(terms.said, texts)):
        arguments: tuple[tuple[str, Value], ...] = (
            ("file_path", terms.text(path)),
            ("shapes", tuple(map(terms.text, shapes))),
            ("texts", tuple(map(terms.text, texts))),
        )
        told = terms.text(f"{path} does not show what it should")
        yield Condition(Call("check_drawing", arguments), told)


def _line(terms: Terms, effect: Effect) -> Iterator[Condition]:
    path, value, before = effect.container, (effect.after or "").strip(), (effect.before or "").strip()
    if value and value[0] not in "[{":
        yield terms.condition(
            "check_file_contains", f"a line is missing in {path}", file_path=path, text=value
        )
    if (
        effect.kind in ("changed", "removed")
        and before[:1] not in ("", "[", "{")
        and terms.text(before).depends
    ):
        yield terms.condition(
            "check_file_contains",
            f"an old line is still in {path}",
            negated=True,
            file_path=path,
            text=before,
        )
