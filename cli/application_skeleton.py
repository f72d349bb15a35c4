"""The skeleton of a catalogue entry for a new application, filled in from its package's metadata."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from importlib.metadata import PathDistribution
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.scalarstring import LiteralScalarString

from taskloom.flows.errors import CommandError
from taskloom.resources.applications import Application
from taskloom.resources.errors import CatalogError, ExitCode
from taskloom.resources.reading.catalog import load_applications, read_anew

_LONGEST_LICENCE = 60
_LOOKUP_SECONDS = 120
_BUILD_FOLDERS = {"dist", "build", "public", "www"}
_EXAMPLE_FOLDERS = {"archive", "demo", "demos", "doc", "docs", "example", "examples", "test", "tests"}
_MANUAL = """\
TODO: what {title} shows when it opens, what each menu and button does, where it saves files, and what
must be clicked to save. Models read this before they explore, and people read it before they judge.
"""


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """Metadata from a package registry or from the package itself."""

    requirement: str
    """The pinned requirement: `name==version` for pip, `name@version` for npm."""
    version: str
    licence: str = "TODO"
    description: str = "TODO: one sentence."
    scripts: tuple[str, ...] = ()
    """Console scripts of a Python package, or paths of an npm package's programs below `node_modules`."""
    pages: tuple[str, ...] = ()
    """Folders of an npm package that hold an `index.html`, relative to the installation, the likeliest
    first."""


def pypi_facts(package: str) -> PackageFacts:
    """The metadata of PyPI's `package` (such as `name`, `name[extra]` or `name==version`); installs nothing.
    A package published as source only is built, as when it is installed.

    Raises:
        CommandError: there is no such package, or it cannot be built.
    """
    with tempfile.TemporaryDirectory(prefix="taskloom-package-") as folder:
        pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--disable-pip-version-check"]
        _execute([*pip, "--wheel-dir", folder, package], f"PyPI has no usable package {package!r}")
        shutil.unpack_archive(str(next(Path(folder).glob("*.whl"))), folder, "zip")
        info = next(Path(folder).glob("*.dist-info"))
        headers = message_from_string((info / "METADATA").read_text("utf-8"))
        entry_points = PathDistribution(info).entry_points.select(group="console_scripts")
        scripts = tuple(item.name for item in entry_points)
    version = headers["Version"]
    return PackageFacts(
        requirement=f"{headers['Name']}{extras_of(package)}=={version}",
        version=version,
        licence=licence_in(headers),
        description=_sentence(headers["Summary"] or ""),
        scripts=scripts,
    )


def extras_of(package: str) -> str:
    """The extras that a requirement asks for, with their brackets; empty for none.

    >>> extras_of("buku[server]==5.1"), extras_of("datasette")
    ('[server]', '')
    """
    match = re.match(r"[\w.-]+(\[[^\]]*\])", package)
    return match.group(1) if match else ""


def npm_facts(package: str) -> PackageFacts:
    """The metadata of npm's `package` (`name` or `name@version`); downloads it but runs none of its scripts.

    Raises:
        CommandError: npm is missing, or there is no such package.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise CommandError(
            "--from-npm needs npm, which is not on the PATH; install Node.js 18 or newer.",
            ExitCode.MISSING_REQUIREMENT,
        )
    with tempfile.TemporaryDirectory(prefix="taskloom-package-") as folder:
        _execute(
            [npm, "pack", package, "--pack-destination", folder, "--silent"],
            f"npm has no package {package!r}",
        )
        shutil.unpack_archive(str(next(Path(folder).glob("*.tgz"))), folder, "gztar", filter="data")
        root = Path(folder) / "package"
        manifest = json.loads((root / "package.json").read_text("utf-8"))
        pages = sorted((path.parent.relative_to(root) for path in root.rglob("index.html")), key=_page_order)
    name, version = str(manifest["name"]), str(manifest["version"])
    programs = manifest.get("bin") or {}
    paths = [programs] if isinstance(programs, str) else list(programs.values())
    package_folder = f"node_modules/{name}"
    return PackageFacts(
        requirement=f"{name}@{version}",
        version=version,
        licence=str(manifest.get("license") or "TODO"),
        description=_sentence(str(manifest.get("description") or "")),
        scripts=tuple(f"{package_folder}/{str(path).removeprefix('./')}" for path in paths),
        pages=tuple((Path(package_folder) / page).as_posix() for page in pages),
    )


def skeleton(
    name: str,
    title: str,
    category: str,
    facts: PackageFacts,
    *,
    from_npm: bool,
    command: str = "",
) -> dict[str, object]:
    """The entry as YAML content. It is launched by `command` if given, else through the package's web page if
    it has one, else by its first program with `--port {port}`.

    Raises:
        CommandError: the package has nothing to start.
    """
    installation: dict[str, object] = {"npm" if from_npm else "pip": _flow_list([facts.requirement])}
    launch = _launch_section(facts, from_npm, command)
    return _entry(name, title, category, facts, installation=installation, launch=launch)


def _entry(
    name: str, title: str, category: str, facts: PackageFacts, **sections: dict[str, object]
) -> dict[str, object]:
    return {
        "name": name,
        "title": title,
        "category": category,
        "version": facts.version,
        "licence": facts.licence,
        "description": facts.description,
        **sections,
        "fixtures": _flow_list([]),
        "manual": LiteralScalarString(_MANUAL.format(title=title)),
    }


def running_entry(
    name: str, title: str, category: str, url: str, *, reset_command: str = "", data_folder: str = ""
) -> dict[str, object]:
    """The entry of an application that already runs at `url`.

    Raises:
        CommandError: the URL cannot be split into an address and a page.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if not parts.netloc:
        raise CommandError(f"{url!r} is not a URL; give one such as http://127.0.0.1:5000/.")
    port = "" if parts.port or parts.scheme != "http" else ":80"
    launch: dict[str, object] = {
        "address": f"{parts.scheme}://{parts.netloc}{port}",
        "url_path": urlunsplit(("", "", parts.path or "/", parts.query, parts.fragment)),
    }
    if reset_command:
        launch["reset_command"] = _flow_list(shlex.split(reset_command))
    if data_folder:
        launch["data_folder"] = str(Path(data_folder).expanduser().absolute())
    return _entry(name, title, category, PackageFacts("", "running"), launch=launch)


def limits_of(application: Application) -> tuple[str, ...]:
    """The limitations of an application that already runs, as sentences; empty for all others."""
    launch = application.launch
    if not launch.address:
        return ()
    sentences = ["It has one state for all users, so only one environment, and nobody else, may use it."]
    if not launch.reset_command:
        sentences.append(
            "Nothing resets it between attempts, so names of new things must differ from all earlier ones and"
            " what is deleted stays deleted. Give a command that restores its clean state:"
            " launch.reset_command."
        )
    if not launch.data_folder:
        sentences.append(
            "Its data cannot be read, so only what its screen shows can be checked. Name its data folder:"
            " launch.data_folder."
        )
    sentences.append("It is not isolated: what a model types reaches whatever the application can reach.")
    return tuple(sentences)


def write_entry(file: Path, entry: dict[str, object]) -> None:
    """Write `entry` to `file`, and keep it only if the catalogue is valid with it.

    Raises:
        CatalogEntryInvalidError: the entry breaks a rule of the catalogue, such as a name with capital
            letters.
        CommandError: the folder cannot be written.
    """
    writer = YAML()
    writer.width = 140
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            writer.dump(entry, out)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
    read_anew()
    try:
        load_applications(file.parents[1])
    except CatalogError:
        file.unlink()
        raise


def _launch_section(facts: PackageFacts, from_npm: bool, command: str) -> dict[str, object]:
    if command:
        return {"command": _flow_list(shlex.split(command)), "url_path": "/"}
    if facts.pages:
        return {"serve": f"{{install}}/{facts.pages[0]}", "url_path": "/index.html"}
    if not facts.scripts:
        raise CommandError(
            f"{facts.requirement} provides neither a web page nor a program; say how to start it"
            ' with --command, such as "{venv}/bin/python -m NAME --port {port}".'
        )
    program = facts.scripts[0]
    start = ["{node}", f"{{install}}/{program}"] if from_npm else [f"{{venv}}/bin/{program}"]
    return {"command": _flow_list([*start, "--port", "{port}"]), "url_path": "/"}


def _page_order(folder: Path) -> tuple[bool, bool, int, str]:
    """Sort key: built pages first, examples and documentation last."""
    parts = {part.casefold() for part in folder.parts}
    return bool(parts & _EXAMPLE_FOLDERS), not parts & _BUILD_FOLDERS, len(folder.parts), folder.as_posix()


def _flow_list(values: list[str]) -> CommentedSeq:
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


def licence_in(headers: Message) -> str:
    """The licence named by a package's metadata: an expression, classifiers, or a single line that is a name
    rather than a text; else `TODO`.

    >>> licence_in(message_from_string("License: Copyright 2026 A. Person"))
    'TODO'
    """
    if headers["License-Expression"]:
        return str(headers["License-Expression"]).strip()
    classified = [
        str(item).rpartition("::")[2].strip()
        for item in headers.get_all("Classifier", [])
        if str(item).startswith("License ::") and str(item).count("::") > 1
    ]
    if classified:
        return ", ".join(dict.fromkeys(classified))
    line = str(headers["License"] or "").strip()
    is_name = "\n" not in line and len(line) <= _LONGEST_LICENCE and "copyright" not in line.casefold()
    return line if line and line != "UNKNOWN" and is_name else "TODO"


def _sentence(text: str) -> str:
    stripped = " ".join(text.split())
    if not stripped:
        return "TODO: one sentence."
    return stripped if stripped.endswith(".") else f"{stripped}."


def _execute(arguments: list[str], problem: str) -> None:
    try:
        result = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            timeout=_LOOKUP_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{problem}: no answer within {_LOOKUP_SECONDS} s.") from None
    if result.returncode != 0:
        lines = [
            line
            for line in (result.stderr or result.stdout).strip().splitlines()
            if "warning" not in line.casefold()
        ]
        raise CommandError(f"{problem}: {lines[-1] if lines else 'no reason given'}")
