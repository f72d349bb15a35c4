"""Programs of a machine that hand over, fork, or end: when an application counts as up."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from taskloom.environments.errors import MachineUnavailableError
from taskloom.environments.lookup import create_environment
from taskloom.environments.platforms.linux_desktop.server import desktop, programs
from taskloom.environments.platforms.linux_desktop.server.desktop import Desktop
from taskloom.environments.platforms.linux_desktop.server.display import Screen, Window
from taskloom.environments.platforms.linux_desktop.server.programs import Programs
from taskloom.environments.starting_place import START_PAGE
from taskloom.taskgraph.records.interaction import ClickInput
from tests.environments.linux_desktop import small_desktop

NAME = "worker"
STAYS = "import time, sys; (sys.argv[1:] and open(sys.argv[1], 'w').close()); time.sleep(30)"
FORKS = (
    "import subprocess, sys; subprocess.Popen([sys.executable, '{stays}', '{mark}'], start_new_session=True)"
)

AWAKE = (
    "gdbus call --session --dest org.freedesktop.FileManager1 --object-path /org/freedesktop/FileManager1"
    " --method org.freedesktop.DBus.Peer.Ping"
)
"""Starts the file manager without a window, as other applications do."""


class Seen(Desktop):
    """A desktop on which an application has a window as soon as a mark lies on disk."""

    def __init__(self, mark: Path) -> None:
        self.programs = Programs()
        self.mark = mark

    def _windows_of(self, application: str) -> list[Window]:
        return [Window(1, (0, 0, 9, 9), 1)] if self.mark.exists() else []

    def opened(self, command: list[str], seconds: float = 10) -> list[Window]:
        self._run(NAME, {"command": command})
        return self._first_windows(NAME, {"command": command}, time.monotonic() + seconds)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    monkeypatch.setattr(programs, "HOME", tmp_path)
    monkeypatch.setattr(programs, "_LOGS", tmp_path / "logs")
    monkeypatch.setattr(desktop, "_HANDOVER_SECONDS", 0.2)
    made = Seen(tmp_path / "window")
    yield made
    made.programs.stop(NAME)


def script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_program_that_forks_is_up_when_its_window_is(seen: Seen, tmp_path: Path) -> None:
    stays = script(tmp_path, "stays.py", STAYS)
    forks = script(tmp_path, "forks.py", FORKS.format(stays=stays, mark=seen.mark))
    assert seen.opened([sys.executable, forks])
    assert seen.programs.runs(NAME) and seen.programs.ended_well(NAME)


def test_a_program_that_handed_over_to_one_on_its_way_out_is_started_again(
    seen: Seen, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    text = (
        f"import pathlib; first = pathlib.Path('{first}')\n"
        f"(pathlib.Path('{seen.mark}') if first.exists() else first).touch()"
    )
    assert seen.opened([sys.executable, script(tmp_path, "hands.py", text)])


def test_a_program_that_always_ends_well_without_a_window_is_given_up(seen: Seen, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended: bye"):
        seen.opened([sys.executable, script(tmp_path, "ends.py", "print('bye')")])


def test_a_program_that_fails_is_not_started_again(seen: Seen, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    text = f"open('{starts}', 'a').write('x'); raise SystemExit('no display')"
    with pytest.raises(RuntimeError, match="ended: no display"):
        seen.opened([sys.executable, script(tmp_path, "fails.py", text)])
    assert starts.read_text() == "x"


def test_a_process_that_another_started_belongs_to_the_application_whose_program_it_runs(
    seen: Seen, tmp_path: Path
) -> None:
    stays = script(tmp_path, "stays.py", STAYS)
    seen.programs.start(
        "other", [sys.executable, script(tmp_path, "runs.py", FORKS.format(stays=stays, mark=seen.mark))], {}
    )
    while not seen.mark.exists():
        time.sleep(0.01)
    assert seen.programs.processes("other")
    seen.programs.start(NAME, [sys.executable, stays], {})
    assert len(seen.programs.processes(NAME)) == 2 and not seen.programs.processes("other")
    seen.programs.stop(NAME)
    assert not seen.programs.runs(NAME)


@pytest.mark.desktop
@pytest.mark.slow
async def test_an_application_that_the_bus_has_started_is_up_and_begins_anew_as_any_other(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data, applications = small_desktop.desktop(tmp_path_factory)
    first, second = applications[:2]
    prepared = second.preparation.model_copy(
        update={"commands": (*second.preparation.commands, tuple(AWAKE.split()))}
    )
    second = second.model_copy(update={"preparation": prepared})
    environment = create_environment(
        "linux_desktop", {"temporary_folder": str(tmp_path / "temporary"), "data_folder": str(data)}
    )
    try:
        await environment.reset([first, second])
        observation = await environment.bring_to_front(second.name)
        assert observation.active_application == second.name
        start = next(control for control in observation.controls if control.text == START_PAGE)
        observation = await environment.act(ClickInput(control_label=start.label))
        assert observation.active_application == second.name
    except MachineUnavailableError as error:
        pytest.skip(str(error))
    finally:
        await environment.close()


class Still(Desktop):
    """A desktop on which nothing is drawn."""

    def __init__(self) -> None:
        self.screen = cast(Screen, SimpleNamespace(seconds_still=lambda: 60.0))
        self._restless = frozenset()


def test_what_is_at_work_is_waited_for_though_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    working = iter([frozenset({7})] * 3)
    monkeypatch.setattr(desktop, "at_work", lambda: next(working, frozenset()))
    now = time.monotonic()
    assert Still().settle(0.1, now + 5) > now + 5
    assert next(working, None) is None


def test_what_never_rests_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "at_work", lambda: frozenset({7}))
    monkeypatch.setattr(desktop.Patience, "longest_work", 0.05)
    still, now = Still(), time.monotonic()
    assert still.settle(0.1, now + 5) >= now + 5.05
    later = time.monotonic() + 5
    assert still.settle(0.1, later) == later


def test_a_program_is_at_work_while_a_thread_of_it_runs() -> None:
    spins = "import threading, time; threading.Thread(target=lambda: any(iter(int, 1)), daemon=True).start()"
    with (
        subprocess.Popen([sys.executable, "-c", f"{spins}; time.sleep(60)"]) as busy,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as idle,
    ):
        both = (busy.pid, idle.pid)
        deadline = time.monotonic() + 20
        while programs.at_work(both) != {busy.pid} and time.monotonic() < deadline:
            time.sleep(0.01)
        assert programs.at_work(both) == {busy.pid}
        busy.kill()
        idle.kill()
        busy.wait()
        assert not programs.at_work([busy.pid])
