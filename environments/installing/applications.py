"""Installs applications of the catalogue, each in its own folder, so that their dependencies cannot clash."""

import contextlib
import hashlib
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from taskloom.environments.errors import EnvironmentFailureError, InstallationFailedError
from taskloom.environments.installing.packages import (
    CommandRunner,
    find_node,
    install_node,
    install_packages,
    install_python_packages,
    missing_packages,
    unpack_wheel,
)
from taskloom.environments.lookup import InstallationResult
from taskloom.resources.applications import Application, Installation
from taskloom.resources.assets import ASSET_PREFIX, content_of
from taskloom.resources.errors import CatalogError
from taskloom.resources.record import Record
from taskloom.resources.whole_files import write_whole

SMALLEST_FREE_BYTES = 400_000_000
"""Free disk space below which no installation starts, unless the caller gives another limit."""

_STAMP_FILE = "installed.json"
_STAMP_FORMAT = 1


class _InstallationStamp(Record):
    """Written last, so a folder without it is half-finished."""

    recipe: str
    size_bytes: int
    place: str = ""
    """Folder of the installation; programs of packages contain its path, so it cannot be moved."""


def installed_place(application: Application, data_folder: Path) -> Path:
    """The folder of `application` under `data_folder`, installed or not; links in its path are resolved,
    because a confined program sees only their targets."""
    return (data_folder / "applications" / application.name).resolve()


def is_installed(application: Application, data_folder: Path) -> bool:
    """Whether `application` is completely installed by the catalogue's current recipe, its Python still
    exists, and its programs were not moved."""
    place = installed_place(application, data_folder)
    stamp = _read_stamp(place)
    if stamp is None or stamp.recipe != _recipe_hash(application):
        return False
    recipe = application.installation
    if stamp.place and (recipe.pip or recipe.npm) and Path(stamp.place) != place:
        return False
    return not recipe.pip or (place / "venv" / "bin" / "python").exists()


def missing_for_start(application: Application, data_folder: Path) -> str:
    """What `application` still needs before it can start, as text for people; empty if nothing is missing."""
    if not needs_installation(application):
        return ""
    if not is_installed(application, data_folder):
        flag = f" --catalog {application.catalog_folder}" if application.catalog_folder else ""
        return f"{application.title} is not installed; run: taskloom install --only {application.name}{flag}"
    packages = missing_packages(application.installation.apt)
    if packages:
        return f"{application.title} needs the system packages {', '.join(packages)}."
    if application.installation.npm and find_node(data_folder) is None:
        return f"{application.title} needs Node, which is not on this machine any more; run: taskloom install"
    return ""


def needs_installation(application: Application) -> bool:
    """Whether anything has to be installed before `application` can be started."""
    return application.installation != Installation()


def install_applications(
    applications: Sequence[Application],
    data_folder: Path,
    say: Callable[[str], None] = lambda words: None,
    smallest_free_bytes: int = SMALLEST_FREE_BYTES,
) -> list[InstallationResult]:
    """Install `applications` into `data_folder`, two at a time; starts and results are reported to `say`.

    Guarantees that installed applications are skipped, that half-finished ones are installed again, that a
    failure does not stop the others, and that two processes never install into the same folder at once.
    Results are in the order of `applications`.

    Raises:
        InstallationFailedError: the data folder cannot be written.
    """
    with _hold_lock(data_folder, say) as descriptor:
        runner = CommandRunner((descriptor,))

        def install(application: Application) -> InstallationResult:
            result = _install_or_skip(application, data_folder, runner, say, smallest_free_bytes)
            say(result.in_words())
            return result

        with ThreadPoolExecutor(2, thread_name_prefix="install") as pool:
            futures = [pool.submit(install, application) for application in applications]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                runner.stop()
                raise


def _install_or_skip(
    application: Application,
    data_folder: Path,
    runner: CommandRunner,
    say: Callable[[str], None],
    smallest_free_bytes: int,
) -> InstallationResult:
    place, name = installed_place(application, data_folder), application.name
    started = time.monotonic()
    fields: dict[str, Any] = {"outcome": "installed"}
    try:
        if not missing_for_start(application, data_folder):
            stamp = _read_stamp(place)
            size = stamp.size_bytes if stamp else 0
            return InstallationResult(application=name, outcome="skipped", size_bytes=size)
        say(f"{name}: installing")
        free = shutil.disk_usage(data_folder).free
        if free < smallest_free_bytes:
            raise InstallationFailedError(
                f"Only {free // 1_000_000} MB are free for {data_folder}; at least"
                f" {smallest_free_bytes // 1_000_000} MB are needed. Free some space and install again."
            )
        fields["size_bytes"] = _install(application, place, data_folder, runner)
    except OSError as error:
        reason = f"{error.strerror or error}: {error.filename or 'file unknown'}"
        fields = {"outcome": "failed", "reason": reason}
    except (EnvironmentFailureError, CatalogError, zipfile.BadZipFile) as error:
        fields = {"outcome": "failed", "reason": str(error)}
    return InstallationResult(application=name, seconds=time.monotonic() - started, **fields)


def _install(application: Application, place: Path, data_folder: Path, runner: CommandRunner) -> int:
    recipe = application.installation
    if place.exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    install_packages(recipe.apt, runner)
    if recipe.pip:
        install_python_packages(place / "venv", recipe.pip, runner)
    for package in recipe.unpacked_wheels:
        unpack_wheel(place / "wheels", package, runner)
    if recipe.npm:
        node = install_node(data_folder, runner)
        (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        node.run_npm(["install", "--save-exact", *recipe.npm], place, runner)
    _assemble_site(application, place)
    size = sum(path.lstat().st_size for path in place.rglob("*") if not path.is_dir())
    stamp = _InstallationStamp(recipe=_recipe_hash(application), size_bytes=size, place=str(place))
    write_whole(place / _STAMP_FILE, stamp.model_dump_json())
    return size


def _assemble_site(application: Application, install_folder: Path) -> None:
    root = install_folder / "site"
    for target_name, source_name in application.installation.site.items():
        target = root / target_name
        if not target.resolve().is_relative_to(root.resolve()):
            raise InstallationFailedError(f"The site path {target_name!r} leads out of the site's folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source_name.startswith(ASSET_PREFIX):
            target.write_bytes(content_of(source_name, application))
            continue
        source = install_folder / source_name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copyfile(source, target)
        else:
            raise InstallationFailedError(
                f"The site's source {source_name!r} is not in the installed packages."
            )


def _recipe_hash(application: Application) -> str:
    """A hash of everything that determines what is installed, including the content of assets."""
    content = application.installation.model_dump(mode="json") | {"stamp_format": _STAMP_FORMAT}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for source in sorted(application.installation.site.values()):
        if source.startswith(ASSET_PREFIX):
            digest.update(hashlib.sha256(content_of(source, application)).digest())
    return digest.hexdigest()


def _read_stamp(install_folder: Path) -> _InstallationStamp | None:
    try:
        return _InstallationStamp.model_validate_json((install_folder / _STAMP_FILE).read_bytes())
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _hold_lock(data_folder: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the data folder's installation lock; yields its descriptor, which programs inherit."""
    folder = data_folder.absolute() / "applications"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InstallationFailedError(
            f"The data folder {data_folder} cannot be written: {error.strerror}. Choose another one with"
            " --data."
        ) from error
    try:
        if not lock_descriptor(descriptor, blocking=False):
            say(f"waiting for another installation into {data_folder}")
            lock_descriptor(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)
