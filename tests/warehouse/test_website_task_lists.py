"""Lists of tasks on live websites, as SeeAct, Online-Mind2Web and Mind2Web-Live publish them."""

from __future__ import annotations

from pathlib import Path

from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import

SEEACT = [
    {"website": "https://us.trip.com/?locale=en-us", "task_id": "t-1", "confirmed_task": "Book a room."},
    {"website": "careers.walmart", "task_id": "t-2", "confirmed_task": "Show me jobs."},
]
ONLINE = [
    {
        "number": 1,
        "task_id": "b725",
        "confirmed_task": "Find the closest shop.",
        "website": "https://www.gamestop.com/",
        "reference_length": 8,
        "level": "medium",
    }
]

LIVE = [
    {
        "index": 0,
        "task": "Compare the plans.",
        "reference_task_length": 4,
        "evaluation": [
            {
                "match_function_name": "url_included_match",
                "content": {"key": "", "reference_answer": "flight", "url": "https://www.flight.com/plans"},
            }
        ],
    }
]


def test_tasks_of_a_list_come_in_by_their_own_ids_on_the_host_of_their_website(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    foreign.write(tmp_path / "in", "seeact.json", SEEACT)
    foreign.write(tmp_path / "in", "online.json", ONLINE)
    foreign.write(tmp_path / "in", "live.json", LIVE)

    run_import(warehouse, "mind2web", tmp_path / "in")

    assert {(task.task_id, task.graph.nodes[0].application) for task in warehouse.read(Task)} == {
        ("mind2web:t-1", "us.trip.com"),
        ("mind2web:t-2", "careers.walmart"),
        ("mind2web:b725", "gamestop.com"),
        ("mind2web:0", "flight.com"),
    }
    assert list(warehouse.read(Rejection)) == []
    assert {item.item_id: item.content for item in warehouse.read(ImportedItem)}["mind2web:b725"] == ONLINE[0]


def test_a_task_that_two_lists_hold_is_broken_in_the_second_one(tmp_path: Path) -> None:
    foreign.write(tmp_path, "a.json", SEEACT)
    foreign.write(tmp_path, "b.json", SEEACT[:1])

    (broken,) = survey_import("mind2web", tmp_path).broken

    assert broken.place == "b.json:[0]"
    assert "a.json:[0]" in str(broken.faults[0])


def test_an_address_that_is_none_stays_as_it_stands(tmp_path: Path) -> None:
    foreign.write(tmp_path, "a.json", [{**SEEACT[0], "website": "https://[broken"}])

    (task,) = [item for item in read_import("mind2web", tmp_path) if isinstance(item, Task)]

    assert task.graph.nodes[0].application == "https://[broken"


def test_a_task_without_website_or_address_is_broken(tmp_path: Path) -> None:
    foreign.write(tmp_path, "a.json", [{**LIVE[0], "evaluation": []}])

    (broken,) = survey_import("mind2web", tmp_path).broken

    assert [(fault.field, fault.reason) for fault in broken.faults] == [("[0].website", "is missing")]
