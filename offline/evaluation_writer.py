"""Evaluation writer by rule: conditions of the state that all recorded performances reached."""

import re
from collections.abc import Collection, Iterator, Sequence

from taskloom.offline.conditions.conditions import Call, Condition, Expression, Terms, generalise
from taskloom.offline.conditions.screen import screen_conditions
from taskloom.offline.conditions.state import lasting_conditions, record_conditions
from taskloom.prompts.inputs import EvaluationWriterInput, Performance
from taskloom.prompts.replies import EvaluationWriterReply

_Row = tuple[str, str]

_NOTHING_SEEN: _Row = (
    "check_text_exists_via_control('nothing')",
    "'the performances changed nothing visible'",
)
_CALL = re.compile(r"\[call (\d+)\]$")
_MOST_LINES = 12
_MOST_SHOWN = 14
_PLACES = ("file", "directory")
_WHOLE = ("check_file_text", "check_file_data", "check_text_extended")
"""Checks that ask for all that a file holds, or gained."""
_COMPARING = ("check_record_added", "check_record_gone", "check_text_extended", "check_part_exists")
"""Checks that no state can meet that was there at the start."""


def write_function(view: EvaluationWriterInput) -> EvaluationWriterReply:
    """A function over the view's parameters: all conditions at first, then without those found wanting."""
    rows = [(condition.source(), condition.complaint.source()) for condition in _choose(view)]
    return EvaluationWriterReply(source=_function(view.parameter_names, rows or [_NOTHING_SEEN]))


def _choose(view: EvaluationWriterInput) -> list[Condition]:
    """All conditions; of those of the last function, what right work meets and what makes a difference."""
    candidates = shared_conditions(view.performances, on_screen=view.result_on_screen)
    present = [item for item in candidates if f"        ({item.source()}, " in view.previous_source]
    if not view.previous_source or not (view.refusing_checks or view.untested_checks):
        return candidates
    told = map(_CALL.search, view.refusing_checks or view.untested_checks)
    wanting = {int(match.group(1)) for match in told if match}
    kept, number = [], 0
    for condition in present:
        calls = range(number, number + condition.count)
        number += condition.count
        if not wanting.intersection(calls):
            kept.append(condition)
    return kept or candidates


def _function(names: Sequence[str], rows: Sequence[_Row]) -> str:
    conditions = "".join(f"        ({condition}, {complaint}),\n" for condition, complaint in rows)
    signature = ", ".join(f"{name}: str" for name in names)
    return (
        f"def evaluate_agent_task_completion({signature}) -> EvalResult:\n"
        f"    conditions = [\n{conditions}    ]\n"
        "    failed = [complaint for holds, complaint in conditions if not holds]\n"
        "    progress = (len(conditions) - len(failed)) / len(conditions)\n"
        "    if failed:\n"
        '        return EvalResult(False, "; ".join(failed), progress)\n'
        '    return EvalResult(True, "all conditions hold", progress)\n'
    )


def shared_conditions(performances: Sequence[Performance], *, on_screen: bool) -> list[Condition]:
    """Conditions that all performances suggest: of what lasts, and where nothing else decides of what is
    shown.

    Whether anything else was harmed is no matter of a function.
    """
    terms = [Terms(item) for item in performances]
    lasting = [*record_conditions(terms), *_common([list(lasting_conditions(item)) for item in terms])]
    told: set[tuple[object, object]] = set()
    for item in lasting:
        given = dict(item.call.arguments)
        fields = given.get("fields")
        if isinstance(fields, tuple) and not item.negated:
            told.update((given["file_path"], field) for field in fields)
        if item.call.check in _WHOLE:
            told.add((given["file_path"], ""))
    lasting = list({(item.call, item.negated): item for item in lasting if not _is_told(item, told)}.values())
    lines = [item for item in lasting if item.call.check == "check_file_contains"][_MOST_LINES:]
    lasting = [item for item in lasting if not any(item is line for line in lines)]
    lasting += _changed(terms, lasting)
    if lasting and not on_screen:
        return lasting
    shown = [
        item
        for item in _common([screen_conditions(item) for item in terms])
        if item.parameters or not _counts_something(item)
    ]
    return [*lasting, *shown[:_MOST_SHOWN]]


def _is_told(condition: Condition, told: Collection[tuple[object, object]]) -> bool:
    given = dict(condition.call.arguments)
    if condition.call.check == "check_file_contains" and (given["file_path"], "") in told:
        return not condition.negated
    field = given.get("field")
    if condition.call.check != "check_field" or not isinstance(field, Expression) or not field.parts:
        return False
    last = field.parts[-1][1].rpartition("/")[2]
    return (given["file_path"], (last, given["value"])) in told


def _changed(terms: Sequence[Terms], known: Sequence[Condition]) -> Iterator[Condition]:
    """That files are new or not what they were, where no other condition tells that something was done."""
    compared = {
        value for item in known if item.call.check in _COMPARING for _, value in item.call.arguments[:1]
    }
    for path in _paths(terms):
        if path not in compared:
            told = generalise("it is what it was at the start", {})
            yield Condition(Call("check_file_changed", (("file_path", path),)), told)


def _paths(terms: Sequence[Terms]) -> list[Expression]:
    """Files, and folders, that all performances change, or make; those with other files in them left out."""
    found = []
    for item in terms:
        paths = [one.container for one in item.performance.effects.essential if one.area in _PLACES]
        found.append([item.file(path) for path in dict.fromkeys(paths) if not item.is_holder(path)])
    return [path for path in (found[0] if found else []) if all(path in other for other in found[1:])]


def _counts_something(condition: Condition) -> bool:
    """Whether a shown text has a number of its own in it: a date, or a count that differs on another day."""
    return any(
        not form and any(character.isdigit() for character in text)
        for _, value in condition.call.arguments
        if isinstance(value, Expression)
        for form, text in value.parts
    )


def _common(found: Sequence[Sequence[Condition]]) -> list[Condition]:
    others = [{(item.call, item.negated) for item in items} for items in found[1:]]
    kept: dict[object, Condition] = {}
    for item in found[0] if found else ():
        key = (item.call, item.negated)
        if all(key in other for other in others):
            kept.setdefault(key, item)
    return list(kept.values())
