"""A program that brings a machine to the start of a task: writes and prepares files, starts the applications,
keeps a copy.

It does what `config` does in an OSWorld task, for consumers that start tasks with a program of the task's
own. It needs nothing but Python, and the applications under `/home/user/applications`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from taskloom.resources.applications import Application
from taskloom.warehouse.exporting.judging.machine_setup import setup

START_COPY: Final = "/var/lib/taskloom/start"
"""Where the copy of the home folder at the start lies."""

_PROGRAM: Final = '''\
"""Brings this machine to the start of the task: files, applications, a copy of the home folder, then the browser."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HOME, COPY = "/home/user", "{copy}"
STEPS = json.loads({steps!r})


def main():
    for step in STEPS:
        parameters = step["parameters"]
        if step["type"] == "execute":
            subprocess.run(parameters["command"], check=True)
        elif step["type"] == "launch":
            subprocess.Popen(
                parameters["command"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(
        HOME, COPY, ignore=lambda folder, names: ["applications"] if folder == HOME else [], symlinks=True
    )
    urls, browser = json.loads({urls!r}), shutil.which("google-chrome") or shutil.which("chromium")
    if browser and os.environ.get("DISPLAY"):
        subprocess.Popen(
            [browser, "--no-first-run", "--remote-debugging-port=1337", *urls], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
    pathlib.Path(COPY).with_name("ready").touch()


main()
if len(sys.argv) > 1:
    os.execvp(sys.argv[1], sys.argv[1:])
'''  # noqa: E501


def start_script(applications: Sequence[Application]) -> str:
    """The program's text. It runs the command it is given once all is started."""
    steps = setup(applications)
    urls = [
        url
        for step in steps
        if step["type"] == "chrome_open_tabs" and isinstance(step["parameters"], dict)
        for url in step["parameters"]["urls_to_open"]
    ]
    own = [step for step in steps if not _is_browser(step)]
    return _PROGRAM.format(copy=START_COPY, steps=json.dumps(own), urls=json.dumps(urls))


def _is_browser(step: dict[str, object]) -> bool:
    parameters = step["parameters"]
    command = parameters.get("command") if isinstance(parameters, dict) else None
    return step["type"] == "chrome_open_tabs" or (
        isinstance(command, list) and command[:1] in (["google-chrome"], ["socat"])
    )
