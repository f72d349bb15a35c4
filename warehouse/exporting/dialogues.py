"""Fine-tuning dialogues: what an agent saw and was told, and what it should have answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exported_actions import announced_calls, call_text, image_size
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportSource

SYSTEM: Final = (
    "You operate a computer. You see the screen, think, and answer with one action; with the last one, add"
    " finish(). Points are {coordinates}. Actions: {actions}, finish()."
)
"""What the agent is told about its actions."""
_SCORES: Final = (
    "experiment_id",
    "agent",
    "task_id",
    "variant",
    "repeat",
    "end",
    "success",
    "coverage_rate",
    "logical_consistency",
    "held",
    "clean",
    "answered",
)
_MARKS: Final = re.compile(r"<( *)(image|video|audio)( *)>")
_CALL: Final = re.compile(r"^Action:", re.MULTILINE)
"""A line of a thought that would be read as an action."""
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
    scores: Mapping[str, object] = field(default_factory=dict)
    """What an agent's attempt came to; empty for verified work."""


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
    replays of whole tasks under the task's instruction. With a window, every part begins with what was done
    before it, and its id ends with its first step. Agents' attempts are under what the agent was told;
    what could not be done is left out as a slip is.
    """
    for trajectory, instruction, split, scores in recordings(source, options):
        if options.granularity == "trajectory":
            size = options.window or max(len(trajectory.steps), 1)
            for start in range(0, len(trajectory.steps), size):
                asked = instruction
                if options.window:
                    asked = _with_history(trajectory, trajectory.steps[start], instruction, options)
                turns = tuple(
                    _turn(trajectory, step, "" if place else asked, options)
                    for place, step in enumerate(trajectory.steps[start : start + size])
                )
                part = f"#{start + 1}" if options.window else ""
                yield Dialogue(trajectory.trajectory_id + part, split, turns, scores)
            continue
        for step in trajectory.steps:
            if not _learnt(step):
                continue
            asked = _with_history(trajectory, step, instruction, options)
            turn = _turn(trajectory, step, asked, options)
            yield Dialogue(f"{trajectory.trajectory_id}#{step.step}", split, (turn,), scores)


def recordings(
    source: ExportSource, options: ExportOptions
) -> Iterator[tuple[Trajectory, str, str, Mapping[str, object]]]:
    """Recordings with the instruction they follow, the set they belong to, and the scores of an attempt."""
    if options.attempts:
        for run in source.of(AgentRun, "task_id", source.task_ids):
            if options.agent not in ("", run.agent) or not (run.success or options.attempts == "all"):
                continue
            trajectory = source.trajectory(run.trajectory_id)
            if trajectory is not None and run.end != "invalid":
                yield trajectory, run.instruction, source.split_of(run.task_id), scores_of(run)
        return
    if options.instruction_level == "high":
        for task, replays in source.replayed():
            for replay in replays:
                trajectory = source.trajectory(replay.trajectory_id)
                if trajectory is not None:
                    yield trajectory, task.instruction, source.split_of(task.task_id), {}
        return
    for trajectory in source.trajectories():
        yield trajectory, trajectory.instruction, source.split_of_subtask[trajectory.subtask_id], {}


def scores_of(run: AgentRun) -> dict[str, object]:
    """Who made an attempt, how it ended, and its scores as far as they are defined."""
    said = run.model_dump(mode="json", include=set(_SCORES))
    return {name: said[name] for name in _SCORES if said[name] is not None} | run.further_metrics


def answer_text(trajectory: Trajectory, step: TrajectoryStep, options: ExportOptions) -> str:
    """What the agent answers at a step: its thought, then one action; the last one is followed by
    `finish()`."""
    size = image_size(step.observation_screenshot.png)
    lines = [f"Thought: {_CALL.sub(' Action:', step.thought)}"] if step.thought else []
    lines.append(f"Action: {call_text(step, size, options.coordinates)}")
    if step.step == len(trajectory.steps) and trajectory.termination == "finished":
        lines.append("Action: finish()")
    return "\n".join(lines)


def _turn(trajectory: Trajectory, step: TrajectoryStep, asked: str, options: ExportOptions) -> Turn:
    answer = answer_text(trajectory, step, options)
    return Turn(step.observation_screenshot, asked, answer, learnt=_learnt(step))


def _learnt(step: TrajectoryStep) -> bool:
    """Whether a step is one to learn: neither a slip nor an action that could not be carried out."""
    return step.slip != "slip" and not step.problem


def _with_history(
    trajectory: Trajectory, step: TrajectoryStep, instruction: str, options: ExportOptions
) -> str:
    done = [
        f"{item.step}. {call_text(item, image_size(item.observation_screenshot.png), options.coordinates)}"
        for item in trajectory.steps
        if item.step < step.step and not item.problem
    ]
    return "\n".join([f"Task: {instruction}", "Done so far:", *(done or ["nothing"])])
