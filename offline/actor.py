"""Actor by rule: follows a worked example of the subtask it recognises, on the controls it is shown."""

import re
from collections.abc import Mapping, Sequence

from taskloom.environments.screen_words import describe_screen
from taskloom.offline.telling_steps import WAITING, named, position_in, whole_thought
from taskloom.prompts.inputs import ActorInput
from taskloom.prompts.replies import ActorArguments, ActorReply, Point
from taskloom.resources.applications import Application, ExampleSubtask, WorkedStep
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Control, escape_keys
from taskloom.taskgraph.records.subtask import fill, fill_query, placeholders, with_path_parts

_PATIENCE = 3
"""Times a control may be missing, or an action refused, before the actor gives up."""


def act(view: ActorInput, application: Application | None) -> ActorReply:
    """The next action; where it stands is read from its own thoughts in the history."""
    found = _recognise(view.instruction, application)
    if found is None:
        return _give_up("no worked example fits this instruction")
    example, parameters = found[0], with_path_parts(found[1])
    steps = (view.another_way and example.second_example) or example.worked_example
    position, failures = position_in(view.history, steps, parameters)
    for index, step in enumerate(steps[position:], position):
        if step.control is None:
            return _do(steps, index, parameters, None, view)
        control = find_control(fill_query(step.control, parameters), view.controls)
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
            observation=describe_screen(view.window_title, view.controls, None),
            thought=f"{WAITING} {named(step, parameters) or 'the page'}, which is not there yet.",
            function="wait",
            args=ActorArguments(seconds=0.5 * (failures + 1)),
        )
    return ActorReply(status="FINISH", thought="All steps are done.")


def _recognise(
    instruction: str, application: Application | None
) -> tuple[ExampleSubtask, Mapping[str, str]] | None:
    examples = application.example_subtasks if application else ()
    for example in examples:
        for parameters in example.parameter_sets:
            if fill(example.instruction_template, parameters) == instruction:
                return example, parameters
    matches = []
    for example in examples:
        pattern = re.escape(example.instruction_template)
        for name in placeholders(example.instruction_template):
            hole, group = rf"\{{{name}\}}", f"(?P<{name}>.+?)"
            pattern = pattern.replace(hole, group, 1).replace(hole, f"(?P={name})")
        match = re.fullmatch(pattern, instruction, flags=re.DOTALL)
        if match and match.groupdict().keys() >= example.parameter_sets[0].keys():
            matches.append((example, match.groupdict()))
    return max(matches, key=lambda item: len(item[0].instruction_template), default=None)


def _do(
    steps: Sequence[WorkedStep],
    index: int,
    parameters: Mapping[str, str],
    target: Control | None,
    view: ActorInput,
) -> ActorReply:
    step = steps[index]
    keys = fill(step.keys, {name: escape_keys(value) for name, value in parameters.items()})
    return ActorReply(
        status="CONTINUE",
        observation=describe_screen(view.window_title, view.controls, target),
        thought=whole_thought(steps, index, parameters, target, view.controls),
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


def _give_up(reason: str) -> ActorReply:
    return ActorReply(status="GIVE_UP", message=reason)
