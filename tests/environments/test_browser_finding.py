"""Finding a browser: the named one first, then the machine's, then the unpacked package."""

from pathlib import Path

import pytest

from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.installing.browser_finding import (
    BROWSER_PROGRAMS,
    BROWSER_VARIABLE,
    find_browser,
    install_browser,
)

PROGRAMS = tuple(name for name in BROWSER_PROGRAMS if "/" not in name)


def program(path: Path, version: str = "Chromium 147.0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH is one empty folder, which is returned."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    return folder


def test_the_named_browser_comes_first(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(machine / "chromium")
    named = program(tmp_path / "mine" / "browser")
    monkeypatch.setenv(BROWSER_VARIABLE, str(named))
    found = find_browser(tmp_path, PROGRAMS)
    assert found.executable == named


def test_a_named_browser_that_is_absent_is_an_error_and_nothing_is_installed(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(machine / "chromium")
    monkeypatch.setenv(BROWSER_VARIABLE, "/nonexistent/browser")
    with pytest.raises(BrowserMissingError, match="/nonexistent/browser"):
        find_browser(tmp_path, PROGRAMS)
    with pytest.raises(BrowserMissingError, match=BROWSER_VARIABLE):
        install_browser(tmp_path, PROGRAMS)


def test_the_headless_shell_is_preferred_on_the_path(machine: Path, tmp_path: Path) -> None:
    program(machine / "chromium")
    shell = program(machine / "chromium-headless-shell")
    assert find_browser(tmp_path, PROGRAMS).executable == shell


def test_a_program_that_only_advises_another_installation_is_no_browser(
    machine: Path, tmp_path: Path
) -> None:
    program(machine / "chromium-browser", version="please install it otherwise")
    with pytest.raises(BrowserMissingError):
        find_browser(tmp_path, PROGRAMS)


def test_the_unpacked_package_is_used_with_its_libraries_and_fonts(machine: Path, tmp_path: Path) -> None:
    unpacked = program(tmp_path / "browser" / "chromium")
    found = find_browser(tmp_path, PROGRAMS)
    assert found.executable == unpacked
    assert found.environment["LD_LIBRARY_PATH"].startswith(str(tmp_path / "browser" / "al2023" / "lib"))
    assert found.environment["FONTCONFIG_FILE"] == str(tmp_path / "browser" / "fonts.conf")


def test_without_any_browser_the_message_says_how_to_get_one(machine: Path, tmp_path: Path) -> None:
    with pytest.raises(BrowserMissingError) as caught:
        find_browser(tmp_path, PROGRAMS)
    for way in ("taskloom install", "chromium-headless-shell", BROWSER_VARIABLE):
        assert way in str(caught.value)


def test_installing_uses_the_browser_that_is_there(machine: Path, tmp_path: Path) -> None:
    present = program(machine / "chromium")
    said: list[str] = []
    assert install_browser(tmp_path, PROGRAMS, on_progress=said.append).executable == present
    assert said == []
