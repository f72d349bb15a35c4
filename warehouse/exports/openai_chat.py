"""Fine-tuning records in the chat format of OpenAI: `<set>.jsonl` with messages, and `images/`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from warehouse.exporting.dialogues import Dialogue, dialogues, system_text
from warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, write_lines
from warehouse.exporting.pictures import write_picture


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per set that has records."""
    counts: Counter[str] = Counter()
    by_set: dict[str, list[dict[str, object]]] = {}
    for dialogue in dialogues(source, options):
        by_set.setdefault(dialogue.split, []).append(_record(dialogue, folder, options))
    for name, records in by_set.items():
        counts[name] = write_lines(folder / f"{name}.jsonl", iter(records))
    return ExportOutcome(
        counts=dict(sorted(counts.items())),
        notes=("Image addresses are paths relative to this folder.",),
    )


def _record(dialogue: Dialogue, folder: Path, options: ExportOptions) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "system", "content": system_text(options)}]
    for turn in dialogue.turns:
        content: list[dict[str, object]] = [
            {"type": "image_url", "image_url": {"url": write_picture(folder, turn.screenshot)}}
        ]
        if turn.question:
            content.append({"type": "text", "text": turn.question})
        messages.append({"role": "user", "content": content})
        messages.append({"role": "assistant", "content": turn.answer})
    return {"id": dialogue.dialogue_id, "messages": messages}
