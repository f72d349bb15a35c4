"""Debian packages: which are installed, and installing the missing ones where the user may."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Sequence

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


def install_packages(packages: Sequence[str], runner: CommandRunner) -> list[str]:
    """Install those of `packages` that are missing and return their names.

    Raises:
        InstallationFailedError: this machine has no apt, the user may not use it, or apt fails.
    """
    with _one_at_a_time:
        missing = missing_packages(packages)
        if not missing:
            return []
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
        return missing


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
