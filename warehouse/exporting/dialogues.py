"""Fine-tuning dialogues: what an agent saw and was told, and what it should have answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exported_actions import announced_calls, call_text, image_size
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportSource

SYSTEM: Final = (
    "You operate a computer. You see the screen, think, and answer with one action; with the last one, add"
    " finish(). Points are {coordinates}. Actions: {actions}, finish()."
)
"""What the agent is told about its actions."""
_MARKS: Final = re.compile(r"<( *)(image|video|audio)( *)>")
_ESCAPED: Final = re.compile(r"< ( *)(image|video|audio)( *) >")
COORDINATES: Final = {
    "absolute": "pixels of the screenshot",
    "unit": "fractions of its width and height, from 0 to 1",
    "thousand": "thousandths of its width and height, from 0 to 1000",
}
"""What the agent is told about points, by the coordinates."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: the screen, what is asked, what is answered."""

    screenshot: Screenshot
    question: str
    """What the user says."""
    answer: str
    """What the agent should answer."""
    learnt: bool = True
    """Whether it should be learnt; not so a slip, which stands there for the sake of what follows."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One training record."""

    dialogue_id: str
    """Trajectory, and the step for step-wise records."""
    split: str
    """Set it belongs to."""
    turns: tuple[Turn, ...]


def without_marks(text: str) -> str:
    """A text in which nothing is mistaken for a trainer's mark of a picture, a video or a sound.

    >>> without_marks("Click <image>, then < video >")
    'Click < image >, then <  video  >'
    """
    return _MARKS.sub(r"< \1\2\3 >", text)


def with_marks(text: str) -> str:
    """What `without_marks` was given.

    >>> with_marks(without_marks("<audio> < audio>"))
    '<audio> < audio>'
    """
    return _ESCAPED.sub(r"<\1\2\3>", text)


def system_text(options: ExportOptions) -> str:
    """The system message, which says in which coordinates points are given."""
    return SYSTEM.format(coordinates=COORDINATES[options.coordinates], actions=announced_calls())


def dialogues(source: ExportSource, options: ExportOptions) -> Iterator[Dialogue]:
    """Dialogues of all recordings that belong to the selected tasks, by id.

    With the instruction level `low` these are the trajectories of the subtasks, with `high` the successful
    replays of whole tasks under the task's instruction.
    """
    for trajectory, instruction, split in recordings(source, options):
        if options.granularity == "trajectory":
            turns = tuple(
                _turn(trajectory, step, instruction if step.step == 1 else "", options)
                for step in trajectory.steps
            )
            if turns:
                yield Dialogue(trajectory.trajectory_id, split, turns)
            continue
        for step in trajectory.steps:
            if step.slip == "slip":
                continue
            asked = _with_history(trajectory, step, instruction, options)
            turn = _turn(trajectory, step, asked, options)
            yield Dialogue(f"{trajectory.trajectory_id}#{step.step}", split, (turn,))


def recordings(source: ExportSource, options: ExportOptions) -> Iterator[tuple[Trajectory, str, str]]:
    """Recordings with the instruction they follow and the set they belong to."""
    if options.instruction_level == "high":
        for task, replays in source.replayed():
            for replay in replays:
                trajectory = source.trajectory(replay.trajectory_id)
                if trajectory is not None:
                    yield trajectory, task.instruction, source.split_of(task.task_id)
        return
    for trajectory in source.trajectories():
        yield trajectory, trajectory.instruction, source.split_of_subtask[trajectory.subtask_id]


def answer_text(trajectory: Trajectory, step: TrajectoryStep, options: ExportOptions) -> str:
    """What the agent answers at a step: its thought, then one action; the last one is followed by
    `finish()`."""
    size = image_size(step.observation_screenshot.png)
    lines = [f"Thought: {step.thought}"] if step.thought else []
    lines.append(f"Action: {call_text(step, size, options.coordinates)}")
    if step.step == len(trajectory.steps):
        lines.append("Action: finish()")
    return "\n".join(lines)


def _turn(trajectory: Trajectory, step: TrajectoryStep, asked: str, options: ExportOptions) -> Turn:
    answer = answer_text(trajectory, step, options)
    return Turn(step.observation_screenshot, asked, answer, learnt=step.slip != "slip")


def _with_history(
    trajectory: Trajectory, step: TrajectoryStep, instruction: str, options: ExportOptions
) -> str:
    done = [
        f"{item.step}. {call_text(item, image_size(item.observation_screenshot.png), options.coordinates)}"
        for item in trajectory.steps
        if item.step < step.step
    ]
    return "\n".join([f"Task: {instruction}", "Done so far:", *(done or ["nothing"])])
