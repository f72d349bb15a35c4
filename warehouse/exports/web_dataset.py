"""WebDataset shards for training at scale: `<set>-00000.tar` with `<key>.png` and `<key>.json` for every
step.

A key holds no dot, at which readers of the format end it, and stands for one id. The JSON holds the system
text, what is asked and what should be answered. Shards hold a thousand steps; equal data give equal bytes.
"""

import io
import json
import tarfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from taskloom.warehouse.exporting.dialogues import Dialogue, dialogues, system_text
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.record_files import safe_name

RECORDINGS = True
_SAMPLES: Final = 1000


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the shards of every set that has steps."""
    counts: Counter[str] = Counter()
    shards: dict[str, tarfile.TarFile] = {}
    with ExitStack() as stack:
        for dialogue in dialogues(source, options.model_copy(update={"granularity": "step"})):
            if counts[dialogue.split] % _SAMPLES == 0:
                if dialogue.split in shards:
                    shards[dialogue.split].close()
                name = f"{dialogue.split}-{counts[dialogue.split] // _SAMPLES:05}.tar"
                shards[dialogue.split] = stack.enter_context(tarfile.open(folder / name, "w"))
            _add(shards[dialogue.split], dialogue, options)
            counts[dialogue.split] += 1
    return ExportOutcome(counts=dict(sorted(counts.items())))


def _add(shard: tarfile.TarFile, dialogue: Dialogue, options: ExportOptions) -> None:
    (turn,) = dialogue.turns
    record = {
        "id": dialogue.dialogue_id,
        "system": system_text(options),
        "question": turn.question,
        "answer": turn.answer,
        **({"scores": dialogue.scores} if dialogue.scores else {}),
    }
    key = safe_name(dialogue.dialogue_id).replace(".", "%2E")
    for ending, data in (
        ("png", turn.screenshot.png),
        ("json", json.dumps(record, ensure_ascii=False).encode()),
    ):
        member = tarfile.TarInfo(f"{key}.{ending}")
        member.size = len(data)
        shard.addfile(member, io.BytesIO(data))
