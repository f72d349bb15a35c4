"""Evidence of work that was omitted, unfinished, done with a neighbouring control, or never saved.

What *unfinished* means depends on the subtask. Where it leaves something lasting (files, clipboard) that
decides: a step that merely closes a dialog after the file was written finishes nothing, so the recording cut
before it is no wrong work. Where the subtask's outputs live on the screen, or nothing lasting changes, the
screen decides as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from taskloom.evaluators_api.state.effects import effects
from taskloom.synthesis.examination.cases import Case
from taskloom.synthesis.examination.subject import Subject
from taskloom.taskgraph.records.evaluation_function import CaseFamily
from taskloom.taskgraph.records.evidence import Evidence, InputEvent
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.taskgraph.text_folding import fold_label

_MOST_NEAR_MISSES = 8
_SHOWN_CHANGES = 3


def unfinished_work(subject: Subject) -> Iterator[Case]:
    """Every case of these kinds."""
    yield _case(
        subject,
        "no_op",
        f"nothing was done at all. {_missing(subject, subject.start)}",
        subject.start,
    )
    unfinished = unfinished_steps(subject)
    yield from _truncations(subject, unfinished)
    yield from _near_misses(subject, set(unfinished))
    yield from _not_saved(subject, unfinished)


def unfinished_steps(subject: Subject) -> tuple[int, ...]:
    """Numbers k of steps, from 0, after which the result does not exist yet: the evidence after step k is of
    wrong work."""
    return tuple(
        index for index, evidence in enumerate(_states(subject)[:-1]) if not subject.reached(evidence)
    )


def _truncations(subject: Subject, unfinished: tuple[int, ...]) -> Iterator[Case]:
    """The recording cut after every step after which the result does not exist yet."""
    states, steps = _states(subject), subject.positive.steps
    for index in unfinished:
        if index:
            yield _case(
                subject,
                "truncation",
                f"only the first {index} of {len(steps)} steps were done, the last of them"
                f" {_told(steps[index - 1])}. {_missing(subject, states[index])}",
                states[index],
            )


def _near_misses(subject: Subject, unfinished: set[int]) -> Iterator[Case]:
    """A neighbouring control was clicked, so what this click led to never came about, whatever was done
    afterwards."""
    states, made = _states(subject), 0
    for index, step in enumerate(subject.positive.steps):
        sibling = _sibling(step)
        if sibling is None or index not in unfinished or made >= _MOST_NEAR_MISSES:
            continue
        wrong = tuple(_swapped(event, step, sibling) for event in subject.end.inputs)
        if wrong == subject.end.inputs:
            continue
        made += 1
        yield _case(
            subject,
            "near_miss",
            f"in step {index + 1} {sibling.text!r} was clicked instead of {_target_text(step)!r}, and nothing"
            f" after it had any effect. {_missing(subject, states[index])}",
            states[index].model_copy(update={"inputs": wrong, "step": subject.end.step}),
        )


def _not_saved(subject: Subject, unfinished: tuple[int, ...]) -> Iterator[Case]:
    """All the inputs with none of the results: nothing changed, or it is shown and was never stored."""
    if 0 not in unfinished:
        return
    states, inputs = _states(subject), {"inputs": subject.end.inputs, "step": subject.end.step}
    yield _case(
        subject,
        "not_saved",
        f"every click was made and every text typed, but nothing changed. {_missing(subject, states[0])}",
        states[0].model_copy(update=inputs),
    )
    if subject.essential and unfinished[-1] > 0:
        last = unfinished[-1]
        yield _case(
            subject,
            "not_saved",
            f"everything was typed and is shown as after step {last}, but it was never stored."
            f" {_missing(subject, states[last])}",
            states[last].model_copy(update=inputs),
        )


def _case(subject: Subject, family: CaseFamily, description: str, evidence: Evidence) -> Case:
    return Case(family, description.rstrip(), subject.positive.parameters, evidence, subject.start)


def _states(subject: Subject) -> tuple[Evidence, ...]:
    return (subject.start, *(step.evidence for step in subject.positive.steps))


def _missing(subject: Subject, evidence: Evidence) -> str:
    """Which essential changes are not there, in a few words."""
    found = effects(subject.start, evidence, subject.positive.parameters)
    there = {(effect.key, effect.after) for effect in found}
    wanted = subject.essential or subject.shown
    missing = [effect.describe() for effect in wanted if (effect.key, effect.after) not in there]
    if not missing:
        return ""
    more = f"; and {len(missing) - _SHOWN_CHANGES} more" if len(missing) > _SHOWN_CHANGES else ""
    return f"Missing: {'; '.join(missing[:_SHOWN_CHANGES])}{more}"


def _sibling(step: TrajectoryStep) -> Control | None:
    wanted = _target_text(step)
    if not wanted or step.action.operation != "click_input":
        return None
    folded = fold_label(wanted)
    others = [
        control
        for control in step.observation_controls
        if control.text and fold_label(control.text) != folded
    ]
    target = step.target
    if target is not None:
        same_type = [control for control in others if control.control_type == target.control_type]
        same_parent = [control for control in same_type if control.parent_text == target.parent_text]
        others = same_parent or same_type or others
    return max(
        others,
        key=lambda control: SequenceMatcher(None, folded, fold_label(control.text)).quick_ratio(),
        default=None,
    )


def _target_text(step: TrajectoryStep) -> str:
    return step.target.text if step.target is not None else ""


def _swapped(event: InputEvent, step: TrajectoryStep, sibling: Control) -> InputEvent:
    if event.step != step.step or event.kind != "click":
        return event
    return event.model_copy(update={"control": sibling.describe()})


def _told(step: TrajectoryStep) -> str:
    what = step.action.operation.replace("_input", "").replace("_", " ")
    return f"{what} on {_target_text(step)!r}" if _target_text(step) else what
