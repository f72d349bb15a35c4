"""An application that somebody else started: put back by its own command, and waited for."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.environments.platforms.web_browser.servers.application_server import wait_until_open
from taskloom.resources.applications import Application

_LONGEST_OUTPUT = 800


async def put_back(application: Application) -> int:
    """Run the reset command of an application that runs at an address, wait until it answers, and return its
    port.

    Without a reset command, its state stays as it is.

    Raises:
        ApplicationStartFailedError: the command failed, or nothing answers at the address.
    """
    launch = application.launch
    limit = launch.start_timeout_seconds
    if launch.reset_command:
        await asyncio.to_thread(_run, application, limit)
    port = urlsplit(launch.address).port or 0
    if not await wait_until_open(port, limit):
        raise ApplicationStartFailedError(
            f"{application.title} does not answer at {launch.address}; start it, or change `launch.address`"
            " of its entry."
        )
    return port


def data_folder(application: Application) -> Path | None:
    """Where an application that runs at an address keeps its data, if its entry says so.

    Raises:
        ApplicationStartFailedError: there is no such folder.
    """
    if not application.launch.data_folder:
        return None
    folder = Path(application.launch.data_folder).expanduser()
    if not folder.is_dir():
        raise ApplicationStartFailedError(
            f"{application.title} has no data folder {str(folder)!r}; change `launch.data_folder` of its"
            " entry."
        )
    return folder


def _run(application: Application, limit: float) -> None:
    command = application.launch.reset_command
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ApplicationStartFailedError(f"Resetting {application.title} failed: {error}") from error
    if done.returncode:
        printed = done.stdout[-_LONGEST_OUTPUT:].decode(errors="replace").strip()
        raise ApplicationStartFailedError(
            f"Resetting {application.title} failed: {command[0]!r} ended with {done.returncode}: {printed}"
        )
