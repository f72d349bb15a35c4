"""Fine-tuning records in the ShareGPT format as LLaVA reads it: `<set>.json` with conversations, and `images/`."""

from __future__ import annotations

from pathlib import Path

from warehouse.exporting.dialogues import Dialogue, dialogues, system_text, without_marks
from warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, write_json
from warehouse.exporting.pictures import write_picture


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per set that has records."""
    by_set: dict[str, list[dict[str, object]]] = {}
    for dialogue in dialogues(source, options):
        by_set.setdefault(dialogue.split, []).append(_record(dialogue, folder, options))
    for name, records in by_set.items():
        write_json(folder / f"{name}.json", records)
    return ExportOutcome(
        counts={name: len(records) for name, records in sorted(by_set.items())},
        notes=("`image` is one path, or a list in the order of the <image> marks.",),
    )


def _record(dialogue: Dialogue, folder: Path, options: ExportOptions) -> dict[str, object]:
    pictures = [write_picture(folder, turn.screenshot) for turn in dialogue.turns]
    conversations: list[dict[str, str]] = []
    for position, turn in enumerate(dialogue.turns):
        parts = ["<image>", system_text(options) if position == 0 else "", without_marks(turn.question)]
        conversations.append({"from": "human", "value": "\n".join(part for part in parts if part)})
        conversations.append({"from": "gpt", "value": without_marks(turn.answer)})
    return {
        "id": dialogue.dialogue_id,
        "image": pictures[0] if len(pictures) == 1 else pictures,
        "conversations": conversations,
    }
