"""Installing applications: idempotent, isolated, and honest about failures. Sites stand in for packages from
afar."""

import json
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from taskloom.environments.errors import InstallationFailedError
from taskloom.environments.installing.applications import (
    install_applications,
    installed_place,
    is_installed,
    missing_for_start,
)
from taskloom.environments.installing.packages import CommandRunner
from taskloom.environments.lookup import InstallationResult
from taskloom.resources.applications import Application, Installation

CATALOGUE = Path(__file__).parent / "catalogue"


def application(name: str = "board", catalogue: Path = CATALOGUE, **recipe: object) -> Application:
    return Application(
        name=name,
        title=name.title(),
        category="Utility",
        version="1",
        licence="MIT",
        description="An application.",
        manual="None.",
        catalog_folder=str(catalogue),
        installation=Installation.model_validate(recipe or {"site": {"index.html": "asset:page.html"}}),
    )


def install(applications: list[Application], data: Path) -> list[InstallationResult]:
    return install_applications(applications, data)


def test_installs_a_static_site_from_catalogue_assets(tmp_path: Path) -> None:
    board = application()
    (result,) = install([board], tmp_path)
    assert result.outcome == "installed"
    assert result.size_bytes > 0
    assert (installed_place(board, tmp_path) / "site/index.html").read_text() == "<h1>page</h1>\n"
    assert is_installed(board, tmp_path)


def test_a_second_call_skips_what_is_there(tmp_path: Path) -> None:
    board = application()
    install([board], tmp_path)
    page = installed_place(board, tmp_path) / "site/index.html"
    page.write_text("kept")
    (result,) = install([board], tmp_path)
    assert result.outcome == "skipped"
    assert page.read_text() == "kept"


def test_a_half_finished_installation_is_made_anew(tmp_path: Path) -> None:
    board = application()
    place = installed_place(board, tmp_path)
    place.mkdir(parents=True)
    (place / "rubbish").write_text("left by a killed installation")
    (result,) = install([board], tmp_path)
    assert result.outcome == "installed"
    assert not (place / "rubbish").exists()


@pytest.mark.parametrize("stamp", ["", "{}", "[1", json.dumps({"recipe": "another", "size_bytes": 1})])
def test_a_broken_or_foreign_stamp_means_not_installed(tmp_path: Path, stamp: str) -> None:
    board = application()
    place = installed_place(board, tmp_path)
    place.mkdir(parents=True)
    (place / "installed.json").write_text(stamp)
    assert not is_installed(board, tmp_path)


def test_a_changed_recipe_is_installed_again(tmp_path: Path) -> None:
    install([application()], tmp_path)
    changed = application(site={"start.html": "asset:page.html"})
    assert not is_installed(changed, tmp_path)
    (result,) = install([changed], tmp_path)
    assert result.outcome == "installed"
    place = installed_place(changed, tmp_path)
    assert sorted(path.name for path in (place / "site").iterdir()) == ["start.html"]


def test_a_failing_application_leaves_the_others_alone(tmp_path: Path) -> None:
    broken = application("broken", site={"index.html": "node_modules/absent/index.html"})
    results = install([broken, application()], tmp_path)
    assert [(result.application, result.outcome) for result in results] == [
        ("broken", "failed"),
        ("board", "installed"),
    ]
    assert "node_modules/absent/index.html" in results[0].reason
    assert not is_installed(broken, tmp_path)
    assert "taskloom install --only broken" in missing_for_start(broken, tmp_path)


def test_refuses_a_site_path_outside_the_site(tmp_path: Path) -> None:
    (result,) = install([application(site={"../../escaped.html": "asset:page.html"})], tmp_path)
    assert result.outcome == "failed"
    assert "leads out" in result.reason
    assert not list(tmp_path.rglob("escaped.html"))


def test_a_full_disk_is_said_clearly(tmp_path: Path) -> None:
    (result,) = install_applications([application()], tmp_path, smallest_free_bytes=1 << 60)
    assert result.outcome == "failed"
    assert "MB are free" in result.reason


def test_a_data_folder_that_is_a_file_is_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(InstallationFailedError, match="--data"):
        install([application()], tmp_path / "data")


@pytest.fixture
def package_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of one package, `tiny-board` 1.0, that holds a module and a web page."""
    folder = tmp_path / "index"
    folder.mkdir()
    files = {
        "tiny_board.py": "NAME = 'tiny'\n",
        "tiny_board-1.0.data/data/share/page.html": "<h1>tiny</h1>",
        "tiny_board-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-board\nVersion: 1.0\n",
        "tiny_board-1.0.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = "".join(f"{name},,\n" for name in files) + "tiny_board-1.0.dist-info/RECORD,,\n"
    with zipfile.ZipFile(folder / "tiny_board-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in {**files, "tiny_board-1.0.dist-info/RECORD": record}.items():
            wheel.writestr(name, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


@pytest.mark.usefixtures("package_index")
def test_installs_pinned_packages_into_an_environment_of_their_own(tmp_path: Path) -> None:
    wanted = application(pip=("tiny-board==1.0",))
    (result,) = install([wanted], tmp_path)
    assert result.outcome == "installed", result.reason
    python = installed_place(wanted, tmp_path) / "venv" / "bin" / "python"
    said = subprocess.run(
        [python, "-c", "import tiny_board; print(tiny_board.NAME)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "tiny\n"
    (tmp_path / "link").symlink_to(tmp_path)
    assert is_installed(wanted, tmp_path / "link")
    assert installed_place(wanted, tmp_path / "link") == installed_place(wanted, tmp_path)
    python.unlink()
    assert not is_installed(wanted, tmp_path)


@pytest.mark.usefixtures("package_index")
def test_what_names_its_place_is_installed_again_where_the_data_folder_was_moved(tmp_path: Path) -> None:
    board, site = application(pip=("tiny-board==1.0",)), application("site")
    install([board, site], tmp_path / "data")
    (tmp_path / "data").rename(tmp_path / "moved")
    assert [is_installed(item, tmp_path / "moved") for item in (board, site)] == [False, True]
    assert [item.outcome for item in install([board, site], tmp_path / "moved")] == ["installed", "skipped"]
    assert is_installed(board, tmp_path / "moved")


@pytest.mark.usefixtures("package_index")
def test_a_wheel_is_only_unpacked_and_may_feed_the_site(tmp_path: Path) -> None:
    page = "wheels/tiny-board/tiny_board-1.0.data/data/share"
    wanted = application(unpacked_wheels=("tiny-board==1.0",), site={".": page})
    (result,) = install([wanted], tmp_path)
    assert result.outcome == "installed", result.reason
    assert (installed_place(wanted, tmp_path) / "site/page.html").read_text() == "<h1>tiny</h1>"


@pytest.mark.usefixtures("package_index")
def test_a_version_that_does_not_exist_is_reported_with_its_name(tmp_path: Path) -> None:
    (result,) = install([application(pip=("tiny-board==9.9",))], tmp_path)
    assert result.outcome == "failed"
    assert "tiny-board==9.9" in result.reason


def test_two_installations_into_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    inside, go_on = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def hold_the_lock(words: str) -> None:
        assert not words.startswith("waiting")
        inside.set()
        assert go_on.wait(30)

    def wait_for_it(words: str) -> None:
        if words.startswith("waiting"):
            go_on.set()
        elif words.endswith(": installing"):
            outcomes.append(words)

    def install_and_note(say: Callable[[str], None]) -> None:
        (result,) = install_applications([application()], tmp_path, say)
        outcomes.append(result.outcome)

    first = threading.Thread(target=install_and_note, args=(hold_the_lock,))
    second = threading.Thread(target=install_and_note, args=(wait_for_it,))
    first.start()
    assert inside.wait(30)
    second.start()
    first.join(30)
    second.join(30)
    assert outcomes == ["installed", "skipped"]


def test_a_changed_asset_is_installed_again(tmp_path: Path) -> None:
    page = tmp_path / "catalogue" / "assets" / "page.html"
    page.parent.mkdir(parents=True)
    page.write_text("first")
    board = application(catalogue=tmp_path / "catalogue")
    install([board], tmp_path)
    page.write_text("second")
    (result,) = install([board], tmp_path)
    assert result.outcome == "installed"
    assert (installed_place(board, tmp_path) / "site/index.html").read_text() == "second"


def test_an_asset_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    (result,) = install([application(site={"index.html": "asset:absent.html"})], tmp_path)
    assert result.outcome == "failed"
    assert "absent.html" in result.reason


def test_progress_names_what_begins_and_what_ended(tmp_path: Path) -> None:
    said: list[str] = []
    install_applications([application("a"), application("b")], tmp_path, said.append)
    begun = [words.removesuffix(": installing") for words in said if words.endswith(": installing")]
    ended = [words.partition(": installed in")[0] for words in said if ": installed in" in words]
    assert sorted(begun) == sorted(ended) == ["a", "b"]


def test_a_failing_program_is_reported_with_what_it_said() -> None:
    with pytest.raises(InstallationFailedError, match="ERROR: no such version"):
        CommandRunner().run([sys.executable, "-c", "print('ERROR: no such version'); raise SystemExit(3)"])


def test_a_program_that_meets_a_full_disk_is_reported_as_such() -> None:
    with pytest.raises(InstallationFailedError, match="The disk is full"):
        CommandRunner().run(
            [sys.executable, "-c", "raise SystemExit('OSError: [Errno 28] No space left on device')"]
        )


def test_a_missing_program_is_reported() -> None:
    with pytest.raises(InstallationFailedError, match="cannot be started"):
        CommandRunner().run(["/nonexistent/program"])


def test_a_program_that_hangs_is_stopped() -> None:
    with pytest.raises(InstallationFailedError, match="took longer"):
        CommandRunner().run([sys.executable, "-c", "import time; time.sleep(60)"], timeout_seconds=0.5)


def test_a_stopped_runner_ends_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    runner = CommandRunner()
    started = tmp_path / "started"
    failures: list[str] = []

    def run() -> None:
        try:
            runner.run(
                [
                    sys.executable,
                    "-c",
                    f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(60)",
                ]
            )
        except InstallationFailedError as error:
            failures.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    pause = threading.Event()
    while not started.exists():
        pause.wait(0.01)
    runner.stop()
    thread.join(30)
    assert len(failures) == 1
    with pytest.raises(InstallationFailedError, match="was stopped"):
        runner.run([sys.executable, "-c", ""])
