"""Evidence of work that was omitted, unfinished, or never saved.

What *unfinished* means depends on the subtask. Where it leaves something lasting (files, clipboard) that
decides: a step that merely closes a dialog after the file was written finishes nothing, so the recording cut
before it is no wrong work. Where the subtask's outputs live on the screen, or nothing lasting changes, the
screen decides as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.evaluators_api.state.effects import effects
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_SHOWN_CHANGES = 3


def unfinished_work(subject: Subject) -> Iterator[Case]:
    """Every case of these kinds."""
    told = f"nothing was done at all.{_missing(subject, subject.start)}"
    yield subject.case("no_op", told, subject.start)
    steps = subject.positive.steps
    states = [subject.start, *(step.evidence for step in steps)]
    unfinished = [index for index, state in enumerate(states[:-1]) if not subject.reached(state)]
    for index in filter(None, unfinished):
        told = f"only the first {index} of {len(steps)} steps were done, the last of them"
        told = f"{told} {_told(steps[index - 1])}.{_missing(subject, states[index])}"
        yield subject.case("truncation", told, states[index])
    # all the inputs with none of the results: nothing changed, or as much as was there before the result
    inputs = {"inputs": subject.end.inputs, "step": subject.end.step}
    for index in dict.fromkeys((0, unfinished[-1])) if 0 in unfinished else ():
        came = f"all is as after step {index}, and no more came of it" if index else "nothing changed"
        told = f"every click was made and every text typed, but {came}.{_missing(subject, states[index])}"
        yield subject.case("not_saved", told, states[index].model_copy(update=inputs))


def _missing(subject: Subject, evidence: Evidence) -> str:
    """Which essential changes are not there, in a few words."""
    found = effects(subject.start, evidence, subject.positive.parameters)
    there = {(effect.key, effect.after) for effect in found}
    wanted = subject.essential or subject.shown
    missing = [effect.describe() for effect in wanted if (effect.key, effect.after) not in there]
    if not missing:
        return ""
    more = f"; and {len(missing) - _SHOWN_CHANGES} more" if len(missing) > _SHOWN_CHANGES else ""
    return f" Missing: {'; '.join(missing[:_SHOWN_CHANGES])}{more}"


def _told(step: TrajectoryStep) -> str:
    what = step.action.operation.replace("_input", "").replace("_", " ")
    return f"{what} on {step.target.text!r}" if step.target is not None and step.target.text else what
