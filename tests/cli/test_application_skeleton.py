"""`taskloom apps new`: the entry it writes, and what it refuses without leaving anything behind."""

from __future__ import annotations

from email import message_from_string
from pathlib import Path

import pytest

from taskloom.cli.application_skeleton import (
    PackageFacts,
    _page_order,
    extras_of,
    licence_in,
    limits_of,
    pypi_facts,
    running_entry,
    skeleton,
    write_entry,
)
from taskloom.cli.main import main
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import CatalogError
from taskloom.resources.reading.catalog import load_application, load_applications

PYTHON = PackageFacts("board==1.4.0", "1.4.0", "MIT", "A board.", ("board-server",))
PAGE = PackageFacts("@x/page@2.0.0", "2.0.0", pages=("node_modules/@x/page/dist",))


def entry(facts: PackageFacts, name: str = "board", **options: object) -> dict[str, object]:
    npm = "@" in facts.requirement
    return skeleton(name, "Board", "Task Management", facts, from_npm=npm, **options)  # type: ignore[arg-type]


def test_a_python_package_starts_its_console_script_on_the_port(tmp_path: Path) -> None:
    write_entry(tmp_path / "applications" / "board.yaml", entry(PYTHON))
    written = load_application("board", tmp_path)
    assert written.installation.pip == ("board==1.4.0",)
    assert written.launch.command == ("{venv}/bin/board-server", "--port", "{port}")
    assert "TODO" in written.manual and "Board" in written.manual


def test_an_entry_is_known_in_a_catalogue_that_was_read_before(tmp_path: Path) -> None:
    (tmp_path / "applications").mkdir()
    assert "board" not in load_applications(tmp_path)
    write_entry(tmp_path / "applications" / "board.yaml", entry(PYTHON))
    assert load_application("board", tmp_path).version == "1.4.0"


def test_an_npm_package_with_a_page_is_served(tmp_path: Path) -> None:
    write_entry(tmp_path / "applications" / "board.yaml", entry(PAGE))
    written = load_application("board", tmp_path)
    assert written.installation.npm == ("@x/page@2.0.0",)
    assert written.launch.serve == "{install}/node_modules/@x/page/dist"
    assert written.launch.url_path == "/index.html"


def test_a_command_of_the_user_goes_before_any_guess(tmp_path: Path) -> None:
    write_entry(tmp_path / "applications" / "board.yaml", entry(PAGE, command="{node} 'my server.js' {port}"))
    assert load_application("board", tmp_path).launch.command == ("{node}", "my server.js", "{port}")


def test_an_application_that_runs_already_has_an_address_a_first_page_and_its_limits(tmp_path: Path) -> None:
    bare = running_entry("board", "Board", "Task Management", "localhost:5000/projects?view=all")
    write_entry(tmp_path / "applications" / "board.yaml", bare)
    written = load_application("board", tmp_path)
    assert (written.launch.address, written.launch.url_path) == (
        "http://localhost:5000",
        "/projects?view=all",
    )
    said = limits_of(written)
    assert len(said) == 4 and "launch.reset_command" in said[1] and "launch.data_folder" in said[2]
    whole = running_entry(
        "board",
        "Board",
        "Task Management",
        "http://127.0.0.1/",
        reset_command="docker restart 'my board'",
        data_folder="kept",
    )
    write_entry(tmp_path / "other" / "applications" / "board.yaml", whole)
    written = load_application("board", tmp_path / "other")
    assert written.launch.address == "http://127.0.0.1:80"
    assert written.launch.reset_command == ("docker", "restart", "my board")
    assert Path(written.launch.data_folder).is_absolute() and len(limits_of(written)) == 2


def test_an_address_of_another_machine_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="ssh -L"):
        write_entry(
            tmp_path / "applications" / "board.yaml",
            running_entry("board", "Board", "Office", "http://192.0.2.1:80/"),
        )
    assert list((tmp_path / "applications").iterdir()) == []


def test_a_package_without_page_or_program_wants_a_command() -> None:
    with pytest.raises(CommandError, match="--command"):
        entry(PackageFacts("board==1.4.0", "1.4.0"))


def test_built_pages_go_before_examples() -> None:
    folders = [Path("archive/show"), Path("."), Path("dist/editor"), Path("docs/dist")]
    assert sorted(folders, key=_page_order) == [folders[2], folders[1], folders[3], folders[0]]


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        ("License-Expression: MIT OR Apache-2.0\nLicense: x", "MIT OR Apache-2.0"),
        (
            "License: BSD\nClassifier: License :: OSI Approved :: MIT License\nClassifier: Topic :: Office",
            "MIT License",
        ),
        ("Classifier: License :: OSI Approved\nLicense: GPLv3", "GPLv3"),
        ("License: MIT License\n        \n        Copyright (c) 2026 A. Person", "TODO"),
        ("License: UNKNOWN", "TODO"),
        ("Name: board", "TODO"),
    ],
)
def test_a_licence_is_a_name_and_no_text(headers: str, licence: str) -> None:
    assert licence_in(message_from_string(f"{headers}\n\nA description.")) == licence


def test_an_entry_that_breaks_a_rule_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="name"):
        write_entry(tmp_path / "applications" / "Board.yaml", entry(PYTHON, name="Board"))
    assert list((tmp_path / "applications").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["board"], "one of --from-pypi, --from-npm and --url"),
        (["board", "--from-pypi", "a", "--from-npm", "b"], "one of --from-pypi, --from-npm and --url"),
        (["board", "--from-pypi", "a", "--url", "http://127.0.0.1:1/"], "one of --from-pypi"),
        (["board", "--from-pypi", "a", "--reset-command", "b"], "already run (--url)"),
        (["board", "--url", "http://127.0.0.1:1/", "--command", "b"], "needs none"),
        (["board", "--from-pypi", "a", "--category", "Tools"], "'Tools' is not an application category"),
        (["trac", "--from-pypi", "a"], "already an application named 'trac'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_fetched(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["apps", "new", *arguments, "--catalog", str(tmp_path / "mine")])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("package", "extras"),
    [("buku[server]==5.1", "[server]"), ("a-b.c[x,y]", "[x,y]"), ("datasette==1.0", ""), ("/tmp/a[b]", "")],
)
def test_the_extras_of_a_package_are_kept(package: str, extras: str) -> None:
    assert extras_of(package) == extras


BACKEND = """
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "board-1.2-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        info = "board-1.2.dist-info/"
        facts = "Metadata-Version: 2.1\\nName: board\\nVersion: 1.2\\nSummary: A board.\\n"
        wheel.writestr(info + "METADATA", facts)
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nboard = board:main\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


@pytest.mark.slow
def test_a_package_that_comes_as_source_alone_is_built_for_its_facts(tmp_path: Path) -> None:
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    facts = pypi_facts(str(tmp_path))
    assert (facts.requirement, facts.description, facts.scripts) == ("board==1.2", "A board.", ("board",))
