"""What exports of recordings share: actions in other notations, dialogues for training, files per set."""

import json
import math
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self, TextIO

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.gestures import GESTURES, DragInput, PointedGesture
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.task import Replay
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exporting import (
    Coordinates,
    ExportOptions,
    ExportOutcome,
    ExportSource,
    Refused,
)

_PLACES: Final = frozenset({"operation", "control_label", "end_label", "point", "points", "position", "path"})
"""Fields of gestures that locate them; calls name points of the screen instead."""


def paper_action(step: TrajectoryStep) -> dict[str, object]:
    """An action in the fields of App. C.2; `rect` is null if no control was acted on."""
    return {
        "function": step.action.operation,
        "args": step.action.arguments(),
        "rect": list(step.target_rectangle) if step.target_rectangle else None,
        "description": step.description,
        "thought": step.thought,
        "control_text": step.target.text if step.target else "",
    }


def describe_step(step: TrajectoryStep) -> str:
    """What a step did: `click Button “Save”`, `type “hello”, press Enter in Edit “Title”`."""
    target = ""
    if step.target:
        name = f"“{step.target.text}”" if step.target.text else ""
        target = f"{step.target.control_type} {name}".strip()
    return step.action.in_words(target)


def image_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG, in pixels; (0, 0) if there is no picture."""
    if len(png) < 24:
        return (0, 0)
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def points_of(step: TrajectoryStep) -> list[tuple[int, int]]:
    """The points of a step on the screen, in pixels, as recorded or else from the control's rectangle."""
    action = step.action
    if isinstance(action, DragInput) and action.points:
        return list(action.points)
    if isinstance(action, PointedGesture) and action.point is not None:
        return [action.point]
    if step.target_rectangle is None:
        return []
    left, top, right, bottom = step.target_rectangle

    def inside(share: float, low: int, high: int) -> int:
        return max(low, min(int(low + (high - low) * share), high - 1))

    return [(inside(x, left, right), inside(y, top, bottom)) for x, y in action.fractions]


def scale(point: tuple[int, int], size: tuple[int, int], coordinates: Coordinates) -> list[float]:
    """A point in the requested coordinates, rounded without leaving its pixel."""
    if coordinates == "absolute":
        return [point[0], point[1]]
    unit = 1 if coordinates == "unit" else 1000
    digits = 5 if coordinates == "unit" else 1
    return [
        round((value + 0.5) / max(extent, 1) * unit, digits)
        for value, extent in zip(point, size, strict=True)
    ]


def unscale(value: Sequence[float], size: tuple[int, int], coordinates: Coordinates) -> tuple[int, int]:
    """The pixel that scaled coordinates denote."""
    x, y = value
    if coordinates == "absolute":
        return int(x), int(y)
    unit = 1 if coordinates == "unit" else 1000
    return int(x / unit * size[0]), int(y / unit * size[1])


def call_text(step: TrajectoryStep, size: tuple[int, int], coordinates: Coordinates) -> str:
    """The action as one call, such as `click_input(point=[10, 20], button='left', double=False)`."""
    arguments = {
        name: tuple(value) if isinstance(value, list) and name == "held" else value
        for name, value in call_arguments(step, size, coordinates).items()
    }
    written = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{step.action.operation}({written})"


def call_arguments(
    step: TrajectoryStep, size: tuple[int, int], coordinates: Coordinates
) -> dict[str, object]:
    """The arguments of the action as one call: where, on which control, and how."""
    arguments: dict[str, object] = {}
    points = [scale(point, size, coordinates) for point in points_of(step)]
    if isinstance(step.action, DragInput):
        arguments["path"] = points
    elif points:
        arguments["point"] = points[0]
    arguments |= step.action.model_dump(mode="json", exclude=set(_PLACES))
    if isinstance(step.action, PointedGesture) and step.target and not step.action.control_text:
        arguments["control_text"] = step.target.text
    return arguments


def list_calls() -> str:
    """The calls that `call_text` writes, with their argument names."""
    calls = []
    for name, gesture in GESTURES.items():
        arguments = [field for field in gesture.model_fields if field not in _PLACES]
        if issubclass(gesture, PointedGesture):
            arguments.insert(0, "path" if issubclass(gesture, DragInput) else "point")
        calls.append(f"{name}({', '.join(arguments)})")
    return ", ".join(calls)


def pyautogui_statements(step: TrajectoryStep) -> list[str]:
    """The step as PyAutoGUI statements (the action space of OmniACT, Table 2)."""
    return step.action.statements(points_of(step))


SYSTEM: Final = (
    "You operate a computer. You see the screen, think, and answer with one action, or with finish() once it"
    " shows that the work is done. Points are {coordinates}. Actions: {actions}, finish()."
)
"""Instructions to the agent about its actions."""
FINISH: Final = "Action: finish()"
_SCORE_FIELDS: Final = (
    *("experiment_id", "agent", "task_id", "variant", "repeat", "end", "success", "coverage_rate"),
    *("logical_consistency", "held", "clean", "answered"),
)
_MARKS: Final = re.compile(r"<( *)(image|video|audio)( *)>")
_CALL: Final = re.compile(r"^Action:", re.MULTILINE)
"""Start of a line of a thought that would be read as an action."""
_ESCAPED_MARKS: Final = re.compile(r"< ( *)(image|video|audio)( *) >")
COORDINATES: Final = {
    "absolute": "pixels of the screenshot",
    "unit": "fractions of its width and height, from 0 to 1",
    "thousand": "thousandths of its width and height, from 0 to 1000",
}
"""Description of points in these instructions, by the coordinates."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: the screen, the question and the answer."""

    screenshot: Screenshot
    question: str
    answer: str
    learnt: bool = True
    """Whether to train on the answer; false for a slip, which is kept for the sake of what follows."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One training record."""

    dialogue_id: str
    """Trajectory, and the step for step-wise records."""
    split: str
    turns: tuple[Turn, ...]
    scored: Mapping[str, object] = field(default_factory=dict)
    """`scores` of an agent's attempt; empty for verified work."""


def without_marks(text: str) -> str:
    """The text, with nothing left that a trainer would take for a picture, video or sound mark.

    >>> without_marks("Click <image>, then < video >")
    'Click < image >, then <  video  >'
    """
    return _MARKS.sub(r"< \1\2\3 >", text)


def with_marks(text: str) -> str:
    """The text that `without_marks` was given.

    >>> with_marks(without_marks("<audio> < audio>"))
    '<audio> < audio>'
    """
    return _ESCAPED_MARKS.sub(r"<\1\2\3>", text)


def system_text(options: ExportOptions) -> str:
    """The system message, which states the coordinates used for points."""
    return SYSTEM.format(coordinates=COORDINATES[options.coordinates], actions=list_calls())


def dialogues(source: ExportSource, options: ExportOptions) -> Iterator[Dialogue]:
    """Dialogues of all recordings that belong to the selected tasks, in id order.

    At instruction level `low` these are the trajectories of the subtasks, at `high` the successful
    replays of whole tasks under the task's instruction. With a window, every part begins with what was done
    before it, and its id ends with its first step. Agents' attempts have the agent's instruction; actions
    that could not be performed are left out, as slips are.
    """
    stepwise = options.granularity == "step"
    for trajectory, instruction, split, scores in recordings(source, options):
        turns = _turns(trajectory, options)
        size = 1 if stepwise else options.window or max(len(turns), 1)
        scored = {"scores": scores} if scores else {}
        for start in range(0, len(turns), size):
            if stepwise and not turns[start].learnt:
                continue
            part = bool(stepwise or options.window)
            question = _with_history(trajectory, start, instruction, options) if part else instruction
            first = replace(turns[start], question=question)
            name = f"{trajectory.trajectory_id}#{start + 1}" if part else trajectory.trajectory_id
            yield Dialogue(name, split, (first, *turns[start + 1 : start + size]), scored)


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
        for task, replays in source.tasks_with(Replay, "task_id"):
            for replay in replays:
                trajectory = source.trajectory(replay.trajectory_id) if replay.success else None
                if trajectory is not None:
                    yield trajectory, task.instruction, source.split_of(task.task_id), {}
        return
    for trajectory in source.trajectories():
        yield trajectory, trajectory.instruction, source.split_of_subtask[trajectory.subtask_id], {}


def scores_of(run: AgentRun) -> dict[str, object]:
    """The agent of an attempt, how it ended, and those of its scores that are defined."""
    fields = run.model_dump(mode="json", include=set(_SCORE_FIELDS))
    return {name: fields[name] for name in _SCORE_FIELDS if fields[name] is not None} | run.further_metrics


def answer_text(step: TrajectoryStep, options: ExportOptions) -> str:
    """The agent's answer at a step: its thought, then one action."""
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
    actions = [
        f"{item.step}. {call_text(item, image_size(item.observation_screenshot.png), options.coordinates)}"
        for item in trajectory.steps[:count]
        if not item.problem
    ]
    return "\n".join([f"Task: {instruction}", "Done so far:", *(actions or ["nothing"])])


class RecordFiles:
    """One file per set: JSON lines, or one JSON list; beyond a limit, lines continue in `<set>-00001.jsonl`
    and so on."""

    def __init__(
        self, folder: Path, *, lines: bool, max_bytes: float = math.inf, max_records: float = math.inf
    ) -> None:
        """Write into `folder`; the limits apply to each file of lines."""
        self.counts: Counter[str] = Counter()
        self.files: defaultdict[str, list[str]] = defaultdict(list)
        self._folder = folder
        self._lines = lines
        self._limits = (max_bytes, max_records)
        self._open: dict[str, tuple[TextIO, int, int]] = {}
        """Open files by set, with the bytes and the records that they hold."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file, _, _ in self._open.values():
            file.write("" if self._lines else "\n]\n")
            file.close()

    def add(self, name: str, record: Mapping[str, object]) -> None:
        """Append a record to the file of the set `name`."""
        text = json.dumps(record, ensure_ascii=False)
        size = len(text.encode()) + 1
        file, total, records = self._open[name] if name in self._open else (self._next(name), 0, 0)
        if records and (total + size > self._limits[0] or records >= self._limits[1]):
            file.close()
            file, total, records = self._next(name), 0, 0
        file.write(f"{text}\n" if self._lines else f"{',' if records else '['}\n{text}")
        self._open[name] = (file, total + size, records + 1)
        self.counts[name] += 1

    def _next(self, name: str) -> TextIO:
        parts, ending = self.files[name], "jsonl" if self._lines else "json"
        parts.append(f"{name}-{len(parts):05}.{ending}" if parts else f"{name}.{ending}")
        return (self._folder / parts[-1]).open("w", encoding="utf-8")

    def outcome(self, refused: Sequence[Refused] = (), notes: Sequence[str] = ()) -> ExportOutcome:
        """The number of records in each set, and what was left out."""
        return ExportOutcome(
            counts=dict(sorted(self.counts.items())), refused=tuple(refused), notes=tuple(notes)
        )
