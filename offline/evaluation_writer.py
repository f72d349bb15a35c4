"""Evaluation writer by rule: conditions of the state that all recorded performances reached."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from taskloom.offline.conditions.conditions import Condition
from taskloom.offline.conditions.finding import shared_conditions
from taskloom.offline.mistakes import MistakeKind, MistakeSource
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.prompts.replies import EvaluationWriterReply

_Row = tuple[str, str]

_NOTHING_SEEN: _Row = (
    "check_text_exists_via_control('nothing')",
    "'the performances changed nothing visible'",
)
_NO_ERROR: _Row = ("not check_text_exists_via_control('Error')", "'an error is shown'")
_CALL = re.compile(r"\[call (\d+)\]$")


def write_function(
    view: EvaluationWriterInput, attempt: int, mistakes: MistakeSource
) -> tuple[EvaluationWriterReply, MistakeKind | None]:
    """A function over the view's parameters: all conditions at first, then without those that were found
    wanting."""
    chosen = _choose(view)
    rows = [(condition.source(), condition.complaint.source()) for condition in chosen]
    drawn = mistakes.draw(
        ("check_too_weak", "check_too_strict"), "writer", view.application, view.instruction_template, attempt
    )
    mistake: MistakeKind | None = None
    if drawn and _used(rows, view):
        mistake, random = drawn
        if mistake == "check_too_strict":
            parameters = random.choice(view.performances).parameters
            rows = [(_frozen(condition, parameters), complaint) for condition, complaint in rows]
        else:
            weaker = [rows[:number] + rows[number + 1 :] for number in range(len(rows))]
            blind = [kept for kept in weaker if kept and _used(kept, view) < _used(rows, view)]
            rows = random.choice(blind) if blind else [_NO_ERROR]
    return EvaluationWriterReply(source=_function(view.parameter_names, rows or [_NOTHING_SEEN])), mistake


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


def _used(rows: Sequence[_Row], view: EvaluationWriterInput) -> set[str]:
    """The parameters in conditions."""
    nodes = [node for condition, _ in rows for node in ast.walk(ast.parse(condition))]
    return {node.id for node in nodes if isinstance(node, ast.Name)}.intersection(view.parameter_names)


def _frozen(condition: str, parameters: Mapping[str, str]) -> str:
    """A condition with values for its parameters: right for one set only."""
    tree = ast.parse(condition)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in parameters:
            node.id = repr(parameters[node.id])
    return ast.unparse(tree)


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
