"""Extensions of DuckDB: checked once in a process, again when their file changes."""

from __future__ import annotations

import duckdb
import pytest

from taskloom.warehouse.storage.extensions import LOCAL, connect_with


@pytest.mark.parametrize("which", ["first", "second"])
def test_every_connection_refuses_unsigned_extensions(which: str) -> None:
    if which == "second":
        connect_with(LOCAL).close()
    connection = connect_with(LOCAL)
    allowed = connection.execute("SELECT current_setting('allow_unsigned_extensions')").fetchone()
    assert allowed == (False,)
    with pytest.raises(duckdb.Error, match="Cannot change"):
        connection.execute("SET allow_unsigned_extensions = true")
    loaded = connection.execute("SELECT extension_name FROM duckdb_extensions() WHERE loaded").fetchall()
    assert {(name,) for name in LOCAL} <= set(loaded)
