"""Finds the browser that runs web applications, and installs one if there is none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from taskloom.environments.errors import BrowserMissingError, InstallationFailedError
from taskloom.environments.installing.browser_package import (
    BrowserPackage,
    install_browser_package,
    unpacked_browser,
)
from taskloom.environments.installing.machine_commands import CommandRunner
from taskloom.environments.installing.system_packages import install_packages

BROWSER_VARIABLE = "TASKLOOM_BROWSER"
"""Environment variable that names the browser to use."""
BROWSER_PROGRAMS = (
    "chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "chromium",
    "google-chrome",
    "google-chrome-stable",
    "chromium-browser",
)
"""Programs to look for, best first; the shell starts faster and needs a quarter of the memory per page."""
DEBIAN_PACKAGE = "chromium-headless-shell"
"""The Debian package installed where root is to be had."""

_HOW_TO_GET_ONE = (
    f"Run `taskloom install --browser-only`, or install the Debian package {DEBIAN_PACKAGE}, or set"
    f" {BROWSER_VARIABLE} to the path of a Chromium."
)


@dataclass(frozen=True, slots=True)
class BrowserInstallation:
    """A Chromium that can be started."""

    executable: Path
    """The program."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables it needs beside the caller's own."""
    source: str = "path"
    """Where it comes from: `variable`, `path` or `package`."""


def find_browser(data_folder: Path, programs: Sequence[str] = BROWSER_PROGRAMS) -> BrowserInstallation:
    """The browser named by TASKLOOM_BROWSER, else the first of `programs` that runs, else the one in
    `data_folder`.

    Raises:
        BrowserMissingError: there is none, or the one that TASKLOOM_BROWSER names does not run.
    """
    named = os.environ.get(BROWSER_VARIABLE, "").strip()
    if named:
        program = shutil.which(named)
        if program is None or not _runs(program):
            raise BrowserMissingError(
                f"{BROWSER_VARIABLE} names {named!r}, which is not a program that runs here. Correct it or"
                " unset it."
            )
        return BrowserInstallation(Path(program), {}, "variable")
    for name in programs:
        program = shutil.which(name)
        if program is not None and _runs(program):
            return BrowserInstallation(Path(program), {}, "path")
    package = unpacked_browser(data_folder)
    if package is not None:
        return _of_package(package)
    raise BrowserMissingError(f"No Chromium is installed on this machine. {_HOW_TO_GET_ONE}")


def install_browser(
    data_folder: Path,
    programs: Sequence[str] = BROWSER_PROGRAMS,
    *,
    runner: CommandRunner | None = None,
    on_progress: Callable[[str], None] = lambda message: None,
) -> BrowserInstallation:
    """The browser that `find_browser` finds; if there is none, one is installed first.

    As root, the Debian package is tried first; otherwise, or if that fails, an npm package with its own
    libraries and fonts.

    Raises:
        BrowserMissingError: there is none and none could be installed; the message says why each attempt
            failed.
    """
    try:
        return find_browser(data_folder, programs)
    except BrowserMissingError:
        if os.environ.get(BROWSER_VARIABLE, "").strip():
            raise
    runner = runner or CommandRunner()
    reasons = []
    try:
        on_progress(f"installing the Debian package {DEBIAN_PACKAGE}")
        install_packages((DEBIAN_PACKAGE,), runner)
        return find_browser(data_folder, programs)
    except (InstallationFailedError, BrowserMissingError) as error:
        reasons.append(str(error))
    try:
        on_progress("installing the browser's npm package")
        return _of_package(install_browser_package(data_folder, runner))
    except (InstallationFailedError, OSError) as error:
        reasons.append(str(error))
    raise BrowserMissingError(f"No Chromium could be installed. {' '.join(reasons)} {_HOW_TO_GET_ONE}")


def _of_package(package: BrowserPackage) -> BrowserInstallation:
    return BrowserInstallation(package.executable, package.environment, "package")


@functools.cache
def _runs(program: str) -> bool:
    """Whether the program is a browser that starts; Ubuntu's `chromium-browser` only asks for a snap."""
    try:
        answer = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and any(name in answer.stdout.lower() for name in (b"chrom", b"headless"))
