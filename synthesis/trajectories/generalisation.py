"""Performing an instance from trajectories of others: what two of them share, with its values put in.

Turning the wheel, and clicking a field before typing in it, may be in one of them only; where they differ
otherwise, nothing is concluded. Whether the result works is for replay to show.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from taskloom.environments.agents.recorded_agent import marks_a_place
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    KeyboardInput,
    WaitInput,
    WheelMouseInput,
    escape_keys,
)
from taskloom.taskgraph.records.subtask import BoundSubtask, with_path_parts
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_SHORTEST_CONSTANT = 3
"""Fewest characters of a value that is taken for a parameter's although both trajectories have it alike."""


def performed_with(trajectories: Sequence[Trajectory], instance: BoundSubtask) -> Trajectory | None:
    """The trajectory of `instance` that two of `trajectories` imply, or None where no two agree."""
    for one, other in combinations(trajectories, 2):
        if one.parameters == other.parameters:
            continue
        steps = _generalised(one, other, instance.parameters)
        if steps is not None:
            return one.model_copy(
                update={
                    "trajectory_id": f"{one.trajectory_id}@{instance.instance_id}",
                    "instance_id": instance.instance_id,
                    "parameters": dict(instance.parameters),
                    "world": instance.world,
                    "instruction": instance.instruction,
                    "steps": steps,
                }
            )
    return None


def _generalised(
    one: Trajectory, other: Trajectory, parameters: Mapping[str, str]
) -> tuple[TrajectoryStep, ...] | None:
    filler = _Filler(one.parameters, other.parameters, parameters)
    other_way = _Filler(other.parameters, one.parameters, parameters)
    mine, theirs = carried_out(one), carried_out(other)
    steps: list[TrajectoryStep] = []
    while mine or theirs:
        step = filler.step(mine[0], theirs[0]) if mine and theirs else None
        if step is not None:
            del mine[0], theirs[0]
        elif _prepares(mine) and not _prepares(theirs):
            step = filler.alone(mine.pop(0))
        elif _prepares(theirs) and not _prepares(mine):
            step = other_way.alone(theirs.pop(0))
        if step is None:
            return None
        steps.append(step.model_copy(update={"step": len(steps) + 1}))
    return tuple(steps)


def _prepares(steps: Sequence[TrajectoryStep]) -> bool:
    """Whether the first of `steps` only prepares the next: it turns the wheel, or clicks a field in which the
    next types. Where the field has the focus already, or the control is in view, it is not needed and does no
    harm."""
    if len(steps) < 2:
        return False
    first, following = steps[0], steps[1].action
    if isinstance(first.action, WheelMouseInput):
        return True
    is_field = first.target is not None and first.target.control_type == "Edit"
    return is_field and isinstance(first.action, ClickInput) and isinstance(following, KeyboardInput)


def carried_out(trajectory: Trajectory) -> list[TrajectoryStep]:
    """The steps that were carried out; waiting is done anew wherever it is needed."""
    return [step for step in trajectory.steps if not step.problem and not isinstance(step.action, WaitInput)]


_PRESSED_AS_A_WHOLE = frozenset(
    {
        "Button",
        "CheckBox",
        "ComboBox",
        "DataItem",
        "Heading",
        "Hyperlink",
        "ListItem",
        "MenuItem",
        "RadioButton",
        "TabItem",
        "Text",
        "TreeItem",
    }
)
"""Types of controls where it makes no difference which part of them is clicked, as by who sees a picture."""


class _Filler:
    def __init__(self, one: Mapping[str, str], other: Mapping[str, str], new: Mapping[str, str]) -> None:
        mine, theirs, wanted = (with_path_parts(values) for values in (one, other, new))
        self._to_other = _pairs(mine, theirs)
        self._to_new = _pairs(mine, wanted)
        self._alike = {
            value: wanted[name]
            for name, value in mine.items()
            if name in wanted and theirs.get(name) == value and len(value) >= _SHORTEST_CONSTANT
        }

    def text(self, first: str, second: str, *, keys: bool = False) -> str | None:
        """What `first` is with the new values; None if the second example does not bear it out."""
        if first == second:
            return _exchanged(first, self._alike, keys=keys)
        if _exchanged(first, self._to_other, keys=keys) != second:
            return None
        return _exchanged(first, self._to_new, keys=keys)

    def step(self, first: TrajectoryStep, second: TrajectoryStep) -> TrajectoryStep | None:
        ours, theirs = first.action.model_dump(), second.action.model_dump()
        if ours["operation"] != theirs["operation"]:
            return None
        keys = self.text(str(ours.get("keys", "")), str(theirs.get("keys", "")), keys=True)
        ignored = {"keys", "control_label", "control_text", "point", "points", "end_label"}
        if first.target is not None and first.target.control_type in _PRESSED_AS_A_WHOLE:
            ignored.add("position")
        if keys is None or any(ours[name] != theirs[name] for name in ours if name not in ignored):
            return None
        update: dict[str, object] = {
            "thought": _exchanged(first.thought, self._to_new, keys=False),
            "observation_controls": tuple(map(self._place_of_keys, first.observation_controls)),
        }
        for name in ("target", "end_target"):
            query, beside = getattr(first, name), getattr(second, name)
            if (query is None) != (beside is None):
                return None
            if query is not None:
                update[name] = self._query(query, beside)
                if update[name] is None:
                    return None
        if "keys" in ours:
            update["action"] = first.action.model_copy(update={"keys": keys})
        return first.model_copy(update=update)

    def alone(self, step: TrajectoryStep) -> TrajectoryStep | None:
        """A step that the second example lacks; None if what it acts on is named by a value."""
        query = step.target
        named = (query.text, query.parent_text, query.row or "", query.section or "") if query else ()
        if any(_exchanged(text, self._to_other, keys=False) != text for text in named):
            return None
        return self.step(step, step)

    def _query(self, first: ControlQuery, second: ControlQuery) -> ControlQuery | None:
        """The control to look for; a place that differs beyond the values is no part of its description.

        Where its text is a value, and its row is not, two records had the same row: its name, such as the
        number that the next record gets, says nothing of a third.
        """
        text = self.text(first.text, second.text)
        row = self._place(first.row, second.row)
        if first.text != second.text and first.row == second.row == row:
            row = None
        if text is None or first.control_type != second.control_type or first.ordinal != second.ordinal:
            return None
        return first.model_copy(
            update={
                "text": text,
                "parent_text": self.text(first.parent_text, second.parent_text) or "",
                "row": row,
                "section": self._place(first.section, second.section),
                "equals": first.equals if first.equals == second.equals else 0,
            }
        )

    def _place_of_keys(self, control: Control) -> Control:
        if not marks_a_place(control):
            return control
        return control.model_copy(update={"text": _exchanged(control.text, self._to_new, keys=False)})

    def _place(self, first: str | None, second: str | None) -> str | None:
        return None if first is None or second is None else self.text(first, second)


def _pairs(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Which value takes the place of which; whole values count before parts of others."""
    return {value: after[name] for name, value in before.items() if value and name in after}


def _exchanged(text: str, pairs: Mapping[str, str], *, keys: bool) -> str:
    if not text or not pairs:
        return text
    written = {escape_keys(old): escape_keys(new) for old, new in pairs.items()} if keys else pairs
    pattern = "|".join(re.escape(old) for old in sorted(written, key=len, reverse=True))
    before, after = (r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])") if not keys else ("", "")
    return re.sub(f"{before}(?:{pattern}){after}", lambda match: written[match.group()], text)
