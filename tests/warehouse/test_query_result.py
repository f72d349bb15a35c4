"""Answers of any query are valid JSON, CSV and Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from taskloom.warehouse.store import Warehouse


def test_columns_of_one_name_are_told_apart(sampled: Warehouse, tmp_path: Path) -> None:
    answer = sampled.query("SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a")

    assert answer.as_dicts() == [{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}]
    answer.write_parquet(tmp_path / "a.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").column_names == ["a", "a_2", "a_1", "a_3"]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_numbers_that_json_does_not_know_are_null(sampled: Warehouse, value: str) -> None:
    answer = sampled.query(f"SELECT '{value}'::DOUBLE AS a, ['{value}'::DOUBLE, 1.5] AS b")

    assert json.loads(json.dumps(answer.as_dicts(), allow_nan=False)) == [{"a": None, "b": [None, 1.5]}]
