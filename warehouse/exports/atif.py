"""ATIF, the Agent Trajectory Interchange Format: `<set>/<recording>/trajectory.json` and pictures.

The first step is the user's: the instruction and the first screen. Every later one is the agent's: its
thought, the action as a tool call with points on the screen, and the resulting screen as the observation.
"""

from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Final

from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.files import safe_name, write_json, write_picture
from taskloom.warehouse.exporting.recordings import call_arguments, image_size, recordings

RECORDINGS = True
SCHEMA: Final = "ATIF-v1.7"


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write a folder for every recording."""
    counts: Counter[str] = Counter()
    for trajectory, instruction, split, scores in recordings(source, options):
        place = folder / split / safe_name(trajectory.trajectory_id)
        write_json(place / "trajectory.json", _document(trajectory, instruction, place, options, scores))
        counts[split] += 1
    return ExportOutcome(counts=dict(sorted(counts.items())))


def _document(
    trajectory: Trajectory,
    instruction: str,
    place: Path,
    options: ExportOptions,
    scores: Mapping[str, object],
) -> dict[str, object]:
    model = trajectory.provenance.model
    screens = [step.observation_screenshot for step in trajectory.steps]
    steps: list[dict[str, object]] = [
        {
            "step_id": 1,
            "source": "user",
            "message": [
                {"type": "text", "text": instruction},
                *_pictures(next(iter(screens), None), place),
            ],
        }
    ]
    for step, result_screen in zip_longest(trajectory.steps, screens[1:]):
        steps.append(_step(step, result_screen or step.evidence.screenshot, place, options))
    return {
        "schema_version": SCHEMA,
        "session_id": trajectory.trajectory_id,
        "trajectory_id": trajectory.trajectory_id,
        "agent": {
            "name": "taskloom",
            "version": version("taskloom"),
            **({"model_name": model} if model else {}),
        },
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
        "extra": {
            "subtask_id": trajectory.subtask_id,
            "platform": trajectory.platform,
            "simulated": trajectory.simulated,
            "termination": trajectory.termination,
            "coordinates": options.coordinates,
            **({"scores": scores} if scores else {}),
        },
    }


def _step(
    step: TrajectoryStep, result_screen: Screenshot | None, place: Path, options: ExportOptions
) -> dict[str, object]:
    name = f"call-{step.step}"
    extra = {"control": step.target.text} if step.target and step.target.text else {}
    extra |= {"slip": step.slip} if step.slip else {}
    extra |= {"problem": step.problem} if step.problem else {}
    content = [
        *([{"type": "text", "text": step.change}] if step.change else []),
        *_pictures(result_screen, place),
    ]
    return {
        "step_id": step.step + 1,
        "source": "agent",
        "message": step.description,
        **({"reasoning_content": step.thought} if step.thought else {}),
        "tool_calls": [
            {
                "tool_call_id": name,
                "function_name": step.action.operation,
                "arguments": call_arguments(
                    step, image_size(step.observation_screenshot.png), options.coordinates
                ),
            }
        ],
        "observation": {"results": [{"source_call_id": name, "content": content or ""}]},
        **({"extra": extra} if extra else {}),
    }


def _pictures(screenshot: Screenshot | None, place: Path) -> list[dict[str, object]]:
    if screenshot is None or not screenshot.png:
        return []
    path = write_picture(place, screenshot)
    return [{"type": "image", "source": {"media_type": "image/png", "path": path}}]
