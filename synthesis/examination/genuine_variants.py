"""Right outcomes other than the recorded one, which a function must accept (method section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluators_api.state.editing import undone
from synthesis.examination.cases import Case
from synthesis.examination.subject import Subject
from taskgraph.records.trajectory import Trajectory

_MOST_INCIDENTAL = 6
_MESSAGES = frozenset({"Text", "Heading", "Custom", "Image", "ProgressBar"})
"""Types of controls that only say something; a message can be gone by the time somebody looks."""


def genuine_variants(subject: Subject, others: Sequence[Trajectory]) -> Iterator[Case]:
    """Every genuine variant of `subject`; `others` are recordings of any subtask."""
    yield from _performed_again(subject, others)
    positive, end = subject.positive, subject.end
    without_inputs = end.model_copy(update={"inputs": ()})
    yield Case(
        "without_route",
        "the same was reached by another way: nothing is known of clicks and typing",
        positive.parameters,
        without_inputs,
        subject.start,
    )
    if not subject.shown:
        first_screen = without_inputs.model_copy(
            update={
                "controls": subject.start.controls,
                "window_title": subject.start.window_title,
                "url": subject.start.url,
                "text_under_cursor": "",
            }
        )
        if subject.reached(first_screen):
            yield Case(
                "without_messages",
                "it is done and stored, and the application is back at its first page",
                positive.parameters,
                first_screen,
                subject.start,
            )
    else:
        yield from _without_messages(subject)
    yield from _incidental(subject)


def _performed_again(subject: Subject, others: Sequence[Trajectory]) -> Iterator[Case]:
    positive = subject.positive
    for other in others:
        if other.subtask_id == positive.subtask_id and other.trajectory_id != positive.trajectory_id:
            values = ", ".join(f"{name}={value!r}" for name, value in other.parameters.items())
            yield Case(
                "second_positive",
                f"the subtask was done once more in {len(other.steps)} steps ({values or 'no parameters'})",
                other.parameters,
                other.final_evidence,
                other.initial_evidence,
            )


def _without_messages(subject: Subject) -> Iterator[Case]:
    """The screen without the texts that only some performances show."""
    passing = {
        effect.address[-1]
        for effect in subject.incidental
        if effect.area == "screen" and effect.kind == "added" and effect.address[0] in _MESSAGES
    }
    if not passing:
        return
    kept = tuple(
        control
        for control in subject.end.controls
        if not (control.text in passing and control.control_type in _MESSAGES)
    )
    evidence = subject.end.model_copy(update={"controls": kept, "text_under_cursor": ""})
    yield Case(
        "without_messages",
        f"messages that come and go are gone: {', '.join(map(repr, sorted(passing)[:3]))}",
        subject.positive.parameters,
        evidence,
        subject.start,
    )


def _incidental(subject: Subject) -> Iterator[Case]:
    """The state without each of the lasting changes that not every right performance makes."""
    lasting = [effect for effect in subject.incidental if effect.area in ("file", "directory")]
    for effect in lasting[:_MOST_INCIDENTAL]:
        evidence = undone(subject.start, subject.end, effect)
        if evidence is not None and subject.reached(evidence):
            yield Case(
                "incidental_change",
                f"this did not happen, and need not: {effect.describe()}",
                subject.positive.parameters,
                evidence,
                subject.start,
            )
