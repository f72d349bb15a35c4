"""Sorting, filtering and taking away the list of tasks; steps and model calls of one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet
import pytest
from fastapi.testclient import TestClient

from taskloom.taskgraph.records.task import Replay, Task
from taskloom.warehouse.reviews import new_review
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_pages import PAGE_ROWS, SORTS, TaskFilter, read_page
from taskloom.warehouse.viewer.server import create_application
from tests.warehouse.samples import records
from tests.warehouse.viewer.conftest import HOSTILE, client_of

TASK = next(record for record in records() if isinstance(record, Task))
REPLAY = next(record for record in records() if isinstance(record, Replay))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """130 tasks with instructions of few different lengths, so that many are equal in the order."""
    place = tmp_path_factory.mktemp("many") / "warehouse"
    tasks = [
        TASK.model_copy(update={"task_id": f"t{number:03}", "instruction": "x" * (number % 7 + 1)})
        for number in range(130)
    ]
    replays = [
        REPLAY.model_copy(update={"replay_id": f"r{number}", "task_id": f"t{number:03}", **fields})
        for number, fields in enumerate(
            [
                {"success": True, "invalid": False},
                {"success": False, "invalid": False},
                {"success": False, "invalid": True},
            ]
        )
    ]
    reviews = [
        new_review("t000", tasks[0].instruction, "Ada", "accepted"),
        new_review("t000", tasks[0].instruction, "Bo", "rejected", ("sense",)),
        new_review("t001", tasks[1].instruction, "Ada", "accepted"),
    ]
    with Warehouse(place) as opened:
        opened.write([*tasks, *replays, *reviews])
        yield opened


@pytest.mark.parametrize("sort", ["", *SORTS])
def test_pages_in_every_order_have_every_task_once_both_ways(many: Warehouse, sort: str) -> None:
    chosen = TaskFilter.of({})
    forwards, edges, after = [], [], ""
    while True:
        page = read_page(many, chosen, sort=sort, after=after)
        assert len(page.rows) <= PAGE_ROWS
        forwards += [str(row["task_id"]) for row in page.rows]
        edges.append(page.rows[0]["task_id"])
        if not page.after:
            break
        after = page.after
    assert sorted(forwards) == [f"t{number:03}" for number in range(130)]
    lengths = [int(name[1:]) % 7 for name in forwards]
    if "instruction" in sort:
        assert lengths == sorted(lengths, reverse=sort.startswith("longest"))
        assert all(
            a < b for a, b, x, y in zip(forwards, forwards[1:], lengths, lengths[1:], strict=False) if x == y
        )
    back = read_page(many, chosen, sort=sort, before=str(edges[-1]))
    assert [row["task_id"] for row in back.rows] == forwards[PAGE_ROWS : 2 * PAGE_ROWS]
    assert back.before == edges[1] and back.after


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("replayed=with+success", 1),
        ("replayed=without+success", 1),
        ("replayed=not+yet", 128),
        ("reviewed=accepted", 1),
        ("reviewed=rejected", 1),
        ("reviewed=not+yet", 128),
    ],
)
def test_tasks_are_chosen_by_replays_and_reviews(many: Warehouse, query: str, count: int) -> None:
    assert f"{count} match" in client_of(many).get(f"/tasks?{query}").text


@pytest.mark.parametrize("query", ["sort=prettiest", "replayed=perhaps", "reviewed=x"])
def test_other_orders_and_filters_are_refused_with_the_known_ones(many: Warehouse, query: str) -> None:
    answer = client_of(many).get(f"/tasks?{query}")
    assert answer.status_code == 400 and "known:" in answer.text


@pytest.mark.slow
def test_what_is_listed_can_be_taken_as_csv_and_parquet(many: Warehouse) -> None:
    pages = client_of(many)
    page = pages.get("/tasks?text=xxxxxxx").text
    address = re.search(r'href="(/tasks\.csv[^"]*)"', page)
    assert address is not None
    answer = pages.get(address[1].replace("&amp;", "&"))
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert "attachment" in answer.headers["content-disposition"]
    assert len(rows) == sum(number % 7 == 6 for number in range(130))
    table = pyarrow.parquet.read_table(io.BytesIO(pages.get("/tasks.parquet").content))
    assert table.num_rows == 130 and "complexity" not in table.column_names and "nodes" in table.column_names
    answer = pages.get("/sql.parquet", params={"q": "SELECT 1.5 AS a, [1, 2] AS b"})
    assert pyarrow.parquet.read_table(io.BytesIO(answer.content)).to_pylist() == [{"a": 1.5, "b": [1, 2]}]
    assert pages.get("/sql.csv", params={"q": "DROP TABLE tasks"}).status_code == 400
    assert pages.get("/sql.csv", params={"q": "SELECT * FROM read_csv('/etc/passwd')"}).status_code == 400
    assert pages.get("/sql.csv").status_code == 400
    assert pages.get("/tasks.xlsx").status_code == 404


def test_the_step_asked_for_is_shown_large_with_the_point_of_its_action(pages: TestClient) -> None:
    text = pages.get("/trajectories/trajectory-1?step=2").text
    stage = text[text.index('class="stage"') : text.index('class="pager"')]
    assert "<b>2. " in stage
    assert 'href="?step=1#step" data-press="ArrowLeft"' in text
    assert 'href="?step=3#step" data-press="ArrowRight"' in text
    assert '<circle class="halo" cx="' in text
    for step in ("0", "-1", "x", "99999999999", "7"):
        assert pages.get(f"/trajectories/trajectory-1?step={step}").status_code == 200


@dataclass(frozen=True)
class Part:
    text: str = ""
    image: str = ""


@dataclass(frozen=True)
class Sent:
    role: str
    content: tuple[Part, ...]


@dataclass(frozen=True)
class Said:
    messages: tuple[Sent, ...]
    reply: str | None


def test_the_page_of_a_model_call_shows_what_was_said(sampled: Warehouse) -> None:
    (call_id, item_id, key) = next(
        sampled.query("SELECT call_id, item_id, key FROM model_calls LIMIT 1").rows()
    )
    asked: list[str] = []

    def read_call(name: str) -> Said:
        asked.append(name)
        return Said((Sent("user", (Part(text=HOSTILE), Part(image="ab" * 32))),), "the reply")

    pages = TestClient(create_application(sampled, read_call=read_call), base_url="http://127.0.0.1")
    text = pages.get(f"/calls/{call_id}").text
    assert asked == [key]
    assert "the reply" in text and "&lt;script&gt;alert(1)" in text and "<script>alert" not in text
    assert f"/screenshots/{'ab' * 32}.png" in text
    assert "Not kept here" in client_of(sampled).get(f"/calls/{call_id}").text
    assert pages.get("/calls/none").status_code == 404
    assert item_id is not None


def test_an_item_leads_to_its_model_calls(filled: Warehouse, tmp_path: Path) -> None:
    from taskloom.warehouse.records import ModelCallRecord

    call = next(record for record in records() if isinstance(record, ModelCallRecord))
    filled.write(
        [
            call.model_copy(update={"call_id": f"{item}:r", "item_id": item})
            for item in ("task-1", "notes.create")
        ]
    )
    pages = client_of(filled)
    assert 'href="/calls/task-1%3Ar"' in pages.get("/tasks/task-1").text
    assert 'href="/calls/notes.create%3Ar"' in pages.get("/subtasks/notes.create").text
    assert 'href="/tasks/task-1"' in pages.get("/calls/task-1:r").text
