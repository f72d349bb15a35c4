"""Every example in a docstring of the packages shows what it says."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from tests.architecture.sources import MODULES, ROOT, module_name

EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)
SERVERS = sorted((ROOT / "tests" / "servers").rglob("*.py"))
WITH_EXAMPLES = [path for path in (*MODULES, *SERVERS) if EXAMPLE.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_are_true(path: Path) -> None:
    module = importlib.import_module(module_name(path))
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert failed == 0


def test_examples_are_found() -> None:
    assert len(WITH_EXAMPLES) > 60
