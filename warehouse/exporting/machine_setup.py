"""OSWorld's `config` for applications of the catalogue: write their files, prepare and start them, open them
in Chrome; for other machines, a program that does so.

The machine image has every application under `/home/user/applications/<name>`, and Node and Chrome on the
path. State is under `.applications` in the home folder, where evaluation functions look for it.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from taskloom.resources.applications import Application
from taskloom.resources.assets import ASSET_PREFIX, content_of

HOME: Final = "/home/user"
_FIRST_PORT: Final = 8800
_CHUNK: Final = 60_000
"""Bytes per command: one argument of a process may have at most 128 KiB."""
_WAIT_FOR_PORT: Final = """\
import socket, sys, time
for _ in range(600):
    try:
        socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1).close()
        break
    except OSError:
        time.sleep(0.1)
"""
_CHROME: Final[tuple[tuple[str, ...], ...]] = (
    ("google-chrome", "--remote-debugging-port=1337"),
    ("socat", "tcp-listen:9222,fork", "tcp:localhost:1337"),
)
"""Commands that start every Chrome task of OSWorld, whose setup reaches the browser through port 9222."""


def setup(
    applications: Sequence[Application], before_browser: Sequence[dict[str, object]] = ()
) -> list[dict[str, object]]:
    """The steps of `config`, a port per application; `before_browser` runs once all have started."""
    steps, urls = _setup_steps(applications)
    return [
        *steps,
        *before_browser,
        *(_step("launch", command=list(command)) for command in _CHROME),
        _step("chrome_open_tabs", urls_to_open=urls),
    ]


def _setup_steps(applications: Sequence[Application]) -> tuple[list[dict[str, object]], list[str]]:
    """The steps that write and start the applications, and their addresses."""
    steps: list[dict[str, object]] = []
    written: set[str] = set()
    urls: list[str] = []
    for port, application in enumerate(applications, start=_FIRST_PORT):
        places = _places(application, port)
        for path, content in _files(application, places):
            if path not in written:
                written.add(path)
                steps += write_file(path, content)
        for command in application.preparation.commands:
            arguments = [_fill(part, places) for part in command]
            steps.append(execute(["env", "-C", places["state"], *arguments]))
        steps.append(_step("launch", command=_launch(application, places)))
        steps.append(execute(["python3", "-c", _WAIT_FOR_PORT, str(port)]))
        urls.append(f"http://localhost:{port}{application.launch.url_path}")
    return steps, urls


def _places(application: Application, port: int) -> dict[str, str]:
    installed = f"{HOME}/applications/{application.name}"
    return {
        "install": installed,
        "venv": f"{installed}/venv",
        "node": "node",
        "home": HOME,
        "state": f"{HOME}/.applications/{application.name}",
        "port": str(port),
    }


def _files(application: Application, places: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    for fixture in application.fixtures:
        if fixture.content:
            yield f"{HOME}/{fixture.value}", content_of(fixture.content, application)
    if application.launch.command:
        yield f"{places['state']}/.keep", b""
    for name, text in application.preparation.files.items():
        if text.startswith(ASSET_PREFIX):
            content = content_of(text, application).replace(b"{port}", places["port"].encode())
        else:
            content = _fill(text, places).encode()
        yield f"{places['state']}/{name}", content


def write_file(path: str, content: bytes) -> list[dict[str, object]]:
    """Steps that write one file, in pieces small enough for a command."""
    steps = []
    for start in range(0, max(len(content), 1), _CHUNK):
        encoded = base64.b64encode(content[start : start + _CHUNK]).decode()
        code = (
            f"import base64, pathlib; p = pathlib.Path({path!r}); p.parent.mkdir(parents=True,"
            f" exist_ok=True); p.open({'ab' if start else 'wb'!r}).write(base64.b64decode({encoded!r}))"
        )
        steps.append(execute(["python3", "-c", code]))
    return steps


def _launch(application: Application, places: Mapping[str, str]) -> list[str]:
    launch = application.launch
    if not launch.command:
        folder = _fill(launch.serve, places)
        return ["python3", "-m", "http.server", places["port"], "--bind", "127.0.0.1", "--directory", folder]
    variables = [f"{name}={_fill(value, places)}" for name, value in launch.environment.items()]
    return ["env", "-C", places["state"], *variables, *(_fill(part, places) for part in launch.command)]


def execute(command: list[str]) -> dict[str, object]:
    """A step that runs a command and waits for it."""
    return _step("execute", command=command)


def _step(kind: str, **parameters: object) -> dict[str, object]:
    return {"type": kind, "parameters": parameters}


def _fill(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text


START_COPY: Final = "/var/lib/taskloom/start"
"""Folder with the copy of the home folder at the start."""

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
    """The text of the program, which runs the command given to it once everything has started."""
    steps, urls = _setup_steps(applications)
    return _PROGRAM.format(copy=START_COPY, steps=json.dumps(steps), urls=json.dumps(urls))
