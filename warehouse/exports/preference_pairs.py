"""Preference pairs: at one screen, the answer of an accepted trajectory over that of a rejected one.

A rejected trajectory is one whose round of cross-verification was not accepted because its evaluation failed.
It is paired with an accepted trajectory of the same instance at the first step at which both saw the same
screen and acted differently. Rejected trajectories without such a step are listed as refused.
"""

from collections import defaultdict
from pathlib import Path

from taskloom.taskgraph.records.evaluation_function import VerificationRound
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.dialogues import answer_text, system_text, without_marks
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.record_files import RecordFiles, write_picture


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
    refused: list[Refused] = []
    with RecordFiles(folder, lines=True) as records:
        for trajectory_id, verification in sorted(rejected.items()):
            if trajectory_id in good:
                continue
            bad = source.trajectory(trajectory_id)
            same = accepted.get(verification.instance_id, [])
            better = next(filter(None, map(source.trajectory, same)), None)
            reason = "no accepted trajectory of the same instance"
            if bad is not None and better is not None:
                reason = "never saw a screen of the accepted one"
                if step := _parting(better, bad):
                    split = source.split_of_subtask[verification.subtask_id]
                    records.add(split, _pair(better, bad, step, folder, options))
                    continue
            refused.append(Refused(item_id=trajectory_id, reason=reason))
    return ExportOutcome(counts=dict(sorted(records.counts.items())) or {"train": 0}, refused=tuple(refused))


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
