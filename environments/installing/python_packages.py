"""Python packages in virtual environments of their own, and wheels that are only unpacked."""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from taskloom.environments.errors import InstallationFailedError
from taskloom.environments.installing.machine_commands import CommandRunner

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


def unpack_wheel(folder: Path, package: str, runner: CommandRunner) -> Path:
    """Download the wheel of pinned `package` and unzip it, alone, into `folder/<name>`, which is returned.

    Raises:
        InstallationFailedError: pip fails, or the package has no wheel.
    """
    name = re.split(r"[=<>!~\[ ]", package, maxsplit=1)[0]
    target = folder / name
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".download-") as downloads:
        if importlib.util.find_spec("pip") is None:
            raise InstallationFailedError(
                f"The wheel of {package} cannot be downloaded: {sys.executable} has no pip. Run:"
                f" {sys.executable} -m ensurepip"
            )
        download = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            downloads,
        ]
        runner.run([*download, *_QUIET_PIP, package])
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    return target
