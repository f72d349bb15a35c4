"""OmniACT: per screen a task text, the PyAutoGUI script that does it, and the boxes of the screen's controls.

One directory per example under `data/` with `screen.png`, `boxes.json` and `task.txt` (two lines: `Task:` and
`Output Script:`), and one JSON per set that lists the paths. A step is an example, for an OmniACT task is
done on one
screen: its text says the action in words. Steps that need no script (waiting) are left out.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.warehouse.exporting.action_words import in_words
from taskloom.warehouse.exporting.dialogues import recordings
from taskloom.warehouse.exporting.exported_actions import pyautogui_statements
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.file_names import safe_name
from taskloom.warehouse.exporting.record_files import write_json

RECORDINGS = True
"""Whether the format is made of recordings."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the examples of all recordings that belong to the selected tasks."""
    listed: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    refused: list[Refused] = []
    for trajectory, _, split, _ in recordings(source, options):
        for step in trajectory.steps:
            statements = pyautogui_statements(step)
            number = f"{trajectory.trajectory_id}#{step.step}"
            if not statements:
                refused.append(Refused(item_id=number, reason="waiting has no PyAutoGUI action"))
                continue
            place = f"data/{safe_name(number)}"
            target = folder / place
            target.mkdir(parents=True, exist_ok=True)
            (target / "screen.png").write_bytes(step.observation_screenshot.png)
            write_json(target / "boxes.json", _boxes(step))
            text = in_words(step)
            text = text[:1].upper() + text[1:]
            script = "\n".join(statements)
            (target / "task.txt").write_text(f"Task: {text}\nOutput Script:\n{script}\n", encoding="utf-8")
            listed[split][number] = {
                "task": f"{place}/task.txt",
                "image": f"{place}/screen.png",
                "box": f"{place}/boxes.json",
            }
    for name, examples in listed.items():
        write_json(folder / f"{name}.json", examples)
    return ExportOutcome(
        counts={name: len(examples) for name, examples in sorted(listed.items())}, refused=tuple(refused)
    )


def _boxes(step: TrajectoryStep) -> dict[str, dict[str, object]]:
    """Boxes by control label: corners, what it is called, and whether it can be used."""
    return {
        control.label: {
            "top_left": [control.rectangle.left, control.rectangle.top],
            "bottom_right": [control.rectangle.right, control.rectangle.bottom],
            "label": control.text or control.control_type,
            "valid": int(not control.disabled),
        }
        for control in step.observation_controls
    }
