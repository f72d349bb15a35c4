"""The files of a machine: a copy of its home here, brought up to date whenever evidence is taken."""

import asyncio
import base64
import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from taskloom.environments.errors import ApplicationUnavailableError, EnvironmentBrokenError
from taskloom.environments.evidence.file_snapshot import FileSnapshots, HomeFiles
from taskloom.environments.machines.machine import Machine
from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER, Sandbox
from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.taskgraph.records.evidence import OPEN_DOCUMENT, ClipboardState

HOME = "/home/user"
"""Home of a machine's user."""
_TELLING_SECONDS = 10


class MachineFiles:
    """Fixtures on their way in, and files on their way out."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._files = FileSnapshots(sandbox.home, shown_home=HOME)
        self._anew = True

    async def lay(
        self, machine: Machine, applications: Sequence[Application], without: Collection[str]
    ) -> None:
        """Write fixtures and prepared files into a clean machine, and run what prepares `applications`.

        Raises:
            ApplicationUnavailableError: a command that prepares one fails.
        """
        self._anew = True
        await asyncio.to_thread(self.sandbox.clear)
        await asyncio.to_thread(self.sandbox.lay_fixtures, applications, without)
        laid = await asyncio.to_thread(self._laid)
        for application in applications:
            for path, text in application.preparation.files.items():
                laid[path] = content_of(text, application)
        await machine.write(laid)
        for application in applications:
            for command in application.preparation.commands:
                done = await machine.run(command)
                if done.code:
                    said = (done.errors or done.output).strip()[-300:]
                    raise ApplicationUnavailableError(
                        f"Preparing {application.title} failed: {command[0]!r} ended with {done.code}: {said}"
                    )

    async def take(
        self, machine: Machine, applications: Sequence[Application], started: Collection[str]
    ) -> tuple[HomeFiles, ClipboardState, str]:
        """Files, the clipboard and the primary selection, as of now."""
        wanted = {item.name: item.launch.state.model_dump() for item in applications if item.launch.state}
        reply = await machine.request("evidence", {"applications": wanted, "anew": self._anew})
        self._anew = False
        told = reply.document
        await asyncio.to_thread(self._mirror, reply.content, told["files"], told["directories"])
        home = await asyncio.to_thread(self._files.take)
        texts = {
            (application.name, name): await _told_by(machine, script)
            for application in applications
            if application.name in started
            for name, script in _scripts(application)
        }
        states, silent = self._files.reported_states(texts)
        files = tuple(sorted((*home.files, *states), key=lambda state: state.path))
        seen = HomeFiles(files, home.directories, tuple(sorted({*home.unseen, *silent, *told["unseen"]})))
        return seen, _clipboard(told["clipboard"]), told["clipboard"].get("selection", "")

    def _laid(self) -> dict[str, bytes | None]:
        home = self.sandbox.home
        return {
            str(path.relative_to(home)): path.read_bytes() if path.is_file() else None
            for path in sorted(home.rglob("*"))
            if APPLICATIONS_FOLDER not in path.relative_to(home).parts
        }

    def _mirror(self, packed: bytes, files: Sequence[str], directories: Sequence[str]) -> None:
        home = self.sandbox.home
        kept, folders = set(files), set(directories)
        for path in sorted(home.rglob("*"), reverse=True):
            name = str(path.relative_to(home))
            if path.is_dir() and not path.is_symlink():
                if name not in folders and not any(other.startswith(f"{name}/") for other in kept | folders):
                    shutil.rmtree(path, ignore_errors=True)
            elif name not in kept:
                path.unlink(missing_ok=True)
        for name in directories:
            self._place(name).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                place = self._place(member.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.write_bytes(content.read() if content is not None else b"")

    def _place(self, name: str) -> Path:
        """Where a file of the machine stands here, unless its name leads out of the home."""
        place = Path(os.path.normpath(self.sandbox.home / name))
        if not place.is_relative_to(self.sandbox.home) or place == self.sandbox.home:
            raise EnvironmentBrokenError(f"The machine named a file outside of its home: {name!r}.")
        return place


def _scripts(application: Application) -> Iterator[tuple[str, str]]:
    """What an application tells of itself: names of files, and the shell commands that print them."""
    document = application.launch.open_document
    if document is not None:
        yield f"{OPEN_DOCUMENT}{document.ending}", document.script
    yield from ((state.name, state.script) for state in application.launch.told_states)


async def _told_by(machine: Machine, script: str) -> str | None:
    done = await machine.run(("sh", "-c", script), seconds=_TELLING_SECONDS)
    return done.output if done.code == 0 else None


def _clipboard(told: dict[str, Any]) -> ClipboardState:
    image = told.get("image")
    return ClipboardState(
        text=told.get("text"),
        image_sha256=hashlib.sha256(base64.b64decode(image)).hexdigest() if image else None,
        file_name=told.get("file_name"),
    )
