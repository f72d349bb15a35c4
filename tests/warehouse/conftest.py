from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import records


@pytest.fixture(scope="session")
def empty_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("template") / "empty"
    Warehouse(place).close()
    return place


@pytest.fixture(scope="session")
def filled_template(empty_template: Path) -> Path:
    place = empty_template.with_name("filled")
    shutil.copytree(empty_template, place)
    with Warehouse(place) as opened:
        opened.write(records())
    return place


@pytest.fixture(scope="session")
def published_template(filled_template: Path) -> Path:
    """The sample records, published as v1."""
    place = filled_template.with_name("published")
    shutil.copytree(filled_template, place)
    with Warehouse(place) as opened:
        opened.publish("v1", description="first")
    return place


@pytest.fixture
def warehouse(tmp_path: Path, empty_template: Path) -> Iterator[Warehouse]:
    shutil.copytree(empty_template, tmp_path / "warehouse")
    with Warehouse(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture
def filled(tmp_path: Path, filled_template: Path) -> Iterator[Warehouse]:
    """A warehouse with the sample records, for this test alone."""
    shutil.copytree(filled_template, tmp_path / "warehouse")
    with Warehouse(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture
def published(tmp_path: Path, published_template: Path) -> Iterator[Warehouse]:
    """A warehouse whose version v1 is the sample records, for this test alone."""
    shutil.copytree(published_template, tmp_path / "warehouse")
    with Warehouse(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture(scope="session")
def sampled(filled_template: Path) -> Iterator[Warehouse]:
    """A warehouse with the sample records that no test changes."""
    with Warehouse(filled_template, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse for imports that are all refused, so that it stays empty."""
    return Warehouse(tmp_path_factory.mktemp("imports") / "warehouse")
