"""Finds the browser that runs web applications, and installs one if there is none; and configures its fonts.
If a page names only missing families, its digits and spaces would come from the emoji font. The browser
ignores aliases, so installed fonts get the names of families of other desktops as their own, in fontconfig
settings that only the browser reads."""

import functools
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import brotli

from taskloom.environments.errors import BrowserMissingError, InstallationFailedError
from taskloom.environments.installing.packages import CommandRunner, install_node, install_packages
from taskloom.resources.whole_files import write_whole

PACKAGE = "@sparticuz/chromium@147.0.0"
"""The pinned npm package."""
_ARCHIVES = ("chromium.br", "al2023.tar.br", "fonts.tar.br")
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
"""The Debian package that is installed if root is available."""

_INSTALLATION_HINT = (
    f"Run `taskloom install --browser-only`, or install the Debian package {DEBIAN_PACKAGE}, or set"
    f" {BROWSER_VARIABLE} to the path of a Chromium."
)
_REPLACED_FAMILIES = {
    "Liberation Sans": (
        "-apple-system, BlinkMacSystemFont, Segoe UI, SF Pro Text, SF Pro Display, Roboto, Helvetica Neue,"
        " Ubuntu, Cantarell, Oxygen, Noto Sans, Open Sans, Inter, Verdana, Tahoma, ui-sans-serif"
    ),
    "Liberation Serif": "Georgia, Cambria, Noto Serif, ui-serif",
    "DejaVu Sans Mono": (
        "SFMono-Regular, SF Mono, Menlo, Monaco, Consolas, Ubuntu Mono, Roboto Mono, Noto Sans Mono,"
        " Fira Code, Source Code Pro, ui-monospace"
    ),
}
"""Families of other desktops that pages name, by the font that replaces them."""
FONT_VARIABLE = "FONTCONFIG_FILE"
"""Environment variable that names the fontconfig settings."""
_SYSTEM_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")


@dataclass(frozen=True, slots=True)
class BrowserInstallation:
    """A Chromium that can be started."""

    executable: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables it needs in addition to the caller's: where an unpacked browser finds libraries and fonts."""


def _unpacked_browser(data_folder: Path) -> BrowserInstallation | None:
    folder = data_folder.absolute() / "browser"
    executable = folder / "chromium"
    if not executable.is_file():
        return None
    libraries = [str(folder / "al2023" / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    variables = {"LD_LIBRARY_PATH": os.pathsep.join(libraries), FONT_VARIABLE: str(folder / "fonts.conf")}
    return BrowserInstallation(executable, variables)


def _install_browser_package(data_folder: Path, runner: CommandRunner) -> BrowserInstallation:
    """Fetch and unpack the browser into `data_folder`, completely or not at all."""
    folder = data_folder.absolute() / "browser"
    folder.parent.mkdir(parents=True, exist_ok=True)
    node = install_node(data_folder, runner)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".browser-") as temporary:
        download, unfinished = Path(temporary, "download"), Path(temporary, "browser")
        download.mkdir()
        unfinished.mkdir()
        node.run_npm(["pack", PACKAGE], download, runner)
        archives = _read_archives(download)
        executable = unfinished / "chromium"
        executable.write_bytes(brotli.decompress(archives["chromium.br"]))
        executable.chmod(0o755)
        for name in ("al2023", "fonts"):
            content = io.BytesIO(brotli.decompress(archives[f"{name}.tar.br"]))
            with tarfile.open(fileobj=content) as archive:
                archive.extractall(unfinished / name, filter="data")
        settings = _font_settings([folder / "fonts" / "fonts"], folder / "font-cache")
        (unfinished / "fonts.conf").write_text(settings, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    browser = _unpacked_browser(data_folder)
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


def find_browser(data_folder: Path, programs: Sequence[str] = BROWSER_PROGRAMS) -> BrowserInstallation:
    """The browser that TASKLOOM_BROWSER names, else the first of `programs` that runs, else the unpacked one.

    Raises:
        BrowserMissingError: there is none, or the named one does not run.
    """
    named = os.environ.get(BROWSER_VARIABLE, "").strip()
    if named:
        program = shutil.which(named)
        if program is None or not _runs(program):
            raise BrowserMissingError(
                f"{BROWSER_VARIABLE} names {named!r}, which is not a program that runs here. Correct it or"
                " unset it."
            )
        return BrowserInstallation(Path(program))
    for name in programs:
        program = shutil.which(name)
        if program is not None and _runs(program):
            return BrowserInstallation(Path(program))
    unpacked = _unpacked_browser(data_folder)
    if unpacked is not None:
        return unpacked
    raise BrowserMissingError(f"No Chromium is installed on this machine. {_INSTALLATION_HINT}")


def install_browser(
    data_folder: Path,
    programs: Sequence[str] = BROWSER_PROGRAMS,
    *,
    on_progress: Callable[[str], None] = lambda message: None,
) -> BrowserInstallation:
    """The browser that `find_browser` finds; if it finds none, one is installed first.

    With root, the Debian package is tried first, then an npm package with its own libraries and fonts.

    Raises:
        BrowserMissingError: none could be installed; the message says why each attempt failed.
    """
    try:
        return find_browser(data_folder, programs)
    except BrowserMissingError:
        if os.environ.get(BROWSER_VARIABLE, "").strip():
            raise
    runner = CommandRunner()
    reasons = []
    try:
        on_progress(f"installing the Debian package {DEBIAN_PACKAGE}")
        install_packages((DEBIAN_PACKAGE,), runner)
        return find_browser(data_folder, programs)
    except (InstallationFailedError, BrowserMissingError) as error:
        reasons.append(str(error))
    try:
        on_progress("installing the browser's npm package")
        return _install_browser_package(data_folder, runner)
    except (InstallationFailedError, OSError) as error:
        reasons.append(str(error))
    raise BrowserMissingError(f"No Chromium could be installed. {' '.join(reasons)} {_INSTALLATION_HINT}")


@functools.cache
def _runs(program: str) -> bool:
    """Whether the program is a browser that starts; Ubuntu's `chromium-browser` only asks for a snap."""
    try:
        result = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0 and any(name in result.stdout.lower() for name in (b"chrom", b"headless"))


def _font_settings(folders: Iterable[str | os.PathLike[str]], cache: Path) -> str:
    """Settings for fontconfig: fonts of `folders` and the system, with the names of `_REPLACED_FAMILIES`."""
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">', "<fontconfig>"]
    lines += [f"  <dir>{escape(os.fspath(folder))}</dir>" for folder in (*folders, *_SYSTEM_FONTS)]
    lines += [
        f"  <cachedir>{escape(str(cache))}</cachedir>",
        '  <include ignore_missing="yes">/etc/fonts/conf.d</include>',
    ]
    for font, names in _REPLACED_FAMILIES.items():
        lines.append(f'  <match target="scan"><test name="family"><string>{escape(font)}</string></test>')
        lines += [
            f'    <edit name="family" mode="append"><string>{escape(name)}</string></edit>'
            for name in names.split(", ")
        ]
        lines.append("  </match>")
    return "\n".join((*lines, "</fontconfig>", ""))


def font_settings(data_folder: Path) -> Path:
    """A file of fontconfig settings for the system's fonts, written if needed, with its cache beside it."""
    folder = data_folder.resolve() / "fonts"
    file, text = folder / "fonts.conf", _font_settings((), folder / "cache")
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    return file
