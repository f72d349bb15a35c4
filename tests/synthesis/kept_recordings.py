"""Small recordings of real work: what was there before and after it, without pictures, steps and all that did
not matter.

`python -m tests.synthesis.kept_recordings WAREHOUSE SUBTASK …` writes them anew from the performances in a
warehouse.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.synthesis.examination.subject import subject_of
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from tests.synthesis.recordings import PLACE, click, recording

FOLDER = Path(__file__).parents[1] / "data" / "recordings"
PERFORMANCES = 2
_LONGEST_KEPT = 3_000
_KEPT_OF_CONTROLS = {"text", "control_type", "value", "checked", "row"}


class KeptText(Record):
    """A text, or what differs in it from an earlier one."""

    text: str = ""
    """The whole text, where it differs from none."""
    of: int | None = None
    """Number of the text that it differs from."""
    edits: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    """Lines from, lines to, and the lines that stand there instead, the last ones first."""


class KeptState(Record):
    """What evidence holds that functions look at."""

    files: dict[str, int] = Field(default_factory=dict)
    """Files by path, with the number of their text."""
    directories: tuple[str, ...] = ()
    """Folders."""
    clipboard: str | None = None
    """Text in the clipboard."""
    title: str = ""
    """Title of the window."""
    url: str = ""
    """Address of the page."""
    controls: tuple[dict[str, str | bool], ...] = ()
    """What the screen shows, where that is the outcome."""


class KeptPerformance(Record):
    """One performance."""

    parameters: dict[str, str]
    """Its parameters."""
    instruction: str
    """What was asked for."""
    start: KeptState
    """Before it."""
    end: KeptState
    """After it."""


class KeptRecording(Record):
    """The performances of a subtask."""

    subtask_id: str
    """The subtask."""
    texts: tuple[KeptText, ...]
    """All texts of files."""
    performances: tuple[KeptPerformance, ...]
    """Performances with different parameters."""

    def trajectories(self) -> list[Trajectory]:
        """As if they had been recorded in one step."""
        texts = self._all_texts()
        return [
            recording(
                self.subtask_id,
                item.parameters,
                [click("Done", **_evidence(item.end, texts))],
                start=_evidence(item.start, texts),
                instruction=item.instruction,
            )
            for item in self.performances
        ]

    def _all_texts(self) -> list[str]:
        found: list[str] = []
        for item in self.texts:
            if item.of is None:
                found.append(item.text)
                continue
            lines = found[item.of].splitlines(keepends=True)
            for begin, finish, instead in item.edits:
                lines[begin:finish] = instead
            found.append("".join(lines))
        return found


def kept_recordings() -> dict[str, KeptRecording]:
    """All of them by subtask."""
    read = [
        KeptRecording.model_validate_json(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))
    ]
    return {item.subtask_id: item for item in read}


def _evidence(state: KeptState, texts: Sequence[str]) -> dict[str, object]:
    return {
        "files": tuple(
            FileState(
                path=path,
                size=len(texts[number].encode()),
                sha256=sha256(texts[number].encode()).hexdigest(),
                text=texts[number],
            )
            for path, number in state.files.items()
        ),
        "directories": state.directories,
        "clipboard": ClipboardState(text=state.clipboard),
        "window_title": state.title,
        "url": state.url,
        "controls": tuple(
            Control.model_validate({"label": str(number), "rectangle": PLACE, **item})
            for number, item in enumerate(state.controls)
        ),
    }


def _keep(trajectories: Sequence[Trajectory]) -> KeptRecording:
    chosen = {item.instance_id: item for item in reversed(trajectories)}
    performed = list(chosen.values())[::-1][:PERFORMANCES]
    on_screen = not subject_of(performed[0], performed[1:]).required
    states = [state for item in performed for state in (item.initial_evidence, item.final_evidence)]
    changed = {
        path
        for item in performed
        for path in {
            file.path
            for one, other in (
                (item.initial_evidence, item.final_evidence),
                (item.final_evidence, item.initial_evidence),
            )
            for file in one.files
            if file not in other.files
        }
    }
    kept: list[KeptText] = []
    known: dict[str, int] = {}
    base: dict[str, int] = {}

    def number_of(path: str, text: str) -> int:
        if text not in known:
            known[text] = len(kept)
            first = base.setdefault(path, known[text])
            kept.append(
                KeptText(text=text) if first == known[text] else _edited(kept[first].text, text, first)
            )
        return known[text]

    def kept_state(evidence: Evidence) -> KeptState:
        files = {
            file.path: number_of(file.path, file.text)
            for file in evidence.files
            if file.text is not None
            and (file.path in changed or len(file.text) <= _LONGEST_KEPT or file.path.endswith(".db"))
        }
        controls = tuple(
            item.model_dump(include=_KEPT_OF_CONTROLS, exclude_defaults=True, mode="json")
            for item in evidence.controls
            if item.application != "environment"
        )
        return KeptState(
            files=files,
            directories=evidence.directories,
            clipboard=evidence.clipboard.text,
            title=evidence.window_title,
            url=evidence.url,
            controls=controls if on_screen else (),
        )

    made = [kept_state(state) for state in states]
    return KeptRecording(
        subtask_id=performed[0].subtask_id,
        performances=tuple(
            KeptPerformance(
                parameters=item.parameters,
                instruction=item.instruction,
                start=made[2 * number],
                end=made[2 * number + 1],
            )
            for number, item in enumerate(performed)
        ),
        texts=tuple(kept),
    )


def _edited(before: str, after: str, of: int) -> KeptText:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    found = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    edits = [
        (begin, finish, tuple(new[first:last]))
        for kind, begin, finish, first, last in found
        if kind != "equal"
    ]
    return KeptText(of=of, edits=tuple(reversed(edits)))


def main(location: Path, names: Sequence[str]) -> None:
    """Write the recordings of the subtasks `names`."""
    performed: dict[str, list[Trajectory]] = {}
    with Warehouse(location, read_only=True) as warehouse:
        for item in warehouse.read(Trajectory):
            if item.termination == "finished" and item.steps:
                performed.setdefault(item.subtask_id, []).append(item)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names:
        found = agreeing(performed.get(name, []), quorum=2) or performed.get(name, [])
        if not found:
            print(f"{name}: not performed in {location}")
            continue
        content: Mapping[str, object] = _keep(list(found)).model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
        print(f"{name}: {len(text)} characters")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
