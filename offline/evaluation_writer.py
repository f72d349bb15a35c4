"""Evaluation writer by rule: conditions on the state that all recorded performances reached."""

import re
from collections.abc import Collection, Iterator, Sequence

from taskloom.offline.conditions.conditions import Call, Condition, Expression, Terms, generalise
from taskloom.offline.conditions.screen import screen_conditions
from taskloom.offline.conditions.state import lasting_conditions, record_conditions
from taskloom.prompts.inputs import EvaluationWriterInput, Performance
from taskloom.prompts.replies import EvaluationWriterReply

_Row = tuple[str, str]

_NO_CONDITION: _Row = (
    "check_text_exists_via_control('nothing')",
    "'the performances changed nothing visible'",
)
_CALL = re.compile(r"\[call (\d+)\]$")
_MOST_LINES = 12
_MOST_SCREEN_CONDITIONS = 14
_FILE_AREAS = ("file", "directory")
_WHOLE_TEXT_CHECKS = ("check_file_text", "check_file_data", "check_text_extended")
"""Checks of the whole content of a file, or of all that was added to it."""
_COMPARISONS = ("check_record_added", "check_record_gone", "check_text_extended", "check_part_exists")
"""Checks that the state at the start cannot meet."""


def write_function(view: EvaluationWriterInput) -> EvaluationWriterReply:
    """A function of the view's parameters: at first all conditions, later no refusing or idle ones."""
    rows = [(condition.source(), condition.complaint.source()) for condition in _choose(view)]
    return EvaluationWriterReply(source=_function(view.parameter_names, rows or [_NO_CONDITION]))


def _choose(view: EvaluationWriterInput) -> list[Condition]:
    """All conditions; later, those of the previous function that correct work meets and that matter."""
    candidates = shared_conditions(view.performances, on_screen=view.result_on_screen)
    present = [item for item in candidates if f"        ({item.source()}, " in view.previous_source]
    if not view.previous_source or not (view.refusing_checks or view.untested_checks):
        return candidates
    matches = map(_CALL.search, view.refusing_checks or view.untested_checks)
    unwanted_calls = {int(match.group(1)) for match in matches if match}
    kept, number = [], 0
    for condition in present:
        calls = range(number, number + condition.count)
        number += condition.count
        if not unwanted_calls.intersection(calls):
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
    """Conditions that all performances suggest: on lasting effects and, if these do not decide, on the
    screen. Side effects are not judged here."""
    terms = [Terms(item) for item in performances]
    by_performance = [list(lasting_conditions(item)) for item in terms]
    lasting = [*record_conditions(terms), *_common_conditions(by_performance)]
    implied: set[tuple[object, object]] = set()
    for item in lasting:
        arguments = dict(item.call.arguments)
        fields = arguments.get("fields")
        if isinstance(fields, tuple) and not item.negated:
            implied.update((arguments["file_path"], field) for field in fields)
        if item.call.check in _WHOLE_TEXT_CHECKS:
            implied.add((arguments["file_path"], ""))
    kept = (item for item in lasting if not _is_implied(item, implied))
    lasting = list({(item.call, item.negated): item for item in kept}.values())
    surplus = [item for item in lasting if item.call.check == "check_file_contains"][_MOST_LINES:]
    lasting = [item for item in lasting if not any(item is other for other in surplus)]
    lasting += _change_conditions(terms, lasting)
    if lasting and not on_screen:
        return lasting
    shown = [
        item
        for item in _common_conditions([screen_conditions(one) for one in terms])
        if item.parameters or not _has_own_number(item)
    ]
    return [*lasting, *shown[:_MOST_SCREEN_CONDITIONS]]


def _is_implied(condition: Condition, implied: Collection[tuple[object, object]]) -> bool:
    arguments = dict(condition.call.arguments)
    if condition.call.check == "check_file_contains" and (arguments["file_path"], "") in implied:
        return not condition.negated
    field = arguments.get("field")
    if condition.call.check != "check_field" or not isinstance(field, Expression) or not field.parts:
        return False
    last = field.parts[-1][1].rpartition("/")[2]
    return (arguments["file_path"], (last, arguments["value"])) in implied


def _change_conditions(terms: Sequence[Terms], known: Sequence[Condition]) -> Iterator[Condition]:
    """Conditions that files are new or changed, if no other condition shows that something was done."""
    compared = {
        value for item in known if item.call.check in _COMPARISONS for _, value in item.call.arguments[:1]
    }
    for path in _changed_paths(terms):
        if path not in compared:
            complaint = generalise("it is what it was at the start", {})
            yield Condition(Call("check_file_changed", (("file_path", path),)), complaint)


def _changed_paths(terms: Sequence[Terms]) -> list[Expression]:
    """Files and folders that all performances change or make, without folders that hold such files."""
    found = []
    for item in terms:
        paths = [one.container for one in item.performance.effects.essential if one.area in _FILE_AREAS]
        found.append([item.file(path) for path in dict.fromkeys(paths) if not item.is_holder(path)])
    return [path for path in (found[0] if found else []) if all(path in other for other in found[1:])]


def _has_own_number(condition: Condition) -> bool:
    """Whether a shown text has a number outside parameters, such as a date or a count that changes daily."""
    return any(
        not form and any(character.isdigit() for character in text)
        for _, value in condition.call.arguments
        if isinstance(value, Expression)
        for form, text in value.parts
    )


def _common_conditions(found: Sequence[Sequence[Condition]]) -> list[Condition]:
    others = [{(item.call, item.negated) for item in items} for items in found[1:]]
    kept: dict[object, Condition] = {}
    for item in found[0] if found else ():
        key = (item.call, item.negated)
        if all(key in other for other in others):
            kept.setdefault(key, item)
    return list(kept.values())
