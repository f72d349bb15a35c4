from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import PerformanceEffects
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.server import create_application
from tests.warehouse.sample_parts import SCREENS
from tests.warehouse.samples import records

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'it'"


def client_of(store: Warehouse) -> TestClient:
    return TestClient(create_application(store), base_url="http://127.0.0.1")


def hostile_records() -> list[Record]:
    """The sample dataset with markup in every text that a model or an import can fill."""
    changed: list[Record] = []
    texts = {
        "instruction",
        "intent",
        "scenario",
        "message",
        "reason",
        "source",
        "instruction_template",
        "thought",
        "text",
        "title",
        "model",
    }
    for record in records():
        update: dict[str, object] = dict.fromkeys(texts & set(type(record).model_fields), HOSTILE)
        if isinstance(record, Task):
            nodes = tuple(
                node.model_copy(update={"instruction": HOSTILE, "application": HOSTILE})
                for node in record.graph.nodes
            )
            update["graph"] = record.graph.model_copy(update={"nodes": nodes})
            update["low_level_instructions"] = (HOSTILE, HOSTILE)
        if isinstance(record, PerformanceEffects):
            update["essential"] = tuple(
                effect.model_copy(update={"container_template": HOSTILE, "after_template": HOSTILE})
                for effect in record.essential
            )
        if isinstance(record, Replay):
            update["success"] = False
        changed.append(record.model_copy(update=update))
    return changed


@pytest.fixture(scope="session")
def pages(sampled: Warehouse) -> TestClient:
    return client_of(sampled)


@pytest.fixture(scope="session")
def hostile_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place: Path = tmp_path_factory.mktemp("hostile") / "warehouse"
    with Warehouse(place) as opened:
        opened.write(hostile_records())
    with Warehouse(place, read_only=True) as opened:
        yield client_of(opened)


@pytest.fixture(scope="session")
def screen() -> Screenshot:
    return SCREENS[0]
