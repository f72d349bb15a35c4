"""One Prefect for all flow tests of a process, in a folder of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point Prefect at a folder that goes away; must come before the first import of a flow."""
    home = tmp_path_factory.mktemp("prefect")
    os.environ.pop("PREFECT_API_URL", None)
    os.environ["PREFECT_HOME"] = str(home)
    from flows.log_setup import prepare_prefect
    from flows.prefect_server import prefect_server

    prepare_prefect(home)
    with prefect_server():
        yield home
