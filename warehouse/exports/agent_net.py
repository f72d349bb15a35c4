"""AgentNet (OpenCUA): `<set>.jsonl` with one demonstration each, and `images/`.

Actions are PyAutoGUI code with points as fractions of the screen; the last step ends the task.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

from taskloom.taskgraph.records.interaction import WaitInput
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.files import write_picture
from taskloom.warehouse.exporting.recordings import RecordFiles, image_size, pyautogui_statements, recordings

RECORDINGS = True
_POINT = re.compile(r"^(pyautogui\.\w+)\((\d+), (\d+)")
_TYPING = re.compile(r"^pyautogui\.write\((.*)\)$")


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per set that has records."""
    with RecordFiles(folder, lines=True) as records:
        for trajectory, instruction, split, scores in recordings(source, options):
            records.add(split, _record(trajectory, instruction, folder, scores))
    return records.outcome()


def _record(
    trajectory: Trajectory, instruction: str, folder: Path, scores: Mapping[str, object]
) -> dict[str, object]:
    steps: list[dict[str, object]] = []
    for index, step in enumerate(trajectory.steps):
        value = {
            "observation": step.description,
            "thought": step.thought,
            "code": agent_net_code(step, image_size(step.observation_screenshot.png)),
            **({"last_step_correct": False} if step.slip == "slip" or step.problem else {}),
        }
        image = Path(write_picture(folder, step.observation_screenshot)).name
        steps.append({"index": index, "image": image, "value": value})
    if steps and trajectory.termination == "finished":
        end = {"observation": "", "thought": "", "code": "computer.terminate(status='success')"}
        steps.append({"index": len(steps), "image": steps[-1]["image"], "value": end})
    return {
        "task_id": trajectory.trajectory_id,
        "instruction": instruction,
        "task_completed": scores.get("success", trajectory.termination == "finished"),
        **({"scores": scores} if scores else {}),
        "traj": steps,
    }


def agent_net_code(step: TrajectoryStep, size: tuple[int, int]) -> str:
    """The step as PyAutoGUI code with points as fractions; text beyond its ASCII keyboard is pasted."""
    if isinstance(step.action, WaitInput):
        return "computer.wait()" if step.action.seconds == 1 else f"computer.wait({step.action.seconds!r})"
    return "\n".join(_to_fractions(_paste_unless_ascii(line), size) for line in pyautogui_statements(step))


def _paste_unless_ascii(statement: str) -> str:
    match = _TYPING.match(statement)
    if match is None or statement.isascii():
        return statement
    text = ascii(ast.literal_eval(match[1]))
    return f"pyperclip.copy({text})\npyautogui.hotkey('ctrl', 'v')"


def _to_fractions(statement: str, size: tuple[int, int]) -> str:
    def replacement(match: re.Match[str]) -> str:
        x, y = ((int(match[at]) + 0.5) / max(extent, 1) for at, extent in ((2, size[0]), (3, size[1])))
        return f"{match[1]}(x={x:.5f}, y={y:.5f}"

    return _POINT.sub(replacement, statement)
