"""A Postgres server and an S3-compatible server that live as long as a test session."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "a-password-for-tests"
USER = "loom"


class ServiceMissingError(Exception):
    """What a service needs is not on this machine."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server."""

    programs: Path
    """Folder of its programs."""
    port: int
    """Port on the loopback address."""

    def create_database(self, name: str, template: str = "template1") -> str:
        """Make a database as a copy of another; the address without data."""
        self._run("createdb", "-T", template, name)
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def ask(self, database: str, sql: str) -> str:
        """The answer of psql, unaligned."""
        return self._run("psql", "-XAt", "-d", database, "-c", sql)

    def _run(self, program: str, *arguments: str) -> str:
        command = [
            str(self.programs / program),
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            *arguments,
        ]
        done = subprocess.run(
            command, env={**os.environ, "PGPASSWORD": PASSWORD}, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """A server whose data lie in `folder`, asking for a password.

    Raises:
        ServiceMissingError: Postgres is not installed, or cannot be started by this user.
    """
    programs = _programs()
    account = _account()
    folder.mkdir(parents=True)
    password = folder / "password"
    password.write_text(PASSWORD)
    for path in (folder, password):
        shutil.chown(path, account)
    port = _free_port()
    place = folder / "data"
    as_account: dict[str, Any] = {"user": account} if account != getpass.getuser() else {}

    def call(*command: str) -> None:
        done = subprocess.run(
            command,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            **as_account,
        )
        if done.returncode:
            raise ServiceMissingError(f"Postgres does not start here: {done.stderr.strip()[-300:]}")

    call(
        str(programs / "initdb"), "-D", str(place), "-U", USER, "--auth=scram-sha-256", f"--pwfile={password}", "-N",  # noqa: E501
        "-E", "UTF8",
    )  # fmt: skip
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    control = str(programs / "pg_ctl")
    call(control, "-D", str(place), "-o", options, "-l", str(folder / "log"), "-w", "-t", "120", "start")
    try:
        yield Postgres(programs, port)
    finally:
        call(control, "-D", str(place), "-m", "immediate", "-w", "stop")


def _programs() -> Path:
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "psql").exists():
            return place
    raise ServiceMissingError("Postgres is not installed (apt install postgresql)")


def _account() -> str:
    """Postgres refuses to run as root: then its own account is used."""
    if os.geteuid() != 0:
        return getpass.getuser()
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise ServiceMissingError("Postgres does not run as root, and there is no other account")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
