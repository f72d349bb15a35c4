"""What is said where the desktop, or an application in it, is not installed; nothing is built here."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from taskloom.environments.errors import InstallationFailedError, MachineUnavailableError
from taskloom.environments.lookup import missing_for_start
from taskloom.environments.machines.engine import Engine
from taskloom.environments.platforms.linux_desktop import platform as installing
from taskloom.environments.platforms.linux_desktop.platform import (
    InstalledImage,
    container_maker,
    install,
    installed_image,
)
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.applications import Application, Installation


def application(name: str, *packages: str) -> Application:
    return Application(
        name=name,
        title=name.title(),
        category="Utility Tools",
        platform="linux_desktop",
        version="1",
        licence="MIT",
        description="A program.",
        manual="Use it.",
        installation=Installation(apt=packages),
    )


EDITOR, TABLES = application("editor", "editor"), application("tables", "tables", "fonts")


class PlayedEngine(Engine):
    """An engine whose builds fail for packages that do not exist."""

    images: ClassVar[set[str]] = set()
    builds: ClassVar[list[str]] = []
    removed: ClassVar[list[str]] = []
    absent = "nosuch"

    def call(self, *arguments: str, seconds: float = 60) -> str:
        if arguments[0] == "build":
            text = Path(arguments[arguments.index("--file") + 1]).read_text()
            self.builds.append(text)
            if self.absent in text:
                raise MachineUnavailableError(
                    f'build failed: E: no {self.absent} | STEP "RUN : taskloom-application=tables && apt"'
                )
            self.images.add(arguments[arguments.index("--tag") + 1])
        if arguments[0] in ("rmi", "image") and "inspect" not in arguments:
            self.removed.append(" ".join(arguments))
        return "5" if "Size" in " ".join(arguments) else ""

    def has_image(self, image: str) -> bool:
        return image in self.images


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> PlayedEngine:
    made = PlayedEngine("podman")
    monkeypatch.setattr(PlayedEngine, "images", set())
    monkeypatch.setattr(PlayedEngine, "builds", [])
    monkeypatch.setattr(PlayedEngine, "removed", [])
    monkeypatch.setattr(installing, "engine_and_base", lambda say, wanted="automatic": (made, "base"))
    monkeypatch.setattr(installing, "remove_orphans", lambda engine: [])
    return made


def outcomes(applications: list[Application], data: Path) -> dict[str, str]:
    return {item.application: item.outcome for item in install(applications, data, lambda words: None)}


def test_an_application_more_is_a_layer_more_behind_the_others(engine: PlayedEngine, tmp_path: Path) -> None:
    assert outcomes([TABLES], tmp_path) == {"tables": "installed"}
    assert missing_for_start(TABLES, tmp_path) == ""
    assert "Editor is not in the desktop's image; run: taskloom install" in missing_for_start(
        EDITOR, tmp_path
    )
    assert outcomes([EDITOR], tmp_path) == {"editor": "installed"}
    last = engine.builds[-1]
    assert last.index("apt-get install -y tables fonts") < last.index("apt-get install -y editor")
    assert missing_for_start(TABLES, tmp_path) == missing_for_start(EDITOR, tmp_path) == ""


def test_what_is_there_is_not_built_again(engine: PlayedEngine, tmp_path: Path) -> None:
    install([EDITOR], tmp_path, lambda words: None)
    assert outcomes([EDITOR], tmp_path) == {"editor": "skipped"} and len(engine.builds) == 1


def test_what_cannot_be_installed_is_left_out_with_the_reason(engine: PlayedEngine, tmp_path: Path) -> None:
    broken = application("tables", "nosuch")
    results = {item.application: item for item in install([EDITOR, broken], tmp_path, lambda words: None)}
    assert results["editor"].outcome == "installed"
    assert results["tables"].outcome == "failed" and "no nosuch" in results["tables"].reason
    assert "Tables is not in the desktop's image" in missing_for_start(broken, tmp_path)


def test_without_a_desktop_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    assert "there is no desktop to start Editor in; run: taskloom install" in missing_for_start(
        EDITOR, tmp_path
    )
    with pytest.raises(MachineUnavailableError, match="No desktop is installed in"):
        container_maker(LinuxDesktopSettings(data_folder=tmp_path))(tmp_path)


def test_an_image_that_another_folder_installed_stays(engine: PlayedEngine, tmp_path: Path) -> None:
    outcomes([TABLES], tmp_path / "one")
    outcomes([TABLES], tmp_path / "other")
    outcomes([EDITOR], tmp_path / "one")
    other = installed_image(tmp_path / "other")
    assert other is not None and other.image in engine.images and not engine.removed


def test_an_image_of_another_version_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "machines").mkdir()
    image = InstalledImage(image="old", recipe="old", packages={"editor": ("editor",)})
    (tmp_path / "machines" / "linux_desktop.json").write_text(image.model_dump_json())
    assert "of another version of taskloom" in missing_for_start(EDITOR, tmp_path)
    (tmp_path / "machines" / "linux_desktop.json").write_text("{cut")
    assert "there is no desktop" in missing_for_start(EDITOR, tmp_path)


def test_a_full_disk_is_said_before_anything_is_built(
    engine: PlayedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "_SMALLEST_FREE_BYTES", 10**18)
    with pytest.raises(InstallationFailedError, match=r"MB are free for images .* Free some space"):
        install([EDITOR], tmp_path, lambda words: None)
    assert engine.builds == []


def test_podman_is_installed_where_docker_has_no_daemon(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A client without its daemon is common: it is no engine."""
    asked: list[tuple[str, ...]] = []

    def program(name: str, body: str) -> None:
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def packages(names: tuple[str, ...], runner: object) -> None:
        asked.append(names)
        program("podman", "exit 0")

    program("docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(installing, "installed_engines", lambda wanted="automatic": _there(tmp_path, wanted))
    monkeypatch.setattr(installing, "install_packages", packages)
    monkeypatch.setattr(installing, "working_engine", lambda base, wanted: Engine("podman"))
    engine, _ = installing.engine_and_base(lambda words: None)
    assert engine == Engine("podman")
    assert asked == [("podman", "runc")]
    (tmp_path / "podman").unlink()
    with pytest.raises(MachineUnavailableError, match="Cannot connect to the Docker daemon"):
        installing.engine_and_base(lambda words: None, "docker")
    assert len(asked) == 1, "who asks for docker is not given podman"


def _there(folder: Path, wanted: str) -> list[str]:
    return [
        name for name in ("podman", "docker") if wanted in ("automatic", name) and (folder / name).exists()
    ]
