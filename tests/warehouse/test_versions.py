"""Differences between versions: what is there, what is new, and a query that fails is no difference of
nought."""

from __future__ import annotations

from typing import Any, cast

import pytest

from taskloom.taskgraph.records.task import Intent
from taskloom.warehouse.errors import QueryFailedError, TableMissingError, WarehouseUnavailableError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import differences


class Answer:
    def __init__(self, value: int) -> None:
        self.value = value

    def number(self) -> int:
        return self.value


class Versions:
    """A warehouse with two versions, of which only `query` matters."""

    def __init__(self, missing_in: int | None = None, broken: str = "") -> None:
        self.missing_in = missing_in
        self.broken = broken

    def snapshot_of(self, version: str) -> int:
        return {"v1": 1, "v2": 2}[version]

    def query(self, sql: str, *_: Any) -> Answer:
        if self.broken and self.broken in sql:
            raise QueryFailedError("Conversion Error")
        if f"intents AT (VERSION => {self.missing_in})" in sql:
            raise TableMissingError("Table with name intents does not exist")
        return Answer(4 if "intents" in sql and "EXCEPT" not in sql and "JOIN" not in sql else 0)


def changes(store: Versions) -> dict[str, tuple[int, int, int]]:
    found = differences(cast(Warehouse, store), "v1", "v2")
    return {change.table: (change.added, change.removed, change.changed) for change in found}


def test_rows_of_a_table_that_one_version_lacks_are_added_or_removed() -> None:
    assert changes(Versions()) == {}
    assert changes(Versions(missing_in=1)) == {"intents": (4, 0, 0)}
    assert changes(Versions(missing_in=2)) == {"intents": (0, 4, 0)}


@pytest.mark.parametrize("broken", ["EXCEPT", "JOIN", "LIMIT 0"])
def test_a_query_that_does_not_run_is_an_error(broken: str) -> None:
    with pytest.raises(QueryFailedError, match="Conversion Error"):
        changes(Versions(broken=broken))


def test_a_file_that_is_gone_is_called_missing(warehouse: Warehouse) -> None:
    many = [
        Intent(intent_id=f"i{number}", text=f"Goal {number} " + "x" * 50, subtask_ids=())
        for number in range(5000)
    ]
    warehouse.write(many)
    folder = warehouse.location.data_folder
    assert folder is not None
    stored = [path for path in folder.rglob("*.parquet") if path.parent.name == "intents"]
    assert stored
    for path in stored:
        path.unlink()
    with pytest.raises(WarehouseUnavailableError, match=r"is missing: .*parquet"):
        warehouse.query("SELECT max(text) FROM intents")
