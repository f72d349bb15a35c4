"""Actor by rule: follows a worked example of the subtask it recognises, on the controls it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taskloom.environments.screen_words import describe_screen
from taskloom.offline.mistakes import MistakeKind, MistakeSource
from taskloom.offline.telling_steps import WAITING, named, position_in, whole_thought
from taskloom.prompts.inputs import ActorInput, ControlInView
from taskloom.prompts.replies import ActorArguments, ActorReply, Point
from taskloom.resources.applications import Application, ExampleSubtask, WorkedStep
from taskloom.resources.path_parts import with_path_parts
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Control, Rectangle, escape_keys
from taskloom.taskgraph.records.subtask import fill
from taskloom.taskgraph.records.worked_examples import fill_query

_PATIENCE = 3
"""Times a control may be missing, or an action refused, before the actor gives up."""
_NOWHERE = Rectangle(left=0, top=0, right=1, bottom=1)


def act(
    view: ActorInput, application: Application | None, attempt: int, mistakes: MistakeSource
) -> tuple[ActorReply, MistakeKind | None]:
    """The next action; where it stands is read from its own thoughts in the history."""
    found = _recognise(view.instruction, application)
    if found is None:
        return _give_up("no worked example fits this instruction"), None
    example, parameters = found[0], with_path_parts(found[1])
    steps = (view.another_way and example.second_example) or example.worked_example
    drawn = mistakes.draw(
        ("wrong_control", "stops_early", "claims_success"),
        "actor",
        view.application,
        view.instruction,
        attempt,
    )
    position, failures = position_in(view.history, steps, parameters)
    reply = _next(view, steps, parameters, position, failures)
    if drawn:
        kind, random = drawn
        stop = random.randrange(1, max(2, len(steps)))
        if kind == "claims_success" and position == 0:
            return _finish("Everything is as the instruction wants it."), kind
        if kind == "stops_early" and position == stop < len(steps):
            return _finish("That was the last step."), kind
        others = _others_like(reply.control_label, view)
        if kind == "wrong_control" and position == stop - 1 and not failures and others:
            wrong = random.choice(others)
            target = {"control_label": wrong.label, "control_text": wrong.control_text}
            return reply.model_copy(update=target), kind
    return reply, None


def _next(
    view: ActorInput,
    steps: tuple[WorkedStep, ...],
    parameters: Mapping[str, str],
    position: int,
    failures: int,
) -> ActorReply:
    controls = [_control(item) for item in view.controls]
    for index in range(position, len(steps)):
        step = steps[index]
        if step.control is None:
            return _do(steps, index, parameters, None, view)
        control = find_control(fill_query(step.control, parameters), controls)
        if control is not None and not (control.disabled and failures < _PATIENCE):
            if failures >= _PATIENCE:
                return _give_up(f"step {index + 1} cannot be carried out on {control.text!r}")
            return _do(steps, index, parameters, control, view)
        if step.optional:
            continue
        if failures >= _PATIENCE:
            wanted = fill_query(step.control, parameters)
            return _give_up(f"there is no {wanted.control_type or 'control'} {wanted.text!r} on the screen")
        return ActorReply(
            status="CONTINUE",
            observation=describe_screen(view.window_title, controls, None),
            thought=f"{WAITING} {named(step, parameters) or 'the page'}, which is not there yet.",
            function="wait",
            args=ActorArguments(seconds=0.5 * (failures + 1)),
        )
    return _finish("All steps are done.")


def _recognise(
    instruction: str, application: Application | None
) -> tuple[ExampleSubtask, Mapping[str, str]] | None:
    """The curated subtask and the parameters that make this instruction: exact sets first, then by
    pattern."""
    examples = application.example_subtasks if application else ()
    for example in examples:
        for parameters in example.parameter_sets:
            if fill(example.instruction_template, parameters) == instruction:
                return example, parameters
    matches = []
    for example in examples:
        pattern = re.sub(r"\\\{([a-z][a-z0-9_]*)\\\}", _Groups(), re.escape(example.instruction_template))
        match = re.fullmatch(pattern, instruction, flags=re.DOTALL)
        if match and match.groupdict().keys() >= example.parameter_sets[0].keys():
            matches.append((example, match.groupdict()))
    return max(matches, key=lambda item: len(item[0].instruction_template), default=None)


class _Groups:
    """Turns the first placeholder of a name into a group and later ones into references to it."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name in self._seen:
            return f"(?P={name})"
        self._seen.add(name)
        return f"(?P<{name}>.+?)"


def _control(view: ControlInView) -> Control:
    return Control(
        label=view.label,
        text=view.control_text,
        control_type=view.control_type,
        parent_text=view.parent_control_text,
        parent_type=view.parent_control_type,
        rectangle=_NOWHERE,
        row=view.row,
        section=view.section,
        value=view.value,
        disabled=view.disabled,
        focused=view.focused,
        application=view.application,
    )


def _others_like(label: str, view: ActorInput) -> list[ControlInView]:
    """Other controls of the type of the one with this label, with other texts; none where there is none."""
    right = next((item for item in view.controls if item.label == label), None)
    return [
        item
        for item in view.controls
        if right is not None
        and item.control_type == right.control_type
        and not item.disabled
        and item.control_text not in ("", right.control_text)
    ]


def _do(
    steps: Sequence[WorkedStep],
    index: int,
    parameters: Mapping[str, str],
    target: Control | None,
    view: ActorInput,
) -> ActorReply:
    step = steps[index]
    keys = fill(step.keys, {name: escape_keys(value) for name, value in parameters.items()})
    controls = [_control(item) for item in view.controls]
    return ActorReply(
        status="CONTINUE",
        observation=describe_screen(view.window_title, controls, target),
        thought=whole_thought(steps, index, parameters, target, controls),
        control_label=target.label if target else "",
        control_text=target.text if target else "",
        function=step.operation,
        args=ActorArguments(
            button=step.button,
            double=step.double,
            keys=keys,
            wheel_dist=step.wheel_distance,
            path=[Point(x=x, y=y) for x, y in step.path],
            seconds=min(5.0, step.seconds or 1.0),
        ),
    )


def _finish(thought: str) -> ActorReply:
    return ActorReply(status="FINISH", thought=thought)


def _give_up(reason: str) -> ActorReply:
    return ActorReply(status="GIVE_UP", message=reason)
