"""Whether a function of a given quality is accepted, and what its writer is told if it is not."""

from collections.abc import Mapping

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import GENUINE_FAMILIES, CaseFamily, FunctionQuality

_SHOWN_SURVIVORS = 4
_SHOWN_CHECKS = 8
_REMEDIES: Mapping[CaseFamily, str] = {
    "no_op": "Check something that is only there once the subtask is done.",
    "truncation": "Check what the remaining steps change.",
    "not_saved": (
        "Check the stored result: the file, the clipboard, or what the application shows once it has"
        " stored it."
    ),
    "wrong_parameter": (
        "Build what is looked for from the parameters, and check every parameter at the place it belongs to."
    ),
    "other_subtask": "Check something that belongs to this subtask alone.",
    "undone_change": "Check each change that the work makes.",
    "wrong_value": (
        "Compare whole values at their place, not only that something is there or contains a word."
    ),
    "wrong_place": "Check the place of a value: its file, its row, its field.",
    "swapped_values": "Check each value at the field, and in the record, that it belongs to.",
    "half_records": "Ask in one check for all values of a record, not for each of them anywhere.",
    "untouched_product": "Compare with the state at the start: the work must have changed it.",
    "second_positive": "Do not demand a certain route; check the state that every way of doing it leads to.",
    "without_route": "Do not read clicks and typed text; check the state they led to.",
    "without_messages": "Do not demand messages or a certain page; check what is stored.",
    "incidental_change": "Do not demand changes that the work does not need.",
}


class Thresholds(Record):
    """What an evaluation function must achieve to be accepted, besides judging every case correctly with no
    idle condition."""

    least_other_subtasks: int = Field(default=3, ge=0)
    """Minimum other subtasks a function must be tested on; the paper uses three."""
    second_route_required: bool = False
    """Whether performances by two different routes are required, and must be accepted."""


def unacceptable(quality: FunctionQuality, thresholds: Thresholds) -> tuple[str, ...]:
    """Why a function of this quality is not accepted, one sentence each; empty if it is."""
    reasons = []
    if not quality.passes_positive:
        reasons.append(
            f"It does not pass the recording in which the subtask was done: {quality.positive_message}"
        )
        if not quality.families:
            return tuple(reasons)
    for kills in quality.families:
        wrong = kills.total - kills.killed
        if wrong:
            verb = "accept" if kills.family in GENUINE_FAMILIES else "reject"
            reasons.append(
                f"It does not {verb} {wrong} of {kills.total} cases of the family {kills.family}, as it"
                " should."
            )
    if quality.untested_checks:
        reasons.append(
            f"{len(quality.untested_checks)} of its conditions ask for nothing that the work is about."
        )
    tried = sum(kills.total + kills.excused for kills in quality.families if kills.family == "other_subtask")
    if tried < thresholds.least_other_subtasks:
        reasons.append(
            f"It was held against {tried} other subtasks; at least {thresholds.least_other_subtasks} are"
            " asked for."
        )
    if thresholds.second_route_required and quality.routes < 2:
        reasons.append("There are no performances by two different routes to hold it against.")
    return tuple(reasons)


def feedback(quality: FunctionQuality, thresholds: Thresholds | None = None) -> str:
    """What the Code LLM, or a person, is told about an unacceptable function: what was done, what the
    function said, and what to do.

    Empty if the function is acceptable.
    """
    reasons = unacceptable(quality, thresholds or Thresholds())
    if not reasons:
        return ""
    lines = ["The evaluation function is not good enough:"]
    lines += [f"- {reason}" for reason in reasons]
    for kills in quality.families:
        if kills.killed == kills.total:
            continue
        genuine = kills.family in GENUINE_FAMILIES
        lines.append(f"It did not say {'success' if genuine else 'failure'} although:")
        lines += [f"  - {survivor}" for survivor in kills.survivors[:_SHOWN_SURVIVORS]]
        if len(kills.survivors) > _SHOWN_SURVIVORS:
            lines.append(f"  - and {len(kills.survivors) - _SHOWN_SURVIVORS} more of this kind")
        lines.append(f"  {_REMEDIES.get(kills.family, '')}".rstrip())
    if quality.refusing_checks:
        refusing = "; ".join(quality.refusing_checks[:_SHOWN_CHECKS])
        lines.append(f"Right work does not meet these conditions: {refusing}.")
    if quality.untested_checks:
        checks = "; ".join(quality.untested_checks[:_SHOWN_CHECKS])
        lines.append(
            f"These conditions are about the route or the look of the screen, so leave them out: {checks}."
        )
    return "\n".join(lines)
