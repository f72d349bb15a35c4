"""Machines made ahead, and the copy of a machine's home; the machines are played."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from taskloom.environments.errors import (
    ApplicationUnavailableError,
    EnvironmentBrokenError,
    MachineUnavailableError,
)
from taskloom.environments.machines.machine import Document, Finished, Machine, ReadyMachines, Reply
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.linux_desktop.files import MachineFiles
from taskloom.resources.applications import (
    Application,
    DesktopState,
    Fixture,
    Launch,
    OpenDocument,
    Preparation,
)


class PlayedMachine(Machine):
    """A machine whose home is a table of files."""

    def __init__(self) -> None:
        self.started = self.stopped = False
        self.broken = False
        self.files: dict[str, bytes | None] = {}
        self.clipboard: dict[str, str] = {}
        self.ran: list[Sequence[str]] = []
        self.code = 0

    async def start(self) -> None:
        if self.broken:
            raise MachineUnavailableError("no engine")
        self.started = True

    async def run(self, command: Sequence[str], *, seconds: float = 60) -> Finished:
        self.ran.append(command)
        return Finished(self.code, "a letter", "no such setting" if self.code else "")

    async def write(self, files: Mapping[str, bytes | None]) -> None:
        self.files |= files

    async def request(self, name: str, document: Document | None = None) -> Reply:
        if self.broken:
            raise EnvironmentBrokenError("gone")
        if name != "evidence":
            return Reply({})
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, content in self.files.items():
                if content is not None:
                    member = tarfile.TarInfo(path)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        told: dict[str, Any] = {
            "files": sorted(path for path, content in self.files.items() if content is not None),
            "directories": sorted(path for path, content in self.files.items() if content is None),
            "unseen": [],
            "clipboard": self.clipboard,
        }
        return Reply(told, packed.getvalue())

    async def stop(self) -> None:
        self.stopped = True


async def test_the_next_machine_is_started_while_one_is_used(tmp_path: Path) -> None:
    made: list[PlayedMachine] = []

    def make(folder: Path) -> PlayedMachine:
        made.append(PlayedMachine())
        return made[-1]

    ready = ReadyMachines(make, tmp_path, 1)
    first = await ready.take()
    second = await ready.take()
    assert [first, second] == made[:2] and all(machine.started for machine in made[:2])
    await ready.close()
    assert [machine.stopped for machine in made] == [False, False, True], "only what nobody took is stopped"


async def test_a_machine_that_died_while_it_stood_ready_is_not_given_out(tmp_path: Path) -> None:
    made: list[PlayedMachine] = []

    def make(folder: Path) -> PlayedMachine:
        made.append(PlayedMachine())
        return made[-1]

    ready = ReadyMachines(make, tmp_path, 1)
    await ready.take()
    (waiting,) = ready._starting
    await waiting
    made[1].broken = True
    assert await ready.take() is made[2] and made[1].stopped
    await ready.close()


async def test_where_no_machine_starts_the_reason_is_told(tmp_path: Path) -> None:
    def make(folder: Path) -> PlayedMachine:
        machine = PlayedMachine()
        machine.broken = True
        return machine

    with pytest.raises(MachineUnavailableError, match="no engine"):
        await ReadyMachines(make, tmp_path, 1).take()


def application(**launch: Any) -> Application:
    return Application(
        name="editor",
        title="Editor",
        category="Utility Tools",
        platform="linux_desktop",
        version="1",
        licence="MIT",
        description="An editor.",
        manual="Type.",
        preparation=Preparation(commands=(("set", "it"),), files={".config/editor/rc": "tips=no"}),
        launch=Launch(command=("editor",), **launch),
        fixtures=(
            Fixture(category="text_path", value="Documents/a.txt", content="one"),
            Fixture(category="text_path", value="Documents/b.txt", content="two"),
        ),
    )


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    made = Sandbox(tmp_path)
    yield made
    made.close()


async def test_fixtures_go_in_and_what_became_of_them_comes_out(sandbox: Sandbox) -> None:
    machine, files = PlayedMachine(), MachineFiles(sandbox)
    editor = application(state=DesktopState(settings="/org/editor"))
    await files.lay(machine, [editor], ["Documents/b.txt"])
    assert machine.files["Documents/a.txt"] == b"one" and "Documents/b.txt" not in machine.files
    assert machine.files[".config/editor/rc"] == b"tips=no" and machine.ran == [("set", "it")]
    del machine.files[".config/editor/rc"]
    machine.files["Documents/a.txt"] = b"kept in /home/user/Documents"
    machine.files[".applications/editor/settings.ini"] = b"[font]"
    machine.files |= {"New": None, "New/c.txt": b"three"}
    machine.clipboard = {"text": "copied", "selection": "marked"}
    home, clipboard, selection = await files.take(machine, [editor], {"editor"})
    texts = {state.path: state.text for state in home.files}
    assert texts == {
        "Documents/a.txt": "kept in ~/Documents",
        ".applications/editor/settings.ini": "[font]",
        "New/c.txt": "three",
    }
    assert "New" in home.directories and (clipboard.text, selection) == ("copied", "marked")
    del machine.files["New/c.txt"], machine.files["New"]
    home, _, _ = await files.take(machine, [editor], {"editor"})
    assert "New/c.txt" not in {state.path for state in home.files} and "New" not in home.directories


async def test_what_cannot_be_prepared_is_told_with_the_reason(sandbox: Sandbox) -> None:
    machine = PlayedMachine()
    machine.code = 2
    with pytest.raises(ApplicationUnavailableError, match="'set' ended with 2: no such setting"):
        await MachineFiles(sandbox).lay(machine, [application()], [])


async def test_an_open_document_is_told_by_the_application_itself(sandbox: Sandbox) -> None:
    machine, files = PlayedMachine(), MachineFiles(sandbox)
    editor = application(open_document=OpenDocument(ending=".txt", script="print-it"))
    await files.lay(machine, [editor], [])
    home, *_ = await files.take(machine, [editor], {"editor"})
    assert {state.path: state.text for state in home.files}[
        ".applications/editor/open document.txt"
    ] == "a letter"
    assert machine.ran[-1] == ("sh", "-c", "print-it")
    machine.code = 1
    home, *_ = await files.take(machine, [editor], {"editor"})
    assert ".applications/editor/open document.txt" in home.unseen, "it did not tell"
    home, *_ = await files.take(machine, [editor], set())
    assert not any("open document" in state.path for state in home.files), "it was not started"


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/outside.txt", "Documents/../../outside.txt", "."])
async def test_a_machine_cannot_write_elsewhere_on_this_host(
    sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    machine, files = PlayedMachine(), MachineFiles(sandbox)
    await files.lay(machine, [application()], [])
    machine.files[name] = b"mischief"
    with pytest.raises(EnvironmentBrokenError, match="outside of its home"):
        await files.take(machine, [], set())
    assert not (tmp_path / "outside.txt").exists()
