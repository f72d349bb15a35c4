"""Preference pairs: at one screen, the answer of an accepted trajectory over that of a rejected one.

A rejected trajectory is one whose round of cross-verification was not accepted because its evaluation failed.
It is paired with an accepted trajectory of the same instance at the first step at which both saw the same
screen and acted differently. Rejected trajectories without such a step are listed as refused.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from taskloom.taskgraph.records.evaluation_function import VerificationRound
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.dialogues import answer_text, system_text, without_marks
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.record_files import write_lines, write_picture


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one `<set>.jsonl` per set that has pairs."""
    accepted: dict[str, list[str]] = defaultdict(list)
    rejected: dict[str, VerificationRound] = {}
    for verification in source.of(VerificationRound, "subtask_id", source.subtask_ids):
        if verification.trajectory_id is None:
            continue
        if verification.accepted:
            accepted[verification.instance_id].append(verification.trajectory_id)
        elif verification.evaluation is not None and not verification.evaluation.passed:
            rejected[verification.trajectory_id] = verification
    good = {trajectory for found in accepted.values() for trajectory in found}
    by_set: dict[str, list[dict[str, object]]] = defaultdict(list)
    refused: list[Refused] = []
    for trajectory_id, verification in sorted(rejected.items()):
        if trajectory_id in good:
            continue
        bad = source.trajectory(trajectory_id)
        better = next(filter(None, map(source.trajectory, accepted.get(verification.instance_id, []))), None)
        if bad is None or better is None:
            refused.append(
                Refused(item_id=trajectory_id, reason="no accepted trajectory of the same instance")
            )
            continue
        step = _parting(better, bad)
        if step is None:
            refused.append(Refused(item_id=trajectory_id, reason="never saw a screen of the accepted one"))
            continue
        by_set[source.split_of_subtask[verification.subtask_id]].append(
            _pair(better, bad, step, folder, options)
        )
    counts = {
        name: write_lines(folder / f"{name}.jsonl", iter(pairs)) for name, pairs in sorted(by_set.items())
    }
    return ExportOutcome(counts=counts or {"train": 0}, refused=tuple(refused))


def _parting(better: Trajectory, bad: Trajectory) -> tuple[TrajectoryStep, TrajectoryStep] | None:
    for good_step, bad_step in zip(better.steps, bad.steps, strict=False):
        if good_step.observation_screenshot.sha256 != bad_step.observation_screenshot.sha256:
            return None
        if good_step.action != bad_step.action or good_step.target != bad_step.target:
            return good_step, bad_step
    return None


def _pair(
    better: Trajectory,
    bad: Trajectory,
    steps: tuple[TrajectoryStep, TrajectoryStep],
    folder: Path,
    options: ExportOptions,
) -> dict[str, object]:
    picture = write_picture(folder, steps[0].observation_screenshot)
    return {
        "id": f"{bad.trajectory_id}#{steps[1].step}",
        "images": [picture],
        "prompt": [
            {"role": "system", "content": system_text(options)},
            {"role": "user", "content": f"<image>\nTask: {without_marks(better.instruction)}"},
        ],
        "chosen": [{"role": "assistant", "content": without_marks(answer_text(steps[0], options))}],
        "rejected": [{"role": "assistant", "content": without_marks(answer_text(steps[1], options))}],
    }
