"""A folder of evidence is read whole, or refused with the file and the fault."""

import json
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.examining.evidence_folder import read_evidence_folder
from tests.synthesis.recordings import note_written

RECORDING = note_written().model_dump_json()


def _folder(folder: Path, **texts: str) -> Path:
    for name, text in {"positive": RECORDING, **texts}.items():
        (folder / f"{name}.json").write_text(text)
    return folder


def test_recordings_are_read(tmp_path: Path) -> None:
    read = read_evidence_folder(_folder(tmp_path, other=RECORDING))
    assert read.positive == read.others[0] and read.subtask is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"subtask_id": 1}', "[" * 100_000])
def test_a_broken_subtask_is_one_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(CommandError, match=r"subtask\.json is not a subtask"):
        read_evidence_folder(_folder(tmp_path, subtask=text))


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_broken_recording_is_one_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(CommandError, match=r"other\.json is not a recording"):
        read_evidence_folder(_folder(tmp_path, other=text))


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    first = json.dumps({"url": "a"})[1:-1]
    doubled = RECORDING.replace('"initial_evidence":{', f'"initial_evidence":{{{first},', 1)
    assert doubled != RECORDING
    with pytest.raises(CommandError, match="the key 'url' occurs twice"):
        read_evidence_folder(_folder(tmp_path, other=doubled))
