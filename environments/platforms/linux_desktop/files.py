"""The files of a machine: a local copy of its home, updated whenever evidence is taken."""

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
_SCRIPT_SECONDS = 10


class MachineFiles:
    """Writes fixtures into a machine, and copies its files."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._files = FileSnapshots(sandbox.home, shown_home=HOME)
        self._send_all = True

    async def lay(
        self, machine: Machine, applications: Sequence[Application], without: Collection[str]
    ) -> None:
        """Write fixtures and prepared files into a clean machine, and run the preparation commands.

        Raises:
            ApplicationUnavailableError: a preparation command fails.
        """
        self._send_all = True
        await asyncio.to_thread(self.sandbox.clear)
        await asyncio.to_thread(self.sandbox.lay_fixtures, applications, without)
        files = await asyncio.to_thread(self._files_to_write)
        for application in applications:
            for path, text in application.preparation.files.items():
                files[path] = content_of(text, application)
        await machine.write(files)
        for application in applications:
            for command in application.preparation.commands:
                done = await machine.run(command)
                if done.code:
                    text = (done.errors or done.output).strip()[-300:]
                    raise ApplicationUnavailableError(
                        f"Preparing {application.title} failed: {command[0]!r} ended with {done.code}: {text}"
                    )

    async def take(
        self, machine: Machine, applications: Sequence[Application], started: Collection[str]
    ) -> tuple[HomeFiles, ClipboardState, str]:
        """Files, the clipboard and the primary selection, as of now."""
        wanted = {item.name: item.launch.state.model_dump() for item in applications if item.launch.state}
        reply = await machine.request("evidence", {"applications": wanted, "anew": self._send_all})
        self._send_all = False
        listing = reply.document
        await asyncio.to_thread(self._mirror, reply.content, listing["files"], listing["directories"])
        home = await asyncio.to_thread(self._files.take)
        texts = {
            (application.name, name): await _run_script(machine, script)
            for application in applications
            if application.name in started
            for name, script in _scripts(application)
        }
        reported, missing = self._files.reported_states(texts)
        files = tuple(sorted((*home.files, *reported), key=lambda state: state.path))
        unseen = tuple(sorted({*home.unseen, *missing, *listing["unseen"]}))
        snapshot = HomeFiles(files, home.directories, unseen)
        return snapshot, _clipboard(listing["clipboard"]), listing["clipboard"].get("selection", "")

    def _files_to_write(self) -> dict[str, bytes | None]:
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
            self._local_path(name).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                place = self._local_path(member.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.write_bytes(content.read() if content is not None else b"")

    def _local_path(self, name: str) -> Path:
        """The local path of a file of the machine; raises if its name leads out of the home."""
        place = Path(os.path.normpath(self.sandbox.home / name))
        if not place.is_relative_to(self.sandbox.home) or place == self.sandbox.home:
            raise EnvironmentBrokenError(f"The machine named a file outside of its home: {name!r}.")
        return place


def _scripts(application: Application) -> Iterator[tuple[str, str]]:
    """The states that an application reports: names of files, and the shell commands that print them."""
    document = application.launch.open_document
    if document is not None:
        yield f"{OPEN_DOCUMENT}{document.ending}", document.script
    yield from ((state.name, state.script) for state in application.launch.told_states)


async def _run_script(machine: Machine, script: str) -> str | None:
    finished = await machine.run(("sh", "-c", script), seconds=_SCRIPT_SECONDS)
    return finished.output if finished.code == 0 else None


def _clipboard(fields: dict[str, Any]) -> ClipboardState:
    image = fields.get("image")
    return ClipboardState(
        text=fields.get("text"),
        image_sha256=hashlib.sha256(base64.b64decode(image)).hexdigest() if image else None,
        file_name=fields.get("file_name"),
    )
