"""Fine-tuning records in the chat format of OpenAI: `<set>.jsonl` with messages.

Pictures stand in the records as `data:` URLs, or as addresses under a prefix of yours with the files in
`images/`. The records keep OpenAI's published rules for fine-tuning with pictures: `system`, `user` and
`assistant` messages, the last one from the assistant, pictures only from the user, at most ten of them and
10 MB each, RGB or RGBA, PNG; at most 50,000 records and 512 MB a file, beyond which further files begin. A
slip made on purpose has `weight` 0, which leaves it out of the loss, and so has an answer to a screen that
is not shown; records of single steps leave slips out altogether. `index.jsonl` says which recording each
record is from, because records may have no other fields than `messages`.
"""

import base64
import io
import json
from pathlib import Path
from typing import Final

from PIL import Image

from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.warehouse.exporting.dialogues import Dialogue, dialogues, system_text
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.record_files import RecordFiles, write_picture

RECORDINGS = True
_MOST_PICTURES: Final = 10
_MOST_PICTURE_BYTES: Final = 10_000_000
_MOST_RECORDS: Final = 50_000
_MOST_FILE_BYTES: Final = 512_000_000
_LEAST_RECORDS: Final = 10
_NOT_SHOWN: Final = "(The screen is not shown.)"
_COLOUR_TYPES: Final = (2, 6)
"""Byte 25 of a PNG with RGB or RGBA pixels."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the files of every set that has records."""
    refused: list[Refused] = []
    with (
        RecordFiles(folder, lines=True, most_bytes=_MOST_FILE_BYTES, most_records=_MOST_RECORDS) as records,
        (folder / "index.jsonl").open("w", encoding="utf-8") as index,
    ):
        for dialogue in dialogues(source, options):
            reason = _broken_rule(dialogue, options)
            if reason:
                refused.append(Refused(item_id=dialogue.dialogue_id, reason=reason))
                continue
            records.add(dialogue.split, _record(dialogue, folder, options))
            line = {
                "id": dialogue.dialogue_id,
                "set": dialogue.split,
                "record": records.counts[dialogue.split] - 1,
                **({"scores": dialogue.scores} if dialogue.scores else {}),
            }
            index.write(json.dumps(line, ensure_ascii=False) + "\n")
    notes = [
        f"{name} has {count} records; OpenAI asks for at least {_LEAST_RECORDS}."
        for name, count in sorted(records.counts.items())
        if count < _LEAST_RECORDS
    ]
    if options.image_urls != "data":
        notes.append(f"Upload images/ so that the addresses under {options.image_urls} lead to its files.")
    return ExportOutcome(
        counts=dict(sorted(records.counts.items())), refused=tuple(refused), notes=tuple(notes)
    )


def _shown(dialogue: Dialogue, options: ExportOptions) -> int:
    return max(len(dialogue.turns) - options.pictures, 0) if options.pictures else 0


def _broken_rule(dialogue: Dialogue, options: ExportOptions) -> str:
    shown = dialogue.turns[_shown(dialogue, options) :]
    if len(shown) > _MOST_PICTURES:
        return (
            f"more than {_MOST_PICTURES} pictures in one record; `--window {_MOST_PICTURES}` cuts recordings,"
            f" `--pictures {_MOST_PICTURES}` shows the last ones"
        )
    if any(len(turn.screenshot.png) > _MOST_PICTURE_BYTES for turn in shown):
        return f"a picture larger than {_MOST_PICTURE_BYTES // 1_000_000} MB"
    return ""


def _record(dialogue: Dialogue, folder: Path, options: ExportOptions) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "system", "content": system_text(options)}]
    first = _shown(dialogue, options)
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
    picture = screenshot.model_copy(update={"png": _in_true_colours(screenshot.png)})
    if options.image_urls == "data":
        return f"data:image/png;base64,{base64.b64encode(picture.png).decode()}"
    return f"{options.image_urls.rstrip('/')}/{write_picture(folder, picture)}"


def _in_true_colours(png: bytes) -> bytes:
    if len(png) < 26 or png[25] in _COLOUR_TYPES:
        return png
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGBA").save(out, "PNG")
    return out.getvalue()
