from __future__ import annotations

import multiprocessing
import sqlite3
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.servers.template_state import (
    fill_placeholders,
    lay_state,
    prepared_state,
)
from taskloom.resources.applications import Application, LoginForm, Preparation

COUNT = "import pathlib, sys; path = pathlib.Path(sys.argv[1]); path.open('a').write('x')"
DATABASE = """
import sqlite3, sys
connection = sqlite3.connect('d.db'); connection.execute('CREATE TABLE place (path TEXT)')
connection.execute('INSERT INTO place VALUES (?)', (sys.argv[1],)); connection.commit()
"""


def application(*commands: tuple[str, ...], **files: str) -> Application:
    return Application(
        name="wiki",
        title="Wiki",
        category="Note Management",
        version="1",
        licence="MIT",
        description="A wiki.",
        manual="Write.",
        preparation=Preparation(commands=commands, files=files),
    )


def prepare(counter: Path, folder: Path, temporary: Path) -> str:
    """One preparation, to be run in several processes at once."""
    made = application((sys.executable, "-c", COUNT, str(counter)))
    return str(prepared_state(made, folder, {}, temporary))


def test_a_state_is_prepared_once_and_its_own_path_is_rewritten_in_every_copy(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    wiki = application(
        (sys.executable, "-c", COUNT, str(counter)),
        (sys.executable, "-c", DATABASE, "{state}/notes"),
        ("ln", "-s", "settings.cfg", "link"),
        **{
            "settings.cfg": "root={home}\nstate={state}\nport={port}\nother={unknown}\n",
            "deep/page.txt": "page",
        },
    )
    for number in range(2):
        sandbox = Sandbox(tmp_path)
        try:
            sandbox.clear()
            state = sandbox.state_folder("wiki")
            lay_state(prepared_state(wiki, tmp_path / "data", {}, tmp_path), state)
            text = (state / "settings.cfg").read_text()
            assert text == f"root={sandbox.home}\nstate={state}\nport={{port}}\nother={{unknown}}\n"
            assert (state / "deep" / "page.txt").read_text() == "page" and (state / "link").is_symlink()
            connection = sqlite3.connect(state / "d.db")
            assert connection.execute("SELECT path FROM place").fetchall() == [(f"{state}/notes",)]
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            connection.close()
            (state / "deep" / "page.txt").write_text(f"changed {number}")
        finally:
            sandbox.close()
    assert counter.read_text() == "x"


def test_a_changed_recipe_is_prepared_anew(tmp_path: Path) -> None:
    first = prepared_state(application(a="1"), tmp_path / "data", {}, tmp_path)
    second = prepared_state(application(a="2"), tmp_path / "data", {}, tmp_path)
    assert first != second and (second / "state" / "a").read_text() == "2"


def test_what_a_login_starts_is_part_of_the_recipe(tmp_path: Path) -> None:
    def prepared(login: LoginForm | None, *command: str) -> Path:
        wiki = application(a="1")
        preparation = wiki.preparation.model_copy(update={"login": login})
        launch = wiki.launch.model_copy(update={"command": command})
        changed = wiki.model_copy(update={"preparation": preparation, "launch": launch})
        return prepared_state(changed, tmp_path / "data", {}, tmp_path, lambda *_: {})

    login = LoginForm(url_path="/", fields={"name": "ada"})
    assert prepared(None, "serve") == prepared(None, "serve", "--new")
    assert prepared(login, "serve") != prepared(login, "serve", "--new")


def test_processes_that_prepare_at_once_do_it_once(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [pool.submit(prepare, counter, tmp_path / "data", tmp_path) for _ in range(3)]
        places = {job.result() for job in jobs}
    assert len(places) == 1 and counter.read_text() == "x"


def test_a_failing_command_is_reported_with_what_it_printed_and_tried_again(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ApplicationUnavailableError, match=r"Preparing Wiki failed.*no such table"):
            prepared_state(
                application(("sh", "-c", "echo no such table; exit 1")), tmp_path / "data", {}, tmp_path
            )
    with pytest.raises(ApplicationUnavailableError, match="Preparing Wiki failed"):
        prepared_state(application(("/no/such/program",)), tmp_path / "data", {}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["data"], "a failed preparation leaves its sandbox"


def test_a_prepared_file_outside_the_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ApplicationUnavailableError, match="outside its state"):
        prepared_state(application(**{"../../x": "x"}), tmp_path / "data", {}, tmp_path)


def test_only_named_placeholders_are_filled() -> None:
    assert fill_placeholders("{a} {b} {'json': 1}", {"a": "1"}) == "1 {b} {'json': 1}"
