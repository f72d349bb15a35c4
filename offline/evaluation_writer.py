"""Evaluation writer by rule: checks what all recorded performances changed alike, as little of it as tells right from wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from offline.conditions import Condition, shared_conditions
from offline.mistakes import InjectedMistake, MistakeKind, MistakeSource
from prompts.inputs import EvaluationWriterInput
from prompts.replies import EvaluationWriterReply

_Row = tuple[str, str]

_NOTHING_SEEN: _Row = (
    "check_text_exists_via_control('nothing')",
    "'the performances changed nothing visible'",
)
_NO_ERROR: _Row = ("not check_text_exists_via_control('Error')", "'an error is shown'")


def write_function(
    view: EvaluationWriterInput, attempt: int, mistakes: MistakeSource
) -> tuple[EvaluationWriterReply, tuple[InjectedMistake, ...]]:
    """A function over the view's parameters: stricter after feedback on survivors, shorter after untested checks."""
    chosen = _choose(shared_conditions(view.performances), view)
    rows = [_row(condition) for condition in chosen]
    mistake: MistakeKind | None = None
    drawn = mistakes.draw(
        ("check_too_weak", "check_too_strict"), "writer", view.application, view.instruction_template, attempt
    )
    if drawn and view.performances:
        spoiled = _spoil(chosen, view, *drawn)
        if spoiled != rows:
            rows, mistake = spoiled, drawn[0]
    source = _function(view.parameter_names, rows or [_NOTHING_SEEN])
    made = (InjectedMistake(mistake),) if mistake else ()
    return EvaluationWriterReply(source=source), made


def _choose(shared: Mapping[Condition, int], view: EvaluationWriterInput) -> list[Condition]:
    ordered = sorted(shared, key=_preference)
    chosen: list[Condition] = []
    for name in view.parameter_names:
        if not any(name in condition.parameters for condition in chosen):
            chosen += [condition for condition in ordered if name in condition.parameters][:1]
    if not any(not condition.is_route for condition in chosen):
        chosen += [condition for condition in ordered if not condition.is_route][:1]
    chosen = chosen or ordered[:1]
    if view.surviving_families or view.untested_checks:
        chosen += [
            condition
            for condition in ordered
            if condition not in chosen and condition.source() in view.previous_source
        ]
    for family in view.surviving_families:
        chosen += _against(
            family, [condition for condition in ordered if condition not in chosen], chosen, shared
        )
    if view.untested_checks and not view.surviving_families:
        kept = [condition for condition in chosen if condition.call() not in view.untested_checks]
        chosen = kept or chosen[:1]
    return chosen


def _preference(condition: Condition) -> tuple[int, int, int, str]:
    """What lasts comes first; of contents the most specific, of all else the plainest; the text settles the rest."""
    length = condition.literal_length
    specific = -length if condition.kind == "content" and condition.parameters else length
    return (condition.rank, 0 if condition.parameters else 1, specific, condition.source())


def _against(
    family: str, left: Sequence[Condition], chosen: Sequence[Condition], shared: Mapping[Condition, int]
) -> list[Condition]:
    """The condition most likely to fail on negatives of `family`, if there is one."""
    if family == "truncation":
        reached = max((shared[condition] for condition in chosen), default=0)
        later = [condition for condition in left if shared[condition] > reached]
        return sorted(later, key=lambda item: (item.is_route, -shared[item], _preference(item)))[:1]
    if family == "near_miss":
        clicks = [condition for condition in left if condition.kind == "clicked"]
        return sorted(clicks, key=lambda item: -shared[item])[:1]
    if family == "wrong_parameter":
        return [condition for condition in left if condition.parameters][:1]
    return list(left[:1])


def _spoil(
    chosen: Sequence[Condition], view: EvaluationWriterInput, kind: MistakeKind, random: Random
) -> list[_Row]:
    if kind == "check_too_strict":
        parameters = random.choice(view.performances).parameters
        return [_row(condition.frozen(parameters)) for condition in chosen]
    weaker = [[other for other in chosen if other != condition] for condition in chosen]
    blind = [kept for kept in weaker if kept and _parameters(kept) < _parameters(chosen)]
    return [_row(condition) for condition in random.choice(blind)] if blind else [_NO_ERROR]


def _parameters(conditions: Sequence[Condition]) -> frozenset[str]:
    return frozenset[str]().union(*(condition.parameters for condition in conditions))


def _row(condition: Condition) -> _Row:
    return condition.source(), condition.complaint()


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
