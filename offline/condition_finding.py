"""Conditions that the effects of all performances suggest, the strongest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from offline.conditions import Call, Condition, Kind, Value
from offline.expressions import Expression, generalise
from prompts.inputs import Performance
from prompts.shown_effects import TouchedRecord
from taskgraph.records.effect import Effect

_APPLICATIONS = ".applications/"
_LONGEST_TEXT = 4_000
_LONGEST_SHOWN = 160
_MOST_LINES = 12
_MOST_SHOWN = 14
_CUT = "… sha256:"
_ADDRESS = re.compile(r"^\w+://[^/?#]*/?$|^\w+://[^/?#]*")
"""What stands before the path in the address of a page; all of it for a first page."""

_RecordKey = tuple[Expression, Expression, str, tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class _Finder:
    performance: Performance

    def text(self, value: str) -> Expression:
        return generalise(value, self.performance.parameters)

    @property
    def essential(self) -> tuple[Effect, ...]:
        return self.performance.effects.essential

    def lasting(self) -> Iterator[Condition]:
        """What was made, changed or removed."""
        yield from self._origins()
        for effect in self.essential:
            if effect.area == "directory" and effect.kind == "added":
                yield self._condition(
                    "check_directory_exists", f"there is no folder {effect.container}", path=effect.container
                )
            elif effect.area == "clipboard":
                yield from self._clipboard(effect)
            elif effect.area == "file":
                yield from self._file(effect)

    def remainder(self) -> Iterator[Condition]:
        """What was to stay as it was."""
        effects = self.performance.effects
        touched = [item.container for item in self.essential if item.area == "file" and not item.address] + [
            item.file_path for item in effects.counts
        ]
        paths = list(dict.fromkeys([*touched, *(i.container for i in self.essential if i.area == "file")]))
        folders = [item.container for item in self.essential if item.area == "directory"]
        for path in (*paths, *folders):
            yield self._condition(
                "check_file_changed", f"{path} is what it was at the start", kind="remainder", file_path=path
            )
        users = tuple(self.text(path) for path in paths if not path.startswith(_APPLICATIONS))
        yield Condition(
            "remainder",
            Call("check_other_files_unchanged", (("file_paths", users),)),
            self.text("another file of the user was made, lost or changed"),
        )
        removed = [
            item.container for item in self.essential if item.area == "file" and item.kind == "removed"
        ]
        losing = tuple(self.text(path) for path in dict.fromkeys([*removed, *effects.other_files]))
        yield Condition(
            "remainder",
            Call("check_nothing_lost", (("file_paths", losing),)),
            self.text("something was lost beside it"),
        )

    def screen(self) -> Iterator[Condition]:
        """What is shown now and was not before; what a parameter names first."""
        found = list(self._shown())
        found.sort(key=lambda item: (not item.parameters, item.negated))
        yield from found

    def _origins(self) -> Iterator[Condition]:
        for item in self.performance.effects.origins:
            source, target = self.text(item.source), self.text(item.target)
            told = self.text(f"{item.target} does not hold what {item.source} held")
            if item.kind in ("whole", "part"):
                whole: tuple[tuple[str, Value], ...] = (
                    ("source", source),
                    ("target", target),
                    ("whole", item.kind == "whole"),
                )
                yield Condition("lasting", Call("check_copied", whole), told)
            elif item.kind == "records":
                yield Condition(
                    "lasting",
                    Call(
                        "check_records_copied",
                        (
                            ("source", source),
                            ("target", target),
                            ("source_within", self.text(item.source_at)),
                            ("target_within", self.text(item.target_at)),
                        ),
                    ),
                    told,
                )
            elif item.kind == "field":
                held = Call(
                    "get_field",
                    (("file_path", source), ("field", self.text(item.source_at)), ("at_start", True)),
                )
                call = Call("check_clipboard_text", (("text", held),))
                if item.target != "clipboard":
                    field = self.text(item.target_at)
                    call = Call("check_field", (("file_path", target), ("field", field), ("value", held)))
                yield Condition("lasting", call, told)

    def _clipboard(self, effect: Effect) -> Iterator[Condition]:
        value = effect.after or ""
        if effect.address == ("image",) and value:
            yield Condition(
                "lasting", Call("clipboard_contains_image"), self.text("there is no image in the clipboard")
            )
        elif effect.address == ("file",) and value:
            yield self._condition(
                "clipboard_contains_file", "the file is not in the clipboard", file_name=value
            )
        elif value and _CUT not in value and len(value) <= _LONGEST_TEXT:
            yield self._condition(
                "check_clipboard_text", "the clipboard does not hold what it should", text=value
            )

    def _file(self, effect: Effect) -> Iterator[Condition]:
        path, value = effect.container, effect.after or ""
        if not effect.address:
            if effect.kind == "removed":
                yield self._condition("check_file_missing", f"{path} is still there", file_path=path)
            elif effect.kind == "added":
                if effect.format and value and _CUT not in value and len(value) <= _LONGEST_TEXT:
                    yield self._condition(
                        "check_file_text", f"{path} does not hold what it should", file_path=path, text=value
                    )
                if effect.format == "delimited" and value:
                    yield self._condition(
                        "check_file_contains",
                        f"the names of the columns are not what they should be in {path}",
                        file_path=path,
                        text=value.splitlines()[0],
                    )
                yield self._condition("check_file_exists", f"there is no file {path}", file_path=path)
        elif effect.kind == "changed" and not effect.address[-1].isdigit() and _CUT not in value:
            yield self._condition(
                "check_field",
                f"{' / '.join(effect.address)} is not what it should be",
                file_path=path,
                field="/".join(effect.address),
                value=value,
            )
        elif effect.address[-1].isdigit() and value.strip() and value[0] not in "[{":
            yield self._condition(
                "check_file_contains",
                f"a line is missing in {path}",
                file_path=path,
                text=value.strip(),
            )
            if effect.kind == "changed" and (effect.before or "").strip():
                yield self._condition(
                    "check_file_contains",
                    f"an old line is still in {path}",
                    negated=True,
                    file_path=path,
                    text=(effect.before or "").strip(),
                )
        if effect.kind == "removed" and effect.address and (effect.before or "").strip():
            before = (effect.before or "").strip()
            if effect.address[-1].isdigit() and before[0] not in "[{":
                yield self._condition(
                    "check_file_contains",
                    f"a line is still in {path}",
                    negated=True,
                    file_path=path,
                    text=before,
                )

    def _shown(self) -> Iterator[Condition]:
        effects = self.performance.effects
        for effect in self.essential:
            if effect.area == "window" and effect.address == ("title",) and effect.after:
                yield self._condition(
                    "check_window", "another window is in front", kind="screen", text=effect.after
                )
            elif effect.area == "window" and effect.address == ("address",):
                path = _ADDRESS.sub("", effect.after or "")
                if path:
                    yield self._condition(
                        "check_window", "another page is in front", kind="screen", text=path
                    )
        for name, value in effects.contents.items():
            yield self._condition(
                "check_control_value",
                f"{name} does not show its value",
                kind="screen",
                text=name,
                value=value,
            )
        for name, on in effects.switches.items():
            yield Condition(
                "screen",
                Call("check_control_checked", (("text", self.text(name)), ("checked", on))),
                self.text(f"{name} is not {'on' if on else 'off'}"),
            )
        for text in effects.appeared:
            yield self._condition(
                "check_text_exists_via_control", f"{text} is not shown", kind="screen", text=text
            )
        for text in effects.vanished:
            yield self._condition(
                "check_text_exists_via_control",
                f"{text} is still shown",
                kind="screen",
                negated=True,
                text=text,
            )

    def _condition(
        self, check: str, complaint: str, *, kind: Kind = "lasting", negated: bool = False, **texts: str
    ) -> Condition:
        arguments = tuple((name, self.text(value)) for name, value in texts.items())
        return Condition(kind, Call(check, arguments), self.text(complaint), negated)


def shared_conditions(performances: Sequence[Performance], *, on_screen: bool) -> list[Condition]:
    """Conditions that all performances suggest: of what lasts, of what stays, and where it matters of what is shown."""
    finders = [_Finder(item) for item in performances]
    lasting = [*_common([list(finder.lasting()) for finder in finders]), *_records(performances)]
    lasting = list({(item.call, item.negated): item for item in lasting}.values())
    lasting.sort(key=_weakness)
    remainder = [*_counts(performances), *_common([list(finder.remainder()) for finder in finders])]
    if lasting and not on_screen:
        return [*_fewer_lines(lasting), *remainder]
    shown = [
        item
        for item in _common([list(finder.screen()) for finder in finders])
        if item.parameters or not _counts_something(item)
    ]
    return [*_fewer_lines(lasting), *shown[:_MOST_SHOWN], *remainder]


def _counts_something(condition: Condition) -> bool:
    """Whether a shown text has a number of its own in it: a date, or a count that another day has more or fewer of."""
    return any(
        not form and any(character.isdigit() for character in text)
        for _, value in condition.call.arguments
        if isinstance(value, Expression)
        for form, text in value.parts
    )


def _common(found: Sequence[Sequence[Condition]]) -> list[Condition]:
    """Conditions of the first performance that all others suggest as well; complaints may differ in their values."""
    if not found:
        return []
    others = [{(item.call, item.negated) for item in items} for items in found[1:]]
    kept: dict[object, Condition] = {}
    for item in found[0]:
        key = (item.call, item.negated)
        if all(key in other for other in others):
            kept.setdefault(key, item)
    return list(kept.values())


def _weakness(condition: Condition) -> int:
    order = (
        "check_copied",
        "check_records_copied",
        "check_clipboard_text",
        "check_file_text",
        "check_record",
        "check_record_count",
        "check_field",
    )
    name = condition.call.check
    part = ("whole", False) in condition.call.arguments
    return (order.index(name) if name in order else len(order)) + 4 * part


def _fewer_lines(found: Sequence[Condition]) -> list[Condition]:
    lines = [item for item in found if item.call.check == "check_file_contains"]
    left_out = {id(item) for item in lines[_MOST_LINES:]}
    return [item for item in found if id(item) not in left_out]


def _records(performances: Sequence[Performance]) -> list[Condition]:
    """One record that holds all the values that the performances share, in terms of the parameters."""
    tables = [_keyed(item) for item in performances]
    conditions = []
    for key, fields in tables[0].items() if tables else ():
        others = [table.get(key) for table in tables[1:]]
        shared = {
            name: value
            for name, value in fields.items()
            if all(other is not None and other.get(name) == value for other in others)
        }
        path, within, kind, changed, _ = key
        named = {name: value for name, value in shared.items() if value.parameters}
        if kind == "changed":
            shared = {**named, **{name: shared[name] for name in changed if name in shared}}
        elif kind == "removed" or not named:
            shared = named
        if kind == "added" and not named:
            conditions += _row_as_text(performances, path)
        if not shared or (kind == "changed" and not set(changed) <= set(shared)):
            continue
        values: tuple[tuple[str, Expression], ...] = tuple(sorted(shared.items()))
        arguments: tuple[tuple[str, Value], ...] = (("file_path", path), ("fields", values))
        where: tuple[tuple[str, Value], ...] = (("within", within),) if within.parts != (("", ""),) else ()
        if kind == "removed":
            call = Call("check_record_count", (*arguments, ("count", 0), *where))
            conditions.append(Condition("lasting", call, generalise("the record is still there", {})))
        else:
            call = Call("check_record", (*arguments, *where))
            conditions.append(
                Condition("lasting", call, generalise("there is no record that holds all this", {}))
            )
    return conditions


def _row_as_text(performances: Sequence[Performance], path: Expression) -> list[Condition]:
    """A row of a table that a parameter gives as it stands in the file."""
    tables = {
        item.container for one in performances for item in one.effects.essential if item.format == "delimited"
    }
    rows = [
        {
            generalise(",".join(record.fields.values()), item.parameters)
            for record in item.effects.records
            if record.kind == "added"
            and record.file_path in tables
            and generalise(record.file_path, item.parameters) == path
        }
        for item in performances
    ]
    told = generalise("the row is missing", {})
    return [
        Condition("lasting", Call("check_file_contains", (("file_path", path), ("text", row))), told)
        for row in rows[0].intersection(*rows[1:])
        if row.parameters
    ]


def _counts(performances: Sequence[Performance]) -> list[Condition]:
    """How many records of each changed file differ; any number, where the performances have different ones."""
    tables = [
        {generalise(item.file_path, performance.parameters): item for item in performance.effects.counts}
        for performance in performances
    ]
    found = []
    for path in tables[0] if tables else ():
        if all(path in table for table in tables):
            arguments: list[tuple[str, Value]] = [("file_path", path)]
            for name in ("added", "removed", "changed"):
                numbers = {getattr(table[path], name) for table in tables}
                arguments.append((name, numbers.pop() if len(numbers) == 1 else None))
            call = Call("check_other_records_unchanged", tuple(arguments))
            told = generalise("something else in the file was lost, added or changed", {})
            found.append(Condition("remainder", call, told))
    return found


def _keyed(performance: Performance) -> dict[_RecordKey, dict[str, Expression]]:
    parameters: Mapping[str, str] = performance.parameters
    found: dict[_RecordKey, dict[str, Expression]] = {}
    gone = {
        item.container
        for item in performance.effects.essential
        if item.area == "file" and item.kind == "removed" and not item.address
    }
    for record in performance.effects.records:
        if record.file_path in gone:
            continue
        number = 0
        while (key := _key(record, parameters, number)) in found:
            number += 1
        found[key] = {name: generalise(value, parameters) for name, value in record.fields.items()}
    return found


def _key(record: TouchedRecord, parameters: Mapping[str, str], number: int) -> _RecordKey:
    return (
        generalise(record.file_path, parameters),
        generalise(record.within, parameters),
        record.kind,
        record.changed_fields,
        number,
    )
