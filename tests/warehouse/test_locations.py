from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.errors import WarehouseUnavailable
from warehouse.locations import parse_location
from warehouse.store import Warehouse


def test_a_path_is_a_local_folder(tmp_path: Path) -> None:
    location = parse_location(tmp_path / "w")

    assert location.folder == tmp_path / "w"
    assert location.catalogue == f"sqlite:{tmp_path}/w/catalog.sqlite"


@pytest.mark.parametrize("address", ["mysql://host/db", "s3://bucket/x", "postgresql://host/db"])
def test_addresses_without_catalogue_or_data_are_refused(address: str) -> None:
    with pytest.raises(WarehouseUnavailable, match="s3://"):
        parse_location(address)


def test_a_remote_warehouse_is_refused_without_showing_the_password() -> None:
    with pytest.raises(WarehouseUnavailable, match="remote") as caught:
        Warehouse("postgresql://me:hunter2@host/db?data=s3://bucket/prefix")

    assert "hunter2" not in str(caught.value)
