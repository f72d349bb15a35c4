"""Training formats that write files of records per set, one function each."""

import base64
import io
import json
import tarfile
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from PIL import Image

from taskloom.taskgraph.records.evaluation_function import VerificationRound
from taskloom.taskgraph.records.interaction import ClickInput, Screenshot
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.files import safe_name, write_json, write_picture
from taskloom.warehouse.exporting.judging_sheets import expressible_tasks, sheet_of
from taskloom.warehouse.exporting.recordings import (
    COORDINATES,
    Dialogue,
    RecordFiles,
    answer_text,
    describe_step,
    dialogues,
    image_size,
    points_of,
    recordings,
    scale,
    system_text,
    without_marks,
)


def grounding(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Grounding data as LLaVA and Qwen-VL read them: a picture, a description of a place on it, and its point
    and box.

    `<set>.json` with one record for each click on a known control, and `images/`. The answer is the point in
    the requested coordinates; `point` and `bbox` repeat it as numbers, with the box of the control.
    """
    with RecordFiles(folder, lines=False) as records:
        for trajectory, _, split, _ in recordings(source, options):
            for step in trajectory.steps:
                if isinstance(step.action, ClickInput) and step.target and step.target_rectangle:
                    name = f"{trajectory.trajectory_id}#{step.step}"
                    records.add(split, _grounding_record(name, step, step.target_rectangle, folder, options))
    return records.outcome()


def _grounding_record(
    name: str, step: TrajectoryStep, box: tuple[int, int, int, int], folder: Path, options: ExportOptions
) -> dict[str, object]:
    left, top, right, bottom = box
    size = image_size(step.observation_screenshot.png)
    point, first, last = (
        scale(place, size, options.coordinates)
        for place in (points_of(step)[0], (left, top), (right - 1, bottom - 1))
    )
    question = (
        f"Where do you click to {without_marks(describe_step(step))}? Answer with the point [x, y] in"
        f" {COORDINATES[options.coordinates]}."
    )
    return {
        "id": name,
        "image": write_picture(folder, step.observation_screenshot),
        "conversations": [
            {"from": "human", "value": f"<image>\n{question}"},
            {"from": "gpt", "value": f"[{', '.join(f'{part:g}' for part in point)}]"},
        ],
        "point": point,
        "bbox": [*first, *last],
    }


_MAX_PICTURES: Final = 10
_MAX_PICTURE_BYTES: Final = 10_000_000
_MAX_RECORDS: Final = 50_000
_MAX_FILE_BYTES: Final = 512_000_000
_MIN_RECORDS: Final = 10
_NOT_SHOWN: Final = "(The screen is not shown.)"
_COLOUR_TYPES: Final = (2, 6)
"""Byte 25 of a PNG with RGB or RGBA pixels."""


def openai_chat(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Fine-tuning records in the chat format of OpenAI: `<set>.jsonl` with messages.

    Pictures are in the records as `data:` URLs, or as addresses under a prefix you give, with the files in
    `images/`. The records follow OpenAI's published rules for fine-tuning with pictures: `system`, `user` and
    `assistant` messages, the last one from the assistant, pictures only from the user, at most ten of them
    and 10 MB each, RGB or RGBA, PNG; at most 50,000 records and 512 MB per file, beyond which new files
    begin. A deliberate slip has `weight` 0, which excludes it from the loss, and so has an answer to a
    screen that is not shown; records of single steps leave slips out altogether. `index.jsonl` names the
    recording of each record, because records may have no fields but `messages`.
    """
    refused: list[Refused] = []
    with (
        RecordFiles(folder, lines=True, max_bytes=_MAX_FILE_BYTES, max_records=_MAX_RECORDS) as records,
        (folder / "index.jsonl").open("w", encoding="utf-8") as index,
    ):
        for dialogue in dialogues(source, options):
            name, split = dialogue.dialogue_id, dialogue.split
            first = max(len(dialogue.turns) - options.pictures, 0) if options.pictures else 0
            if reason := _broken_rule([turn.screenshot for turn in dialogue.turns[first:]]):
                refused.append(Refused(item_id=name, reason=reason))
                continue
            line = {"id": name, "set": split, "record": records.counts[split], **dialogue.scored}
            index.write(json.dumps(line, ensure_ascii=False) + "\n")
            records.add(split, _chat(dialogue, first, folder, options))
    notes = [
        f"{name} has {count} records; OpenAI asks for at least {_MIN_RECORDS}."
        for name, count in sorted(records.counts.items())
        if count < _MIN_RECORDS
    ]
    if options.image_urls != "data":
        notes.append(f"Upload images/ so that the addresses under {options.image_urls} lead to its files.")
    return records.outcome(refused, notes)


def _broken_rule(screenshots: list[Screenshot]) -> str:
    if len(screenshots) > _MAX_PICTURES:
        return (
            f"more than {_MAX_PICTURES} pictures in one record; `--window {_MAX_PICTURES}` cuts recordings,"
            f" `--pictures {_MAX_PICTURES}` shows the last ones"
        )
    if any(len(screenshot.png) > _MAX_PICTURE_BYTES for screenshot in screenshots):
        return f"a picture larger than {_MAX_PICTURE_BYTES // 1_000_000} MB"
    return ""


def _chat(dialogue: Dialogue, first: int, folder: Path, options: ExportOptions) -> dict[str, object]:
    """The messages of a dialogue; the turns from `first` on show their screens."""
    messages: list[dict[str, object]] = [{"role": "system", "content": system_text(options)}]
    for number, turn in enumerate(dialogue.turns):
        content: list[dict[str, object]] = []
        if number >= first:
            url = _address(turn.screenshot, folder, options)
            content.append({"type": "image_url", "image_url": {"url": url}})
        if turn.question or number < first:
            content.append({"type": "text", "text": turn.question or _NOT_SHOWN})
        messages.append({"role": "user", "content": content})
        weight = {} if turn.learnt and number >= first else {"weight": 0}
        messages.append({"role": "assistant", "content": turn.answer, **weight})
    return {"messages": messages}


def _address(screenshot: Screenshot, folder: Path, options: ExportOptions) -> str:
    picture = screenshot.model_copy(update={"png": _as_rgb(screenshot.png)})
    if options.image_urls == "data":
        return f"data:image/png;base64,{base64.b64encode(picture.png).decode()}"
    return f"{options.image_urls.rstrip('/')}/{write_picture(folder, picture)}"


def _as_rgb(png: bytes) -> bytes:
    if len(png) < 26 or png[25] in _COLOUR_TYPES:
        return png
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGBA").save(out, "PNG")
    return out.getvalue()


def preference_pairs(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Preference pairs: for one screen, the answer of an accepted trajectory over that of a rejected one.

    A rejected trajectory is one whose round of cross-verification was not accepted because its evaluation
    failed. It is paired with an accepted trajectory of the same instance at the first step where both saw the
    same screen and acted differently. Rejected trajectories without such a step are listed as refused.
    """
    accepted: defaultdict[str, list[str]] = defaultdict(list)
    rejected: dict[str, VerificationRound] = {}
    for verification in source.of(VerificationRound, "subtask_id", source.split_of_subtask):
        if verification.trajectory_id is None:
            continue
        if verification.accepted:
            accepted[verification.instance_id].append(verification.trajectory_id)
        elif verification.evaluation is not None and not verification.evaluation.passed:
            rejected[verification.trajectory_id] = verification
    for trajectory_id in {name for names in accepted.values() for name in names}:
        rejected.pop(trajectory_id, None)
    refused: list[Refused] = []
    with RecordFiles(folder, lines=True) as records:
        for trajectory_id, verification in sorted(rejected.items()):
            bad = source.trajectory(trajectory_id)
            better = next(filter(None, map(source.trajectory, accepted[verification.instance_id])), None)
            reason = "no accepted trajectory of the same instance"
            if bad is not None and better is not None:
                reason = "acts like the accepted one as long as both see the same screen"
                if steps := _first_difference(better, bad):
                    split = source.split_of_subtask[verification.subtask_id]
                    records.add(split, _pair(better, bad, *steps, folder, options))
                    continue
            refused.append(Refused(item_id=trajectory_id, reason=reason))
    return records.outcome(refused)


def _first_difference(better: Trajectory, bad: Trajectory) -> tuple[TrajectoryStep, TrajectoryStep] | None:
    for good_step, bad_step in zip(better.steps, bad.steps, strict=False):
        if good_step.observation_screenshot.sha256 != bad_step.observation_screenshot.sha256:
            return None
        if good_step.action != bad_step.action or good_step.target != bad_step.target:
            return good_step, bad_step
    return None


def _pair(
    better: Trajectory,
    bad: Trajectory,
    chosen: TrajectoryStep,
    rejected: TrajectoryStep,
    folder: Path,
    options: ExportOptions,
) -> dict[str, object]:
    return {
        "id": f"{bad.trajectory_id}#{rejected.step}",
        "images": [write_picture(folder, chosen.observation_screenshot)],
        "prompt": [
            {"role": "system", "content": system_text(options)},
            {"role": "user", "content": f"<image>\nTask: {without_marks(better.instruction)}"},
        ],
        "chosen": [{"role": "assistant", "content": without_marks(answer_text(chosen, options))}],
        "rejected": [{"role": "assistant", "content": without_marks(answer_text(rejected, options))}],
    }


def sharegpt(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Fine-tuning records in the ShareGPT format: `<set>.json` with conversations, `images/`, and
    `dataset_info.json`.

    LLaMA-Factory reads the folder as it is (`dataset_dir`), with the datasets `taskloom_<set>`; `image` is
    always a list, in the order of the `<image>` marks. A deliberate slip has `train: false`: axolotl
    excludes it from the loss with `message_field_training: train`. For trainers without such a field, export
    single steps, which leave slips out.
    """
    with RecordFiles(folder, lines=False) as records:
        for dialogue in dialogues(source, options):
            records.add(dialogue.split, _conversation(dialogue, folder, options))
    tags = {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"}
    columns = {"messages": "conversations", "images": "image"}
    layout = {"formatting": "sharegpt", "columns": columns, "tags": tags}
    datasets = {
        f"taskloom_{name}": {"file_name": files[0], **layout} for name, files in sorted(records.files.items())
    }
    write_json(folder / "dataset_info.json", datasets)
    return records.outcome()


def _conversation(dialogue: Dialogue, folder: Path, options: ExportOptions) -> dict[str, object]:
    conversations: list[dict[str, object]] = []
    for position, turn in enumerate(dialogue.turns):
        parts = ["<image>", system_text(options) if position == 0 else "", without_marks(turn.question)]
        conversations.append({"from": "human", "value": "\n".join(part for part in parts if part)})
        learnt = {} if turn.learnt else {"train": False}
        conversations.append({"from": "gpt", "value": without_marks(turn.answer), **learnt})
    pictures = [write_picture(folder, turn.screenshot) for turn in dialogue.turns]
    return {
        "id": dialogue.dialogue_id,
        "image": pictures,
        "conversations": conversations,
        **dialogue.scored,
    }


_SYSTEM_MESSAGE: Final = (
    "You operate a computer. Do what the user asks in the applications that are open; files are in your home"
    " folder."
)


def verifiers(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Rows for reinforcement learning (verifiers, TRL): `<set>.jsonl` with a prompt and what judges the
    result, one task per line.

    `prompt` is a chat, `answer` is empty because the state is judged, and `info` is a JSON text with the
    judging sheet (`taskloom judge`, `taskloom.evaluators_api.judging_folders.judge_home`), the levels and the
    applications.
    """
    refused: list[Refused] = []
    with RecordFiles(folder, lines=True) as records:
        for task, sheet in expressible_tasks(source, lambda task: sheet_of(task, source), refused):
            information = {
                "sheet": sheet.model_dump(mode="json"),
                "applications": sorted({node.application for node in task.graph.nodes}),
                "complexity": task.complexity.model_dump(mode="json"),
                "scenario": task.scenario,
            }
            row = {
                "id": task.task_id,
                "name": task.intent or task.task_id,
                "prompt": [
                    {"role": "system", "content": _SYSTEM_MESSAGE},
                    {"role": "user", "content": task.instruction},
                ],
                "answer": "",
                "task": "taskloom",
                "info": json.dumps(information, ensure_ascii=False),
            }
            records.add(source.split_of(task.task_id), row)
    return records.outcome(refused)


_STEPS_PER_SHARD: Final = 1000


def web_dataset(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """WebDataset shards for training at scale: `<set>-00000.tar` with `<key>.png` and `<key>.json` for every
    step.

    A key belongs to one id and has no dot, since readers of the format end keys at dots. The JSON holds the
    system text, the question and the answer. Shards hold a thousand steps; equal data give equal bytes.
    """
    counts: Counter[str] = Counter()
    shards: dict[str, tarfile.TarFile] = {}
    with ExitStack() as stack:
        for dialogue in dialogues(source, options.model_copy(update={"granularity": "step"})):
            split = dialogue.split
            if counts[split] % _STEPS_PER_SHARD == 0:
                if split in shards:
                    shards[split].close()
                name = f"{split}-{counts[split] // _STEPS_PER_SHARD:05}.tar"
                shards[split] = stack.enter_context(tarfile.open(folder / name, "w"))
            _add_step(shards[split], dialogue, options)
            counts[split] += 1
    return ExportOutcome(counts=dict(sorted(counts.items())))


def _add_step(shard: tarfile.TarFile, dialogue: Dialogue, options: ExportOptions) -> None:
    (turn,) = dialogue.turns
    record = {
        "id": dialogue.dialogue_id,
        "system": system_text(options),
        "question": turn.question,
        "answer": turn.answer,
        **dialogue.scored,
    }
    key = safe_name(dialogue.dialogue_id).replace(".", "%2E")
    text = json.dumps(record, ensure_ascii=False).encode()
    for ending, data in (("png", turn.screenshot.png), ("json", text)):
        member = tarfile.TarInfo(f"{key}.{ending}")
        member.size = len(data)
        shard.addfile(member, io.BytesIO(data))


_RECORDING_FORMATS: Final = (grounding, openai_chat, sharegpt, web_dataset)
ROWS: Final = {
    write.__name__: SimpleNamespace(
        write=write,
        RECORDINGS=write in _RECORDING_FORMATS,
        REFUSES_TASKS=write is verifiers,
    )
    for write in (*_RECORDING_FORMATS, preference_pairs, verifiers)
}
"""The formats by name."""
