"""Fine-tuning dialogues: what an agent saw and was told, and what it should have answered."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exported_actions import announced_calls, call_text, image_size
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportSource

SYSTEM: Final = (
    "You operate a computer. You see the screen, think, and answer with one action, or with finish() once it"
    " shows that the work is done. Points are {coordinates}. Actions: {actions}, finish()."
)
"""What the agent is told about its actions."""
FINISH: Final = "Action: finish()"
_SCORES: Final = (
    *("experiment_id", "agent", "task_id", "variant", "repeat", "end", "success", "coverage_rate"),
    *("logical_consistency", "held", "clean", "answered"),
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
    answer: str
    learnt: bool = True
    """Whether it should be learnt; not so a slip, which stands there for the sake of what follows."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One training record."""

    dialogue_id: str
    """Trajectory, and the step for step-wise records."""
    split: str
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
    stepwise = options.granularity == "step"
    for trajectory, instruction, split, scores in recordings(source, options):
        turns = _turns(trajectory, options)
        size = 1 if stepwise else options.window or max(len(turns), 1)
        for start in range(0, len(turns), size):
            if stepwise and not turns[start].learnt:
                continue
            part = bool(stepwise or options.window)
            asked = _with_history(trajectory, start, instruction, options) if part else instruction
            first = replace(turns[start], question=asked)
            name = f"{trajectory.trajectory_id}#{start + 1}" if part else trajectory.trajectory_id
            yield Dialogue(name, split, (first, *turns[start + 1 : start + size]), scores)


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


def answer_text(step: TrajectoryStep, options: ExportOptions) -> str:
    """What the agent answers at a step: its thought, then one action."""
    size = image_size(step.observation_screenshot.png)
    lines = [f"Thought: {_CALL.sub(' Action:', step.thought)}"] if step.thought else []
    return "\n".join([*lines, f"Action: {call_text(step, size, options.coordinates)}"])


def _turns(trajectory: Trajectory, options: ExportOptions) -> list[Turn]:
    turns = [
        Turn(
            step.observation_screenshot,
            "",
            answer_text(step, options),
            learnt=step.slip != "slip" and not step.problem,
        )
        for step in trajectory.steps
    ]
    end = trajectory.final_evidence.screenshot
    if turns and trajectory.termination == "finished" and end is not None and end.png:
        turns.append(Turn(end, "", FINISH))
    return turns


def _with_history(trajectory: Trajectory, count: int, instruction: str, options: ExportOptions) -> str:
    done = [
        f"{item.step}. {call_text(item, image_size(item.observation_screenshot.png), options.coordinates)}"
        for item in trajectory.steps[:count]
        if not item.problem
    ]
    return "\n".join([f"Task: {instruction}", "Done so far:", *(done or ["nothing"])])
