"""What all tests have in common."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.shared_work import ALL, examples, made_once

Run = Callable[..., tuple[int, str, str]]
"""Runs the command line; exit code, standard output, standard error."""

settings.register_profile("tests", deadline=None, derandomize=True, max_examples=examples(30, 100))
settings.load_profile("tests")

# A script that starts the tests in the background has them, and every program they start, ignore
# interruptions; tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests go first, real applications before all, so that no worker ends with a long one
    alone."""
    ranks: dict[Path, int] = {}
    for item in items:
        rank = 0 if item.get_closest_marker("applications") else 1 if item.get_closest_marker("slow") else 2
        ranks[item.path] = min(rank, ranks.get(item.path, rank))
    items.sort(key=lambda item: ranks[item.path])


def pytest_collection_finish() -> None:
    """The garbage collector does not go through all modules and tests again and again: they stay anyway."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def new_warehouses_are_copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copy an empty warehouse wherever a test makes a new one: to make its tables takes half a second."""
    store = sys.modules.get("taskloom.warehouse.store")
    if store is None:
        yield
        return
    make = store.Warehouse._open_for_writing
    empty = made_once(tmp_path_factory, "empty-warehouse", lambda folder: store.Warehouse(folder).close())

    def copy(self: Any) -> None:
        folder = self.location.folder
        if folder is not None and not (folder / "catalog.sqlite").exists():
            with suppress(OSError):
                shutil.copytree(empty / "data", folder / "data", dirs_exist_ok=True)
                shutil.copyfile(empty / "catalog.sqlite", folder / "catalog.copied")
                with closing(sqlite3.connect(folder / "catalog.copied")) as catalog, catalog:
                    catalog.execute(
                        "UPDATE ducklake_metadata SET value = ? WHERE key = 'data_path'", [f"{folder}/data/"]
                    )
                (folder / "catalog.copied").rename(folder / "catalog.sqlite")
        make(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store.Warehouse, "_open_for_writing", copy)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread_each() -> Iterator[None]:
    """Queries take one thread every day: the workers have the cores already, and a second thread for a few
    rows takes more time than it saves."""
    database = sys.modules.get("taskloom.warehouse.storage.database")
    if database is None or ALL:
        yield
        return
    attach = database._attach

    def attach_with_one(connection: Any, *arguments: Any) -> None:
        attach(connection, *arguments)
        connection.execute("SET threads = 1")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "_attach", attach_with_one)
        yield


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point Prefect at a folder that goes away; must come before the first import of a flow."""
    assert "prefect" not in sys.modules, (
        "something imported Prefect, which reads its settings then, before this"
    )
    home = tmp_path_factory.mktemp("prefect")
    os.environ.pop("PREFECT_API_URL", None)
    os.environ["PREFECT_HOME"] = str(home)
    from taskloom.flows.running import prefect_server
    from taskloom.flows.running.prefect_server import prepare_prefect

    prepare_prefect(home)
    # A command asks a server that is named whether it answers; this one may still be starting.
    prefect_server._LONGEST_ANSWER_SECONDS = prefect_server._LONGEST_START_SECONDS
    with prefect_server.prefect_server():
        yield home


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; returns exit code, standard output and standard error."""
    from taskloom.cli.main import main

    def invoke(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return invoke
