"""Conditions that the effects of all performances suggest, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.evaluators_api.state.kept_data import is_kept
from taskloom.offline.conditions.conditions import Call, Condition, Value
from taskloom.offline.conditions.expressions import Expression, generalise
from taskloom.offline.conditions.records import changed_numbers, empty_fields, record_conditions
from taskloom.offline.conditions.screen import other_rows, screen_conditions
from taskloom.offline.conditions.state import lasting_conditions, remainder_conditions
from taskloom.offline.conditions.terms import Terms
from taskloom.prompts.inputs import Performance

_MOST_LINES = 12
_MOST_SHOWN = 14
_STRONGEST = (
    "check_copied",
    "check_drawing_copied",
    "check_records_copied",
    "check_one_record_copied",
    "check_clipboard_text",
    "check_file_text",
    "check_file_data",
    "check_drawing",
    "check_text_extended",
    "check_record",
    "check_record_gone",
    "check_record_count",
    "check_drawing_shown_before",
    "check_field",
)


def shared_conditions(performances: Sequence[Performance], *, on_screen: bool) -> list[Condition]:
    """Conditions that all performances suggest: of what lasts, of what stays, and where nothing else decides
    of what is shown."""
    terms = [Terms(item) for item in performances]
    lasting = [*_common([lasting_conditions(item) for item in terms]), *record_conditions(terms)]
    lasting = list({(item.call, item.negated): item for item in lasting}.values())
    lasting.sort(key=_weakness)
    remainder = [
        *changed_numbers(terms),
        *empty_fields(terms),
        *_common([remainder_conditions(item) for item in terms]),
    ]
    kept = _kept(terms)
    if lasting and not on_screen:
        return [*_fewer_lines(lasting), *remainder, *_common([other_rows(item) for item in terms]), *kept]
    shown = [
        item
        for item in _common([screen_conditions(item) for item in terms])
        if item.parameters or not _counts_something(item)
    ]
    return [*_fewer_lines(lasting), *shown[:_MOST_SHOWN], *remainder, *(kept if shown else [])]


def _kept(terms: Sequence[Terms]) -> list[Condition]:
    """That applications keep what they kept, but for as many records as all performances add, remove and
    change.

    Where they change data of which more is known, or differ in a number, no other file of an application may
    be touched.
    """
    found = [item.performance.effects.kept for item in terms]
    others = _other_data(terms)
    if any(is_kept(count.file_path) for item in terms for count in item.performance.effects.counts):
        return others
    known = [item for item in found if item is not None]
    arguments: list[tuple[str, Value]] = [("file_path", generalise("", {}))]
    for name in ("added", "removed", "changed"):
        numbers = {getattr(item, name) for item in known}
        arguments.append((name, numbers.pop() if len(numbers) == 1 else None))
    if len(known) < len(found):
        return others if any(item.performance.effects.kept_files for item in terms) else []
    if others and any(value is None for _, value in arguments[1:]):
        return others
    if all(value is None for _, value in arguments[1:]):
        return []
    told = generalise("data of an application was lost, added or changed", {})
    arguments = [item for item in arguments if item[1] != 0]
    return [Condition("remainder", Call("check_other_records_unchanged", tuple(arguments)), told)]


def _other_data(terms: Sequence[Terms]) -> list[Condition]:
    """That applications keep what they kept, in all files but those in which some performance has something
    kept.

    Nothing is said where a performance makes a file whose name cannot be told from its parameters.
    """
    found = [{item.text(path) for path in item.performance.effects.kept_files} for item in terms]
    new = {item.text(path) for item in terms for path in item.performance.effects.new_kept_files}
    always = set.intersection(*found) if found else set()
    if any(not path.depends and path not in always and "*" not in path.source() for path in new):
        return []
    paths = tuple(sorted(set[Expression]().union(*found), key=Expression.source))
    call = Call("check_other_data_unchanged", (("file_paths", paths),))
    return [Condition("remainder", call, generalise("other data of an application was added or changed", {}))]


def _counts_something(condition: Condition) -> bool:
    """Whether a shown text has a number of its own in it: a date, or a count that another day has more or
    fewer of."""
    return any(
        not form and any(character.isdigit() for character in text)
        for _, value in condition.call.arguments
        if isinstance(value, Expression)
        for form, text in value.parts
    )


def _common(found: Sequence[Sequence[Condition]]) -> list[Condition]:
    """Conditions of the first performance that all others suggest as well; complaints may differ in their
    values."""
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
    name = condition.call.check
    part = ("whole", False) in condition.call.arguments
    return (_STRONGEST.index(name) if name in _STRONGEST else len(_STRONGEST)) + len(_STRONGEST) * part


def _fewer_lines(found: Sequence[Condition]) -> list[Condition]:
    lines = [item for item in found if item.call.check == "check_file_contains"]
    left_out = {id(item) for item in lines[_MOST_LINES:]}
    return [item for item in found if id(item) not in left_out]
