"""The formats that share a module are listed without importing it, and all are there."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from taskloom.resources.plugins import PluginKind
from taskloom.warehouse.lookup import EXPORTS, IMPORTS


@pytest.mark.parametrize("kind", [EXPORTS, IMPORTS], ids=["exports", "imports"])
def test_listed_functions_are_the_rows_of_the_table(kind: PluginKind[object]) -> None:
    assert kind.functions == tuple(sorted(import_module(kind.table).ROWS))
    assert all(kind.text_of(name) for name in kind.names())


def test_describing_formats_imports_none_of_them() -> None:
    code = (
        "import sys; from taskloom.warehouse.lookup import EXPORTS, IMPORTS\n"
        "EXPORTS.described(), IMPORTS.described()\n"
        "assert not {EXPORTS.table, IMPORTS.table, 'pyarrow', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
