"""Tasks of another world go out with that world's starting data, of a user's own kind too."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.resources.applications import Application, Fixture, Launch
from taskloom.resources.reading.worlds import load_world
from taskloom.resources.worlds import World
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import export, records

FIRST = load_world("")
BAKERY = load_world("bakery-1")
PLACE = next(place for place in FIRST.terms if place.endswith(".file"))
HERE, THERE = FIRST.terms[PLACE], BAKERY.terms[PLACE]


def prepared(warehouse: Warehouse, world: str, *kept: World) -> None:
    """One task, in `world`, whose applications have a file that every world names differently."""
    application = Application(
        name="notes",
        title="Notes",
        category="Office",
        version="1",
        licence="MIT",
        description="",
        manual="",
        launch=Launch(command=("serve",)),
        fixtures=(Fixture(category="csv_path", value=f"Documents/{HERE}", content="a,b\n"),),
    )
    (task,) = (item for item in records() if isinstance(item, Task))
    other = application.model_copy(update={"name": "sheets", "fixtures": ()})
    warehouse.write([application, other, task.model_copy(update={"world": world}), *kept], replace=True)


def written(folder: Path) -> str:
    return "\n".join(
        path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".json") and path.name not in ("manifest.json", "sheet.json")
    )


@pytest.mark.parametrize("format_name", ["osworld", "harbor"])
@pytest.mark.parametrize(
    ("world", "kept"),
    [
        ("bakery-1", ()),
        ("mill-1", (FIRST, BAKERY.model_copy(update={"name": "mill-1", "kind": "mill"}))),
    ],
)
def test_a_task_starts_with_the_data_of_its_world(
    filled: Warehouse, tmp_path: Path, format_name: str, world: str, kept: tuple[World, ...]
) -> None:
    prepared(filled, world, *kept)
    export(filled, format_name, tmp_path / "out")
    text = written(tmp_path / "out")
    assert f"Documents/{THERE}" in text
    assert f"Documents/{HERE}" not in text


@pytest.mark.parametrize("format_name", ["osworld", "harbor", "cua_gym"])
def test_a_world_that_nobody_knows_is_a_reason(filled: Warehouse, tmp_path: Path, format_name: str) -> None:
    prepared(filled, "mill-1")
    with pytest.raises(ExportRefusedError, match="its world mill-1 is of a kind that neither"):
        export(filled, format_name, tmp_path / "out")


def test_worlds_are_kept_record_for_record(filled: Warehouse) -> None:
    filled.write([FIRST, BAKERY])
    assert list(filled.read(World)) == [FIRST, BAKERY]
