"""Sandboxes, and what is left when their owner dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from taskloom.environments.machines.reaper import MARK, marked_processes
from taskloom.environments.machines.sandbox import PERSONAL_FOLDERS, Sandbox
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.resources.applications import Fixture
from tests.limits import LONGEST_SECONDS

HOLDER = """
import subprocess, sys, time
from pathlib import Path
from taskloom.environments.machines.sandbox import Sandbox
sandbox = Sandbox(Path(sys.argv[1])); sandbox.clear()
other = Path(sys.argv[1], "beside"); other.mkdir(); sandbox.also_remove(other)
subprocess.Popen(["sh", "-c", "setsid sleep 1000 & sleep 1000"], env=sandbox.process_environment(), start_new_session=True)
print(sandbox.root, flush=True)
time.sleep(1000)
"""  # noqa: E501
BROWSER_HOLDER = """
import asyncio, sys
from pathlib import Path
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.environments.platforms.web_browser.environment import WebEnvironment
from taskloom.resources.applications import Application, Launch
folder = Path(sys.argv[1]); (folder / "site").mkdir(); (folder / "site" / "index.html").write_text("<p>Hello</p>")
page = Application(name="page", title="Page", category="Office", version="1", licence="MIT", description="x", manual="x",
    launch=Launch(command=(sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1", "-d", str(folder / "site"))))
async def main():
    environment = WebEnvironment(WebBrowserSettings(data_folder=folder / "data", temporary_folder=folder / "temporary"))
    await environment.reset([page])
    print(environment._sandbox.root, flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""  # noqa: E501


def eventually(condition: Callable[[], bool], seconds: float = LONGEST_SECONDS) -> bool:
    """Whether the condition comes true in time; the processes watched are not ours to wait for."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def held_sandbox(script: str, folder: Path) -> tuple[subprocess.Popen[str], Path]:
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert holder.stdout is not None
    with holder.stdout:
        line = holder.stdout.readline().strip()
    assert line, "the holder did not start"
    return holder, Path(line)


def test_lays_out_a_home_with_exactly_the_fixtures(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    try:
        sandbox.clear()
        assert sorted(path.name for path in sandbox.home.iterdir()) == [".applications", *PERSONAL_FOLDERS]
        notes = next(item for item in simulated_applications() if item.name == "simulated_notes")
        folder = Fixture(category="directory_path", value="Documents/projects")
        record = Fixture(category="note_title", value="Groceries")
        below = Fixture(category="text_path", value="Documents/archive/old.txt", content="below")
        application = notes.model_copy(update={"fixtures": (*notes.fixtures, folder, record, below)})
        sandbox.lay_fixtures([application], without=["Documents/ideas.txt", "Documents/archive"])
        found = {
            path.relative_to(sandbox.home).as_posix() for path in (sandbox.home / "Documents").rglob("*")
        }
        assert found == {"Documents/meeting.txt", "Documents/shopping.txt", "Documents/projects"}
    finally:
        sandbox.close()
    assert not list(tmp_path.iterdir())


def test_folders_that_a_standing_server_made_for_itself_stay_without_their_files(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    try:
        sandbox.clear()
        runtime = sandbox.private / "data" / "server" / "runtime"
        runtime.mkdir(parents=True)
        (runtime / "secret").write_text("x")
        (runtime / "link").symlink_to(tmp_path)
        sandbox.clear(["server"])
        assert runtime.is_dir() and not list(runtime.iterdir())
        sandbox.clear()
        assert not (sandbox.private / "data" / "server").exists()
    finally:
        sandbox.close()


def test_a_fixture_outside_the_home_is_refused(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    try:
        sandbox.clear()
        outside = Fixture(category="text_path", value="../../outside.txt", content="x")
        application = simulated_applications()[0].model_copy(update={"fixtures": (outside,)})
        with pytest.raises(ValueError, match="outside the home"):
            sandbox.lay_fixtures([application])
    finally:
        sandbox.close()


def test_processes_of_a_sandbox_see_nothing_of_the_callers_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    sandbox = Sandbox(tmp_path)
    try:
        assert "secret" not in " ".join(sandbox.process_environment().values())
        assert sandbox.process_environment()["HOME"] == str(sandbox.home)
    finally:
        sandbox.close()


def test_all_sandboxes_have_paths_of_one_length(tmp_path: Path) -> None:
    sandboxes = [Sandbox(tmp_path) for _ in range(3)]
    assert len({len(str(sandbox.root)) for sandbox in sandboxes}) == 1
    assert len({sandbox.root for sandbox in sandboxes}) == 3
    for sandbox in sandboxes:
        sandbox.close()
        sandbox.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_the_owner_dies(tmp_path: Path, number: signal.Signals) -> None:
    holder, root = held_sandbox(HOLDER, tmp_path)
    mark = f"{MARK}={root}"
    assert eventually(lambda: len(marked_processes(mark)) >= 2)
    holder.send_signal(number)
    holder.wait()
    assert eventually(lambda: not marked_processes(mark)), "processes outlived their owner"
    assert eventually(lambda: not list(tmp_path.iterdir())), "files outlived their owner"


def everything_below(folder: Path) -> list[Path]:
    """Files and folders; what goes away while they are listed is no error."""
    return sorted(
        Path(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files)
    )


@pytest.mark.browser
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_browser_when_the_owner_dies(tmp_path: Path, number: signal.Signals) -> None:
    holder, root = held_sandbox(BROWSER_HOLDER, tmp_path)
    mark = f"{MARK}={root}"
    assert marked_processes(mark)
    holder.send_signal(number)
    holder.wait()
    assert eventually(lambda: not marked_processes(mark)), "processes outlived their owner"
    left = [tmp_path / "site", tmp_path / "site" / "index.html", tmp_path / "temporary"]
    data = tmp_path / "data"  # where the names of fonts stay for the next browser
    assert eventually(
        lambda: [path for path in everything_below(tmp_path) if not path.is_relative_to(data)] == left
    ), everything_below(tmp_path)
