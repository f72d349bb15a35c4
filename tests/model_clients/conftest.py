"""Fixtures of the tests of model calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.model_clients.ledger.ledger import Ledger
from tests.model_clients.requests import KEY, KEY_VARIABLE


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    return KEY


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened
