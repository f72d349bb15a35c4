"""Evaluation writer by rule: conditions of the state that all recorded performances reached."""

import re
from collections.abc import Sequence

from taskloom.offline.conditions.conditions import Condition
from taskloom.offline.conditions.finding import shared_conditions
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.prompts.replies import EvaluationWriterReply

_Row = tuple[str, str]

_NOTHING_SEEN: _Row = (
    "check_text_exists_via_control('nothing')",
    "'the performances changed nothing visible'",
)
_CALL = re.compile(r"\[call (\d+)\]$")


def write_function(view: EvaluationWriterInput) -> EvaluationWriterReply:
    """A function over the view's parameters: all conditions at first, then without those that were found
    wanting."""
    rows = [(condition.source(), condition.complaint.source()) for condition in _choose(view)]
    return EvaluationWriterReply(source=_function(view.parameter_names, rows or [_NOTHING_SEEN]))


def _choose(view: EvaluationWriterInput) -> list[Condition]:
    """All conditions; of those of the last function, what right work meets and what makes a difference."""
    candidates = shared_conditions(view.performances, on_screen=view.result_on_screen)
    present = [item for item in candidates if f"        ({item.source()}, " in view.previous_source]
    if not view.previous_source or not (view.refusing_checks or view.untested_checks):
        return candidates
    wanting = {
        int(match.group(1))
        for text in view.refusing_checks or view.untested_checks
        if (match := _CALL.search(text))
    }
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
