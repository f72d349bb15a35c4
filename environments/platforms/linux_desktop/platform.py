"""Applications of a Linux desktop, in disposable machines. Their image consists of a base, the desktop, one
layer per application, and the server, and is identified by a hash of these; the data folder records
which image is installed, and what it contains. No image is removed, because other data folders may use it."""

import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import Field

from taskloom.environments.environment import Environment
from taskloom.environments.errors import InstallationFailedError, MachineUnavailableError
from taskloom.environments.installing.packages import CommandRunner, install_packages
from taskloom.environments.lookup import InstallationResult
from taskloom.environments.machines.engine import (
    Engine,
    EngineName,
    installed_engines,
    no_engine,
    remove_orphans,
    working_engine,
)
from taskloom.environments.machines.machine import Machine, MachineMaker
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.applications import Application
from taskloom.resources.record import Record

DEBIAN = "bookworm"
"""Debian release of the machines."""
_OWN_BASE = "localhost/taskloom-debian:12"
_REGISTRY_BASE = "docker.io/library/debian:12-slim"
_COMMAND = "taskloom install --platform linux_desktop"
_MIRROR = "http://deb.debian.org/debian"
_IMAGE = "localhost/taskloom-desktop"
_HERE = Path(__file__).parent
_SERVER = Path("taskloom/environments/platforms/linux_desktop/server")
_MARK = "taskloom-application="
_MARKED_LAYER = re.compile(_MARK + r"(\w+)")
_LAYERS_PLACEHOLDER = "# >>> applications"
_BUILD_SECONDS = 3600
_PULL_SECONDS = 90
_SMALLEST_FREE_BYTES = 3_000_000_000
Say = Callable[[str], None]
SETTINGS = LinuxDesktopSettings


class InstalledImage(Record):
    """The installed image and its content."""

    image: str
    """Name with tag."""
    recipe: str
    """Hash of the build file, the server and the home, without the applications."""
    packages: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Debian packages per application, in the order of their layers."""


def installed_image(data_folder: Path) -> InstalledImage | None:
    """The installed image, or None."""
    try:
        return InstalledImage.model_validate_json(_stamp(data_folder).read_bytes())
    except (OSError, ValueError):
        return None


def applications() -> tuple[Application, ...]:
    """Empty: the catalogue has all desktop applications."""
    return ()


def missing(application: Application, data_folder: Path) -> str:
    """What `application` still needs before it can start, as text for people; empty if nothing is missing."""
    installed = installed_image(data_folder)
    if installed is None:
        return f"there is no desktop to start {application.title} in; run: {_COMMAND}"
    if installed.recipe != _recipe():
        return f"the desktop's image is of another version of taskloom; run: {_COMMAND}"
    if installed.packages.get(application.name) != application.installation.apt:
        return f"{application.title} is not in the desktop's image; run: {_COMMAND}"
    return ""


def prepare(data_folder: Path, say: Say) -> str:
    """Find or install a container engine and a base image; describe both.

    Raises:
        MachineUnavailableError: one is missing and cannot be installed.
    """
    engine, base = engine_and_base(say)
    return f"machines: containers of {' '.join((engine.program, *engine.program_options))}, based on {base}"


def create(settings: Record) -> Environment:
    """A new environment, whose machines are containers of the installed image."""
    from taskloom.environments.platforms.linux_desktop.environment import DesktopEnvironment

    known = LinuxDesktopSettings.model_validate(settings, from_attributes=True)
    return DesktopEnvironment(known, container_maker(known))


def container_maker(settings: LinuxDesktopSettings) -> MachineMaker:
    """A function that makes containers of the installed image."""
    cleaned: list[bool] = []

    def make(folder: Path) -> Machine:
        installed = installed_image(settings.data_folder)
        if installed is None:
            raise MachineUnavailableError(
                f"No desktop is installed in {settings.data_folder}; run: {_COMMAND}"
            )
        engine = working_engine(installed.image, settings.engine)
        if not cleaned:
            remove_orphans(engine)
            cleaned.append(True)
        return Machine(engine, installed.image, folder, settings.display_size, settings.machine_memory)

    return make


def install(applications: Sequence[Application], data_folder: Path, say: Say) -> list[InstallationResult]:
    """Add `applications` to the image, building it if necessary; return the result of each.

    An application whose packages cannot be installed is left out, with the reason.

    Raises:
        MachineUnavailableError: there is no engine or no base image; the message says what to do.
        InstallationFailedError: the disk is full, or the desktop itself cannot be built.
    """
    started = time.monotonic()
    data_folder.mkdir(parents=True, exist_ok=True)
    _require_disk_space()
    working, base = engine_and_base(say)
    remove_orphans(working)
    installed = installed_image(data_folder)
    previous = installed.packages if installed else {}
    wanted = {item.name: item.installation.apt for item in applications}
    layers = {**previous, **dict(sorted(wanted.items()))}
    failed: dict[str, str] = {}
    while True:
        recipe = _recipe()
        image = f"{_IMAGE}:{_hash(base, recipe, repr(sorted(layers.items())))}"
        if working.has_image(image):
            break
        try:
            say(f"building {image} with {', '.join(layers) or 'no application'}")
            _build(working, base, image, layers)
            break
        except MachineUnavailableError as error:
            marked = _MARKED_LAYER.findall(str(error))
            if not marked or marked[-1] not in layers:
                raise InstallationFailedError(f"The desktop could not be built: {error}") from error
            failed[marked[-1]] = str(error).rpartition("failed: ")[2]
            del layers[marked[-1]]
    _stamp(data_folder).parent.mkdir(parents=True, exist_ok=True)
    stamp = InstalledImage(image=image, recipe=recipe, packages=layers)
    _stamp(data_folder).write_text(stamp.model_dump_json(indent=1), encoding="utf-8")
    size = int(working.call("image", "inspect", "--format", "{{.Size}}", image) or 0)
    seconds, results = time.monotonic() - started, []
    for name in (item.name for item in applications):
        result = InstallationResult(application=name, outcome="skipped", seconds=seconds, size_bytes=size)
        if name in failed:
            result = result.model_copy(update={"outcome": "failed", "reason": failed[name], "size_bytes": 0})
        elif previous.get(name) != layers.get(name):
            result = result.model_copy(update={"outcome": "installed"})
        results.append(result)
    return results


def engine_and_base(say: Say, wanted: EngineName = "automatic") -> tuple[Engine, str]:
    """A working engine and the base image; missing ones are installed if possible.

    Raises:
        MachineUnavailableError: one is missing and cannot be installed; the message says what to do.
    """
    base = _base(_engine(say, wanted), say)
    return working_engine(base, wanted), base


def _engine(say: Say, wanted: EngineName) -> Engine:
    """An engine that answers; if none does, podman is installed if that is allowed."""
    reasons: list[str] = []
    engine = _find_engine(wanted, reasons)
    if engine is None and wanted != "docker" and "podman" not in installed_engines():
        say("installing podman")
        try:
            install_packages(("podman", "runc"), CommandRunner())
        except InstallationFailedError as error:
            raise MachineUnavailableError(no_engine([*reasons, str(error)], wanted)) from error
        engine = _find_engine("podman", reasons)
    if engine is None:
        raise MachineUnavailableError(no_engine(reasons, wanted))
    return engine


def _find_engine(wanted: EngineName, reasons: list[str]) -> Engine | None:
    """The first installed engine that answers; failures of others are appended to `reasons`."""
    for name in installed_engines(wanted):
        try:
            Engine(name).call("info", "--format", "{{.Driver}}" if name == "docker" else "{{.Host.Arch}}")
            return Engine(name)
        except MachineUnavailableError as error:
            reasons.append(str(error))
    return None


def _base(engine: Engine, say: Say) -> str:
    """The base image: an existing one, else one from a registry, else one made by debootstrap."""
    for name in (_OWN_BASE, _REGISTRY_BASE):
        if engine.has_image(name):
            return name
    say(f"fetching {_REGISTRY_BASE}")
    try:
        engine.call("pull", _REGISTRY_BASE, seconds=_PULL_SECONDS)
        return _REGISTRY_BASE
    except MachineUnavailableError as error:
        say(f"no registry of images can be reached; making the base with debootstrap ({error})"[:240])
    runner = CommandRunner()
    try:
        install_packages(("debootstrap",), runner)
        with tempfile.TemporaryDirectory(prefix="taskloom-debian-") as folder:
            tree, archive = Path(folder, "tree"), Path(folder, "tree.tar")
            runner.run(["debootstrap", "--variant=minbase", DEBIAN, tree, _MIRROR], timeout_seconds=1800)
            shutil.rmtree(tree / "var/cache/apt/archives", ignore_errors=True)
            runner.run(["tar", "-C", tree, "-cf", archive, "."])
            engine.call("import", str(archive), _OWN_BASE, seconds=600)
    except InstallationFailedError as error:
        raise MachineUnavailableError(
            f"There is no base image for the desktop: no registry can be reached, and {error} debootstrap"
            f" needs root. Load an image of Debian 12 and tag it {_OWN_BASE}."
        ) from error
    return _OWN_BASE


def _build(engine: Engine, base: str, image: str, layers: dict[str, tuple[str, ...]]) -> None:
    lines = [
        f"RUN : {_MARK}{name} && apt-get install -y {' '.join(packages)}"
        for name, packages in layers.items()
        if packages
    ]
    with tempfile.TemporaryDirectory(prefix="taskloom-image-") as folder:
        machine, file = Path(folder, "machine"), Path(folder, "Containerfile")
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(_HERE / "image" / "home", Path(folder, "home"))
        shutil.copytree(_HERE / "image" / "modules", machine / "modules", ignore=compiled)
        shutil.copytree(_HERE / "server", machine / _SERVER, ignore=compiled)
        shutil.copy(_HERE / "image" / "session", machine)
        for above in _SERVER.parents[:-1]:
            (machine / above / "__init__.py").touch()
        text = (_HERE / "image" / "Containerfile").read_text()
        file.write_text(text.replace(_LAYERS_PLACEHOLDER, "\n".join(lines)), encoding="utf-8")
        options = ("--network", "host", "--build-arg", f"BASE={base}", "--file", str(file), "--tag", image)
        engine.call("build", *options, folder, seconds=_BUILD_SECONDS)


def _recipe() -> str:
    inside = sorted(file for part in ("image", "server") for file in (_HERE / part).rglob("*"))
    files = (file for file in inside if file.is_file() and file.parent.name != "__pycache__")
    files = (file for file in files if file.parent.name != "server" or file.suffix == ".py")
    return _hash(*(f"{file.relative_to(_HERE)}\0{file.read_text()}" for file in files))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _stamp(data_folder: Path) -> Path:
    return data_folder / "machines" / "linux_desktop.json"


def _require_disk_space() -> None:
    place = Path("/var/lib") if Path("/var/lib").exists() else Path.home()
    free = shutil.disk_usage(place).free
    if free < _SMALLEST_FREE_BYTES:
        raise InstallationFailedError(
            f"Only {free // 1_000_000} MB are free for images at {place}; the desktop needs"
            f" {_SMALLEST_FREE_BYTES // 1_000_000} MB. Free some space and install again."
        )
