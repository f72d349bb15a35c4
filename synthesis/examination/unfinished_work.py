"""Evidence of work that was left out, left unfinished, done with a neighbouring control, or never stored.

What *unfinished* means depends on the subtask. Where it leaves something lasting (files, clipboard) the lasting state decides:
a step that merely closes a dialog after the file was written finishes nothing, so the recording cut before it is no negative.
Where the subtask's outputs live on the screen (an open document, a selection, a tab, a setting), or nothing lasting changes,
the screen decides as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from resources.categories import ResourceKind
from synthesis.examination.negative_evidence import Negative
from synthesis.examination.state_comparison import State, describe_changes, lasting_state, screen_state
from taskgraph.records.evidence import Evidence, InputEvent
from taskgraph.records.interaction import Control
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskgraph.text_folding import fold_label

_ON_SCREEN = {ResourceKind.OPEN_DOCUMENT, ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
_MOST_NEAR_MISSES = 8


def no_op(positive: Trajectory) -> Negative:
    """The state after the reset: nothing was done at all."""
    return Negative(
        "no_op",
        f"nothing was done at all; the state after the reset. Doing it, {_changes(positive)}",
        positive.parameters,
        positive.initial_evidence,
    )


def unfinished_steps(positive: Trajectory, instance: BoundSubtask | None = None) -> tuple[int, ...]:
    """Numbers k of steps, from 0, after which the result does not exist yet: the evidence after step k is a negative."""
    final = _result(positive.final_evidence, positive, instance)
    return tuple(
        index
        for index, evidence in enumerate(_states(positive)[:-1])
        if _result(evidence, positive, instance) != final
    )


def truncations(positive: Trajectory, instance: BoundSubtask | None) -> Iterator[Negative]:
    """The recording cut after every step after which the result does not exist yet."""
    states = _states(positive)
    for index in unfinished_steps(positive, instance):
        if index == 0:
            continue
        yield Negative(
            "truncation",
            f"only the first {index} of {len(positive.steps)} steps were done, the last of them {_told(positive.steps[index - 1])};"
            f" with the steps left out, {_changes(positive, states[index])}",
            positive.parameters,
            states[index],
        )


def near_misses(positive: Trajectory, instance: BoundSubtask | None) -> Iterator[Negative]:
    """A neighbouring control was clicked, so what this click led to never came about, whatever was done afterwards."""
    unfinished, states, made = set(unfinished_steps(positive, instance)), _states(positive), 0
    final = positive.final_evidence
    for index, step in enumerate(positive.steps):
        sibling = _sibling(step)
        if sibling is None or index not in unfinished or made >= _MOST_NEAR_MISSES:
            continue
        wrong = tuple(_swapped(event, step, sibling) for event in final.inputs)
        if wrong == final.inputs:
            continue
        made += 1
        yield Negative(
            "near_miss",
            f"in step {index + 1} {sibling.text!r} was clicked instead of {_target_text(step)!r}, and nothing after it had any"
            f" effect; done rightly, {_changes(positive, states[index])}",
            positive.parameters,
            states[index].model_copy(update={"inputs": wrong, "step": final.step}),
        )


def not_saved(positive: Trajectory, instance: BoundSubtask | None) -> Iterator[Negative]:
    """All the inputs with none of the results: nothing changed, or it is shown and was never stored."""
    states, final = _states(positive), positive.final_evidence
    if 0 not in unfinished_steps(positive, instance):
        return
    yield Negative(
        "not_saved",
        f"every click was made and every text typed, but nothing changed; had it worked, {_changes(positive)}",
        positive.parameters,
        states[0].model_copy(update={"inputs": final.inputs, "step": final.step}),
    )
    start = lasting_state(states[0], positive.parameters)
    unchanged = [
        index for index, state in enumerate(states) if lasting_state(state, positive.parameters) == start
    ]
    if _leaves_something(positive) and unchanged[-1] > 0:
        last = unchanged[-1]
        yield Negative(
            "not_saved",
            f"everything was typed and is shown as after step {last}, but it was never stored: files and clipboard are as"
            f" before; stored, {_changes(positive, states[last])}",
            positive.parameters,
            states[last].model_copy(update={"inputs": final.inputs, "step": final.step}),
        )


def _states(positive: Trajectory) -> tuple[Evidence, ...]:
    return (positive.initial_evidence, *(step.evidence for step in positive.steps))


def _result(evidence: Evidence, positive: Trajectory, instance: BoundSubtask | None) -> State:
    lasting = lasting_state(evidence, positive.parameters)
    if _leaves_something(positive) and not _is_on_screen(instance):
        return lasting
    return lasting | screen_state(evidence, positive.parameters)


def _leaves_something(positive: Trajectory) -> bool:
    before, after = positive.initial_evidence, positive.final_evidence
    return lasting_state(before, positive.parameters) != lasting_state(after, positive.parameters)


def _is_on_screen(instance: BoundSubtask | None) -> bool:
    return instance is not None and any(resource.kind in _ON_SCREEN for resource in instance.outputs)


def _changes(positive: Trajectory, since: Evidence | None = None) -> str:
    before = since or positive.initial_evidence
    return describe_changes(before, positive.final_evidence, positive.parameters) or "only the inputs differ"


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
