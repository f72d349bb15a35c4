"""Actor by rule: follows a worked example of the subtask it recognises, on the controls it is shown.

It says what it sees and why it acts, and recognises its earlier steps by these thoughts.
"""

import re
from collections.abc import Mapping, Sequence

from taskloom.environments.screen_words import describe_screen, in_words
from taskloom.prompts.inputs import ActorInput, StepInHistory
from taskloom.prompts.replies import ActorArguments, ActorReply, Point
from taskloom.resources.applications import Application, ExampleSubtask, WorkedStep
from taskloom.taskgraph.records.gestures import keys_in_words
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Control, escape_keys
from taskloom.taskgraph.records.subtask import fill, fill_query, placeholders, with_path_parts

_MOST_FAILURES = 3
"""Times a control may be missing, or an action refused, before the actor gives up."""
WAITING = "Waiting for"
"""Start of the thought of a step that waits for a control."""


def act(view: ActorInput, application: Application | None) -> ActorReply:
    """The next action; its own thoughts in the history show which steps are done."""
    recognised = _recognise(view.instruction, application)
    if recognised is None:
        return _give_up("no worked example fits this instruction")
    example, parameters = recognised[0], with_path_parts(recognised[1])
    steps = (view.another_way and example.second_example) or example.worked_example
    position, failures = position_in(view.history, steps, parameters)
    for index, step in enumerate(steps[position:], position):
        if step.control is None:
            return _do(steps, index, parameters, None, view)
        control = find_control(fill_query(step.control, parameters), view.controls)
        if control is not None and not (control.disabled and failures < _MOST_FAILURES):
            if failures >= _MOST_FAILURES:
                return _give_up(f"step {index + 1} cannot be carried out on {control.text!r}")
            return _do(steps, index, parameters, control, view)
        if step.optional:
            continue
        if failures >= _MOST_FAILURES:
            wanted = fill_query(step.control, parameters)
            return _give_up(f"there is no {wanted.control_type or 'control'} {wanted.text!r} on the screen")
        return ActorReply(
            status="CONTINUE",
            observation=describe_screen(view.window_title, view.controls, None),
            thought=f"{WAITING} {control_name(step, parameters) or 'the page'}, which is not there yet.",
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
            placeholder, group = rf"\{{{name}\}}", f"(?P<{name}>.+?)"
            pattern = pattern.replace(placeholder, group, 1).replace(placeholder, f"(?P={name})")
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


def control_name(step: WorkedStep, parameters: Mapping[str, str], control: Control | None = None) -> str:
    """The words for the control of a step, its type on the screen and its text; empty without a control."""
    if step.control is None:
        return ""
    kind = control.control_type if control is not None else step.control.control_type
    return in_words(kind, fill(step.control.text, parameters))


def thought_of(step: WorkedStep, parameters: Mapping[str, str]) -> str:
    """Why a step is done: the catalogue's reason, or a default. The step's thoughts begin with it."""
    if step.thought:
        return step.thought
    target = fill(step.control.text, parameters) if step.control is not None else ""
    match step.operation:
        case "keyboard_input" if target:
            return f"'{target}' takes what is typed next."
        case "keyboard_input":
            return "The keyboard does what is next."
        case "wheel_mouse_input":
            return "What is needed is further along the page."
        case "drag_input":
            return "The shape is drawn by dragging."
        case "wait":
            return "The page needs a moment."
        case _:
            return f"'{target}' is next." if target else "The place for the next step is known."


def whole_thought(
    steps: Sequence[WorkedStep],
    index: int,
    parameters: Mapping[str, str],
    target: Control | None,
    controls: Sequence[Control],
) -> str:
    """Why a step is done now, on this screen: the reason, the action and its expected result."""
    step = steps[index]
    action = _describe_action(step, parameters, target, controls)
    expectation = _expectation(steps[index + 1 :], parameters, controls)
    return f"{thought_of(step, parameters)} {action}{f'; {expectation}' if expectation else ''}."


def _expectation(
    later: Sequence[WorkedStep], parameters: Mapping[str, str], controls: Sequence[Control]
) -> str:
    following = next((step for step in later if not step.optional), None)
    if following is None:
        return "with this the work is done"
    query = fill_query(following.control, parameters) if following.control is not None else None
    if query is None or not query.text or find_control(query, controls) is not None:
        return ""
    return f"this should bring up {control_name(following, parameters)}, which is not on the screen yet"


def _describe_action(
    step: WorkedStep, parameters: Mapping[str, str], target: Control | None, controls: Sequence[Control]
) -> str:
    control = control_name(step, parameters, target)
    match step.operation:
        case "click_input":
            how = "double-click" if step.double else "right-click" if step.button == "right" else "click"
            return f"I {how} {control}" if control else f"I {how} there"
        case "keyboard_input":
            keys = fill(step.keys, {name: escape_keys(value) for name, value in parameters.items()})
            focused = next((item for item in controls if item.focused), None)
            if control or focused is None:
                return f"I {keys_in_words(keys)}{f' in {control}' if control else ''}".strip()
            name = in_words(focused.control_type, focused.text)
            return f"{name[:1].upper()}{name[1:]} has the focus. I {keys_in_words(keys)} in {name}".strip()
        case "wheel_mouse_input":
            return f"I scroll {'up' if step.wheel_distance > 0 else 'down'}"
        case "drag_input":
            return f"I drag over {control}" if control else "I drag"
        case _:
            return "I wait"


def position_in(
    history: Sequence[StepInHistory], steps: Sequence[WorkedStep], parameters: Mapping[str, str]
) -> tuple[int, int]:
    """Number of worked steps done, and number of consecutive failures of the next one.

    Steps are recognised, in order, by the start of their thoughts; other entries of the history are skipped.
    """
    thoughts = [thought_of(step, parameters) for step in steps]
    position, failures = 0, 0
    for item in history:
        if item.thought.startswith(WAITING):
            failures += 1
            continue
        matching = (at for at in range(position, len(steps)) if item.thought.startswith(thoughts[at]))
        if (index := next(matching, None)) is None:
            continue
        if item.outcome == "done":
            position, failures = index + 1, 0
        else:
            position, failures = index, failures + 1
    return position, failures
