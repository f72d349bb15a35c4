"""Evidence as files, for examining an evaluation function outside a dataset.

`positive.json`     a recording in which the subtask was completed (a `Trajectory`)
`subtask.json`      the subtask with its parameter sets (a `Subtask`); optional
`*.json`            further recordings, of the same subtask or of others
`pictures/*.png`    screenshots by hash, for checks that read pictures; optional
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from taskloom.flows.errors import CommandError
from taskloom.resources.errors import JsonInvalidError
from taskloom.resources.reading.json_text import parse_json
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory

_POSITIVE, _SUBTASK, _PICTURES = "positive.json", "subtask.json", "pictures"
_LARGEST_FILE = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class EvidenceFolder:
    """What a folder of evidence holds."""

    positive: Trajectory
    """The recording that the function must pass."""
    others: tuple[Trajectory, ...]
    """Further recordings."""
    subtask: Subtask | None


def read_evidence_folder(folder: Path) -> EvidenceFolder:
    """Read a folder of evidence.

    Raises:
        CommandError: no such folder, no positive recording, or a file that is not a record; the file is
            named.
    """
    if not folder.is_dir():
        raise CommandError(f"There is no folder {folder}.")
    if not (folder / _POSITIVE).is_file():
        raise CommandError(
            f"{folder} holds no {_POSITIVE}, the recording in which the subtask was done; `taskloom verify"
            " --subtask ID --save DIR` writes such a folder from a dataset."
        )
    subtask_file = folder / _SUBTASK
    subtask = _read(subtask_file, Subtask, "subtask") if subtask_file.is_file() else None
    names = sorted(
        path for path in folder.glob("*.json") if path.name not in (_POSITIVE, _SUBTASK) and path.is_file()
    )
    return EvidenceFolder(
        positive=_recording(folder / _POSITIVE),
        others=tuple(_recording(path) for path in names),
        subtask=subtask,
    )


def write_evidence_folder(
    folder: Path, positive: Trajectory, others: Sequence[Trajectory], subtask: Subtask, source: str
) -> None:
    """Write a folder that `read_evidence_folder` reads, and the evaluation function beside it as
    `function.py`.

    Raises:
        CommandError: the folder exists and is not empty, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CommandError(f"The folder {folder} is not empty; name a new one.")
        (folder / "function.py").write_text(source, encoding="utf-8")
        _write(folder / _SUBTASK, subtask)
        _write(folder / _POSITIVE, positive)
        for number, other in enumerate(others, start=1):
            _write(folder / f"other-{number:02}.json", other)
        for trajectory in (positive, *others):
            _write_pictures(folder / _PICTURES, trajectory)
    except OSError as error:
        raise CommandError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _recording(path: Path) -> Trajectory:
    trajectory = _read(path, Trajectory, "recording")
    pictures = path.parent / _PICTURES
    return trajectory.model_copy(
        update={
            "initial_evidence": _with_picture(trajectory.initial_evidence, pictures),
            "steps": tuple(
                step.model_copy(update={"evidence": _with_picture(step.evidence, pictures)})
                for step in trajectory.steps
            ),
        }
    )


_R = TypeVar("_R", bound=Record)


def _read(path: Path, record: type[_R], what: str) -> _R:
    """The record in a file; a duplicate key is refused, because one of its values would be lost."""
    text = _text(path)
    try:
        parse_json(text)
        return record.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CommandError(
            f"{path} is not a {what}: {where + ': ' if where else ''}{first['msg']}."
        ) from None
    except JsonInvalidError as error:
        raise CommandError(f"{path} is not a {what}: {error.of('it')}") from None


def _with_picture(evidence: Evidence, pictures: Path) -> Evidence:
    if evidence.screenshot is None:
        return evidence
    path = pictures / f"{Path(evidence.screenshot.sha256).name}.png"
    if not path.is_file():
        return evidence
    picture = Screenshot.of(path.read_bytes())
    if picture.sha256 != evidence.screenshot.sha256:
        raise CommandError(f"{path} is not the picture of that hash.")
    return evidence.model_copy(update={"screenshot": picture})


def _write(path: Path, record: Record) -> None:
    path.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _write_pictures(folder: Path, trajectory: Trajectory) -> None:
    for evidence in (trajectory.initial_evidence, *(step.evidence for step in trajectory.steps)):
        if evidence.screenshot is not None and evidence.screenshot.png:
            folder.mkdir(exist_ok=True)
            (folder / f"{evidence.screenshot.sha256}.png").write_bytes(evidence.screenshot.png)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CommandError(f"{path} is over {_LARGEST_FILE >> 20} MB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from error
