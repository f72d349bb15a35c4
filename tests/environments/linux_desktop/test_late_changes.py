"""What an action brings about only after a while, on a desktop whose machine is played."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from taskloom.environments.machines.machine import Document, Machine, MachineMaker, Reply
from taskloom.environments.platforms.linux_desktop import environment
from taskloom.environments.platforms.linux_desktop.environment import DesktopEnvironment
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.applications import DesktopState
from taskloom.resources.reading.catalog import load_application
from taskloom.taskgraph.records.interaction import KeyboardInput

FIELD = {
    "type": "Edit",
    "text": "",
    "value": "",
    "parent_text": "",
    "parent_type": "Dialog",
    "row": "",
    "section": "",
    "box": (0, 0, 20, 20),
    "point": (10, 10),
    "checked": None,
    "disabled": False,
    "focused": False,
    "application": "mousepad",
}


class Played(DesktopEnvironment):
    """An environment whose machine shows windows with these titles, one at each look."""

    def __init__(self, titles: Sequence[str], folder: Path) -> None:
        super().__init__(LinuxDesktopSettings(data_folder=folder), cast(MachineMaker, None))
        self._machine = cast(Machine, object())
        self._applications = {"mousepad": load_application("mousepad")}
        self._front = "mousepad"
        self.titles, self.asked = list(titles), list[str]()
        self.dialog = ""

    async def _ask(self, name: str, document: Document | None = None) -> Reply:
        self.asked.append(name)
        title = self.titles.pop(0)
        controls = [FIELD | {"value": str(len(self.asked))}] if title == self.dialog else []
        return Reply({"active": "", "silent": [], "title": title, "controls": controls}, b"picture")


@pytest.mark.parametrize(
    ("titles", "asked", "seen"),
    [
        (["Save", "Save", "notes.txt"], ["observe", "act", "observe"], "notes.txt"),
        (["Save", "Save", "Save"], ["observe", "act", "observe"], "Save"),
        (["Save", "notes.txt"], ["observe", "act"], "notes.txt"),
    ],
)
async def test_what_seemed_to_do_nothing_is_looked_at_again(
    titles: list[str], asked: list[str], seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_LATE_SECONDS", 0.0)
    played = Played(titles, tmp_path)
    await played.observe()
    observation = await played.act(KeyboardInput(keys="{ENTER}"))
    assert (played.asked, observation.window_title) == (asked, seen)


@pytest.mark.parametrize(
    ("keys", "titles", "looks"),
    [
        ("plan{ENTER}", ["Open", "Open", "Open", "Open", "plan.zip"], 3),
        ("plan{ENTER}", ["Open"] * 7, 5),
        ("plan{ENTER}", ["Open", "plan.zip"], 0),
        ("plan", ["Open", "Open"], 0),
    ],
)
async def test_a_dialog_that_was_answered_is_looked_at_until_it_is_gone(
    keys: str, titles: list[str], looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_LATE_SECONDS", 0.0)
    played = Played(titles, tmp_path)
    played.dialog = "Open"
    await played.observe()
    observation = await played.act(KeyboardInput(keys=keys))
    assert played.asked == ["observe", "act", *["observe"] * looks]
    assert observation.window_title == titles[-1]


@pytest.mark.parametrize(("ago", "wait"), [(0.0, 4.0), (3.0, 1.0), (9.0, 0.0)])
def test_evidence_waits_for_what_an_application_writes_later(
    ago: float, wait: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played([], tmp_path)
    browser = load_application("chromium")
    state = DesktopState(folder=".browser", written_seconds=4.0)
    browser = browser.model_copy(update={"launch": browser.launch.model_copy(update={"state": state})})
    played._applications["browser"] = browser
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    played._last_input_at = 100.0 - ago
    assert played._seconds_until_written() == 0.0, "nothing is waited for that was not started"
    played._started = {"browser", "mousepad"}
    assert played._seconds_until_written() == wait
