"""Fine-tuning records in the ShareGPT format: `<set>.json` with conversations, `images/`, and
`dataset_info.json`.

LLaMA-Factory reads the folder as it is (`dataset_dir`), with the datasets `taskloom_<set>`; `image` is always
a list, in the order of the `<image>` marks. A slip made on purpose has `train: false`: axolotl leaves it out
of the loss with
`message_field_training: train`. For trainers that know no such field export single steps, where slips are
    left out.
"""

from pathlib import Path

from taskloom.warehouse.exporting.dialogues import Dialogue, dialogues, system_text, without_marks
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.record_files import RecordFiles, write_json, write_picture

RECORDINGS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per set that has records."""
    with RecordFiles(folder, lines=False) as records:
        for dialogue in dialogues(source, options):
            records.add(dialogue.split, _record(dialogue, folder, options))
    write_json(
        folder / "dataset_info.json",
        {
            f"taskloom_{name}": {
                "file_name": files[0],
                "formatting": "sharegpt",
                "columns": {"messages": "conversations", "images": "image"},
                "tags": {
                    "role_tag": "from",
                    "content_tag": "value",
                    "user_tag": "human",
                    "assistant_tag": "gpt",
                },
            }
            for name, files in sorted(records.files.items())
        },
    )
    return ExportOutcome(counts=dict(sorted(records.counts.items())))


def _record(dialogue: Dialogue, folder: Path, options: ExportOptions) -> dict[str, object]:
    pictures = [write_picture(folder, turn.screenshot) for turn in dialogue.turns]
    conversations: list[dict[str, object]] = []
    for position, turn in enumerate(dialogue.turns):
        parts = ["<image>", system_text(options) if position == 0 else "", without_marks(turn.question)]
        conversations.append({"from": "human", "value": "\n".join(part for part in parts if part)})
        learnt = {} if turn.learnt else {"train": False}
        conversations.append({"from": "gpt", "value": without_marks(turn.answer), **learnt})
    record = {"id": dialogue.dialogue_id, "image": pictures, "conversations": conversations}
    return {**record, **({"scores": dialogue.scores} if dialogue.scores else {})}
