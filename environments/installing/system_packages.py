"""Debian packages: which are installed, and installing the missing ones where one may; Python packages."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path

from taskloom.environments.errors import InstallationFailedError
from taskloom.environments.installing.machine_commands import CommandRunner, administrator_prefix

OPTIONAL_TOOLS = {
    "tesseract-ocr": "reads text off screenshots",
    "tesseract-ocr-eng": "reads text off screenshots",
    "libatomic1": "the browser driver's own Node needs it",
    "bubblewrap": "shuts generated code and applications in",
    "fonts-dejavu-core": "shows text",
    "fonts-droid-fallback": "shows text in Chinese, Japanese and Korean",
    "fonts-liberation": "shows text of pages that ask for Arial, Helvetica, Times or Courier",
    "fonts-noto-color-emoji": "shows pictographs that some applications use as icons",
}
"""Packages taskloom runs without, and what each is for."""

_WAIT_FOR_OTHER_APT = ("-o", "DPkg::Lock::Timeout=300")
_one_at_a_time = threading.Lock()


def missing_packages(packages: Sequence[str]) -> list[str]:
    """Those of `packages` that are not installed; all of them where there is no dpkg."""
    if shutil.which("dpkg-query") is None:
        return list(packages)
    return [package for package in packages if not _is_installed(package)]


def install_packages(packages: Sequence[str], runner: CommandRunner) -> None:
    """Install those of `packages` that are missing.

    Raises:
        InstallationFailedError: this machine has no apt, the user may not use it, or apt fails.
    """
    with _one_at_a_time:
        missing = missing_packages(packages)
        if not missing:
            return
        names = " ".join(missing)
        if shutil.which("apt-get") is None:
            raise InstallationFailedError(
                f"The system packages {names} are missing and there is no apt-get here."
            )
        prefix = administrator_prefix()
        if prefix is None:
            raise InstallationFailedError(
                f"The system packages {names} are missing. Ask an administrator to run: apt-get install"
                f" {names}"
            )
        apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *_WAIT_FOR_OTHER_APT]
        runner.run([*apt, "update"])
        runner.run([*apt, "install", "-y", "--no-install-recommends", *missing], timeout_seconds=1800)


def install_optional_tools(runner: CommandRunner) -> dict[str, str]:
    """Install optional packages; returns the reason for each one that is still missing.

    Never fails: taskloom runs without these packages.
    """
    try:
        install_packages(tuple(OPTIONAL_TOOLS), runner)
    except InstallationFailedError as error:
        return {package: str(error) for package in missing_packages(tuple(OPTIONAL_TOOLS))}
    return {}


def _is_installed(package: str) -> bool:
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return answer.returncode == 0 and answer.stdout == "installed"


_QUIET_PIP = ("--quiet", "--no-input", "--disable-pip-version-check")


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
