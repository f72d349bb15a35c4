"""Whether a performance ends where its instruction does: nothing waits for an answer that did not at the
start (section 3), and no control that the instruction ends with was overlooked.

A function written from a performance that stopped at an open question refuses all that answered it.
Performances that stop early at one point agree with each other: they are doubted once, which rejects nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from taskloom.taskgraph.records.interaction import ClickInput, Control, DragInput
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.taskgraph.text_folding import fold_label

_WAITING_CONTAINERS = {"Dialog": "dialog", "Menu": "menu"}
"""Types of containers that wait for an answer, and what people call them."""
_NAMES_A_CONTAINER = re.compile(r"\b(dialog|dialogue|menu|popup|prompt|picker)\b", re.IGNORECASE)
_SHOWN_CONTROLS = 4
_PRESSED = frozenset({"Button", "Custom", "MenuItem", "SplitButton"})
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_CLAUSE_HEAD = re.compile(r"(?:^|[,;.:]|\band\b|\bthen\b)\s*(?:and |then )?([^\W\d_]+)")


def left_open(
    before: Iterable[Control],
    after: Iterable[Control],
    instruction: str = "",
    clicked: str = "",
    steps: Sequence[TrajectoryStep] = (),
) -> tuple[str, ...]:
    """Dialogs, menus and questions that `after` shows and `before` did not, in words.

    Empty if the instruction asks for one: it mentions a dialog or menu, or the title of the open one. A menu
    in which an item called `clicked` was clicked last has been answered: some stay as long as the pointer is
    over them. A panel that stayed open while `steps` went on outside it waits for nobody, whatever its type.
    """
    if _NAMES_A_CONTAINER.search(instruction):
        return ()
    known = {_container(control) for control in before} | _bypassed_containers(steps)
    open_now: dict[tuple[str, str], list[str]] = {}
    for control in after:
        container = _container(control)
        if container[0] in _WAITING_CONTAINERS and container not in known:
            open_now.setdefault(container, []).append(control.text)
    folded_instruction = fold_label(instruction)
    return tuple(
        _describe_container(kind, title, texts)
        for (kind, title), texts in open_now.items()
        if not (title and fold_label(title) in folded_instruction)
        and not (kind == "Menu" and clicked and any(clicked in text for text in texts))
    )


def unsettled(trajectory: Trajectory) -> tuple[str, ...]:
    """What is open at the end of a performance and was not open at its start."""
    before, after = trajectory.initial_evidence.controls, trajectory.final_evidence.controls
    return left_open(before, after, trajectory.instruction, last_click(trajectory.steps), trajectory.steps)


@dataclass(slots=True)
class EndCheck:
    """Objects, once, when an actor wants to finish while something is open that was not open at the start."""

    objections: tuple[str, ...] = ()
    """What the actor is told about it: one text, or none so far."""

    def objects(
        self, instruction: str, controls: Sequence[Control], history: Sequence[TrajectoryStep]
    ) -> bool:
        """Whether the actor must go on, given the `controls` on the screen after the steps of `history`."""
        if self.objections:
            return False
        start = history[0].observation_controls if history else controls
        open_now = left_open(start, controls, instruction, last_click(history), history)
        self.objections = (ask_to_settle(open_now),) if open_now else ()
        return bool(open_now)


def last_click(steps: Sequence[TrajectoryStep]) -> str:
    """Text of the control that was clicked last; empty if none was."""
    for step in reversed(steps):
        if isinstance(step.action, ClickInput) and not step.problem:
            return step.target.text if step.target is not None else ""
    return ""


def ask_to_settle(found: Iterable[str]) -> str:
    """What the actor is told when its work ends with something open."""
    return (
        f"the work is not finished while {' and '.join(found)} is open: answer it as the instruction wants,"
        " or close it without undoing what was done, before you finish"
    )


def _bypassed_containers(steps: Sequence[TrajectoryStep]) -> set[tuple[str, str]]:
    """Containers that stayed open while something outside them was clicked or drawn."""
    found: set[tuple[str, str]] = set()
    for step, following in pairwise(steps):
        if step.target is not None and not step.problem and isinstance(step.action, ClickInput | DragInput):
            shown = {_container(control) for control in step.observation_controls}
            still = {_container(control) for control in following.observation_controls}
            found |= (shown & still) - {(step.target.parent_type, step.target.parent_text)}
    return found


def _container(control: Control) -> tuple[str, str]:
    return control.parent_type, control.parent_text


def _describe_container(kind: str, title: str, texts: list[str]) -> str:
    name = f"the {_WAITING_CONTAINERS[kind]} {title!r}" if title else f"a {_WAITING_CONTAINERS[kind]}"
    shown = [text for text in dict.fromkeys(texts) if text][:_SHOWN_CONTROLS]
    return name + (f" ({', '.join(map(repr, shown))})" if shown else "")


def overlooked(trajectory: Trajectory) -> tuple[str, ...]:
    """Texts of buttons shown that the instruction's last clause begins with, if none of them was used."""
    wanted = last_clause_head(trajectory.instruction)
    if any(step.target is not None and fold_label(step.target.text) == wanted for step in trajectory.steps):
        return ()
    screens = (*(step.observation_controls for step in trajectory.steps), trajectory.final_evidence.controls)
    button_texts = (item.text for item in chain(*screens) if item.control_type in _PRESSED)
    return tuple(dict.fromkeys(text for text in button_texts if wanted and fold_label(text) == wanted))


def last_clause_head(instruction: str) -> str:
    """The first word of an instruction's last clause, folded; quoted values are not clauses.

    >>> last_clause_head("In Player, play the track 'Tide, and more', and pause it.")
    'pause'
    >>> last_clause_head("")
    ''
    """
    heads = _CLAUSE_HEAD.findall(_QUOTED.sub("", instruction))
    return fold_label(heads[-1]) if heads else ""


def doubt(trajectories: Iterable[Trajectory]) -> str:
    """What to tell the actor about controls that all of `trajectories` overlooked; empty if none."""
    found = [set(overlooked(trajectory)) for trajectory in trajectories]
    listed = ", ".join(map(repr, sorted(set.intersection(*found)))) if found else ""
    return listed and (
        f"the screen showed {listed}, which the instruction seems to name and which was never used: make sure"
        " that everything the instruction asks for is done before you finish"
    )
