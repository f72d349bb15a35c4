from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from taskloom.taskgraph.records.criticism import Review
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.reviews import new_review
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.review_pages import Queue, ReviewDesk, progress_of, queue_of
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter
from taskloom.warehouse.viewer.server import create_application
from tests.warehouse.samples import records
from tests.warehouse.viewer.conftest import HOSTILE, client_of

TASK = next(record for record in records() if isinstance(record, Task))


@pytest.fixture(scope="module")
def untouched(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of four tasks that no test changes."""
    place = tmp_path_factory.mktemp("reviews") / "warehouse"
    shutil.copytree(filled_template, place)
    with Warehouse(place) as store:
        store.write([TASK.model_copy(update={"task_id": f"t{number}"}) for number in range(3)])
    return place


@pytest.fixture
def place(untouched: Path, tmp_path: Path) -> Path:
    """A warehouse of four tasks, for this test alone."""
    return Path(shutil.copytree(untouched, tmp_path / "warehouse"))


@pytest.fixture
def reviewing(place: Path) -> Iterator[TestClient]:
    with Warehouse(place, read_only=True) as store:
        yield TestClient(create_application(store, ReviewDesk(place)), base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def refusing(untouched: Path) -> Iterator[TestClient]:
    """A viewer for tests that only read, or send what must be refused."""
    with Warehouse(untouched, read_only=True) as store:
        yield TestClient(create_application(store, ReviewDesk(untouched)), base_url="http://127.0.0.1")


def form_of(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))


def stored(place: Path) -> list[Review]:
    with Warehouse(place, read_only=True) as store:
        return list(store.read(Review, order_by="reviewed_at"))


def test_a_person_goes_through_all_tasks(reviewing: TestClient, place: Path) -> None:
    seen = []
    page = reviewing.get("/review/next?by=Ada+L.")
    for verdict, more in (
        ("accepted", {}),
        ("rejected", {"failed": ["natural", "sense"], "note": "nobody says so"}),
        ("accepted", {}),
        ("accepted", {}),
    ):
        form = form_of(page.text)
        seen.append(form["task"])
        page = reviewing.post("/review", data={**form, "verdict": verdict, **more})
        assert page.status_code == 200
    assert "Ada L. has reviewed all 4 tasks" in page.text
    assert sorted(seen) == ["t0", "t1", "t2", "task-1"]
    reviews = stored(place)
    assert [item.task_id for item in reviews] == seen
    assert (reviews[1].failed, reviews[1].note) == (("natural", "sense"), "nobody says so")
    assert {item.instruction for item in reviews} == {TASK.instruction}
    figures = reviewing.get("/review").text
    assert "Ada L." in figures and "75%" in figures


def test_a_wrong_review_is_answered_with_the_page_and_what_was_written(
    reviewing: TestClient, place: Path
) -> None:
    form = form_of(reviewing.get("/review/next?by=Ada").text)
    answer = reviewing.post(
        "/review", data={**form, "verdict": "accepted", "failed": "sense", "note": "my long reason"}
    )
    assert answer.status_code == 400
    assert "every question answered with yes" in answer.text and "my long reason" in answer.text
    assert 'value="sense" data-press="4" checked' in answer.text
    assert form_of(answer.text)["task"] == form["task"]
    assert stored(place) == []


def test_a_review_can_be_changed_and_withdrawn(reviewing: TestClient, place: Path) -> None:
    form = form_of(reviewing.get("/review/next?by=Ada&task=t1").text)
    after = reviewing.post("/review", data={**form, "verdict": "accepted"}).text
    link = re.search(r'href="([^"]+)" data-press="u"', after)
    assert link is not None
    again = reviewing.get(link[1].replace("&amp;", "&"))
    assert 'You <span class="ok">accepted</span> this task' in again.text
    reviewing.post("/review", data={**form_of(again.text), "verdict": "withdrawn"})
    assert [item.verdict for item in stored(place)] == ["accepted", "withdrawn"]
    assert "<b>1</b>" not in reviewing.get("/review").text


def test_others_verdicts_are_seen_only_after_ones_own(reviewing: TestClient) -> None:
    form = form_of(reviewing.get("/review/next?by=Ada&task=t1").text)
    reviewing.post("/review", data={**form, "verdict": "rejected", "failed": "graph", "note": "Adas reason"})
    before = reviewing.get("/review/next?by=Bo&task=t1")
    assert "Adas reason" not in before.text
    reviewing.post("/review", data={**form_of(before.text), "verdict": "accepted"})
    assert "Adas reason" in reviewing.get("/review/next?by=Bo&task=t1").text
    assert "Adas reason" in reviewing.get("/tasks/t1").text


@pytest.mark.parametrize(
    ("change", "headers", "status"),
    [
        ({"token": "x"}, {}, 403),
        ({"token": ""}, {}, 403),
        ({}, {"sec-fetch-site": "cross-site"}, 403),
        ({}, {"sec-fetch-site": "same-site"}, 403),
        ({}, {"host": "evil.example"}, 403),
        ({}, {"content-type": "text/plain"}, 415),
        ({"note": "x" * 70_000}, {}, 413),
        ({"task": "none"}, {}, 404),
        ({"read": "0" * 64}, {}, 400),
        ({"by": " "}, {}, 400),
        ({"dependency": "huge"}, {}, 400),
    ],
)
def test_what_was_not_asked_on_this_viewers_page_is_not_stored(
    refusing: TestClient, untouched: Path, change: dict[str, str], headers: dict[str, str], status: int
) -> None:
    form = form_of(refusing.get("/review/next?by=Ada").text)
    data = {**form, "verdict": "accepted", **change}
    assert refusing.post("/review", data=data, headers=headers).status_code == status
    assert stored(untouched) == []


def test_every_viewer_has_its_own_token(place: Path) -> None:
    assert ReviewDesk(place).token != ReviewDesk(place).token
    assert not ReviewDesk(place).knows("é")


def test_without_being_asked_for_nothing_can_be_written(place: Path) -> None:
    with Warehouse(place, read_only=True) as store:
        pages = client_of(store)
        text = pages.get("/review").text
        assert "taskloom view --review" in text
        assert 'action="' not in text
        assert pages.get("/review/next?by=Ada").status_code == 404
        assert pages.post("/review", data={"token": ""}).status_code == 405


def test_versions_lead_to_the_reviews_of_the_present_state(filled: Warehouse) -> None:
    filled.publish("v1")
    filled.close()
    place = Path(filled.address)
    with Warehouse(place, read_only=True, version="v1") as store:
        pages = TestClient(create_application(store, ReviewDesk(place)), base_url="http://127.0.0.1")
        answer = pages.get("/review", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/at/-/review")
        page = pages.get("/at/-/review/next?by=Ada")
        assert 'action="/at/-/review"' in page.text
        done = pages.post("/at/-/review", data={**form_of(page.text), "verdict": "accepted"})
        assert "has reviewed all 1 tasks" in done.text
    assert [item.verdict for item in stored(place)] == ["accepted"]


def test_the_queue_begins_with_one_task_of_each_combination_of_levels(filled: Warehouse) -> None:
    hard = TASK.complexity.model_copy(update={"dependency_level": "hard"})
    filled.write(
        [TASK.model_copy(update={"task_id": f"e{number}"}) for number in range(20)]
        + [TASK.model_copy(update={"task_id": "h0", "complexity": hard})]
        + [TASK.model_copy(update={"task_id": "composed", "status": "composed"})]
    )
    queue = queue_of(filled, TaskFilter.of({}))
    assert len(queue.order) == 22 and queue.present == set(queue.order) - {"composed"}
    assert "h0" in queue.order[:2]
    assert queue == queue_of(filled, TaskFilter.of({}))
    assert queue_of(filled, TaskFilter.of({"status": "composed"})).order == ("composed",)
    assert progress_of(queue, queue.present).task_id == ""
    assert progress_of(Queue(), set()).task_id == ""


def test_nobodys_place_in_the_queue_changes_while_tasks_are_made_and_reviewed(filled: Warehouse) -> None:
    chosen = TaskFilter.of({"reviewed": "not yet"})
    filled.write([TASK.model_copy(update={"task_id": f"e{number}"}) for number in range(8)])
    first = queue_of(filled, chosen)
    filled.write([TASK.model_copy(update={"task_id": f"f{number}"}) for number in range(30)])
    at = first.order[3]
    filled.write([new_review(at, TASK.instruction, "Ada", "accepted")])
    later = queue_of(filled, chosen, first)
    assert later.order[: len(first.order)] == first.order
    assert (at in later.present, len(later.present)) == (False, len(first.order) - 1 + 30)
    assert progress_of(later, {at}, after=at).task_id == first.order[4]


@pytest.mark.slow
def test_reviews_are_stored_while_pages_are_read(reviewing: TestClient, place: Path) -> None:
    problems: list[int] = []
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            status = reviewing.get("/tasks/t1").status_code
            if status != 200:
                problems.append(status)

    with reviewing:  # one event loop for all threads
        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        form = form_of(reviewing.get("/review/next?by=Ada").text)
        for number in range(6):
            answer = reviewing.post("/review", data={**form, "by": f"p{number}", "verdict": "accepted"})
            assert answer.status_code == 200
        ended.set()
        for reader in readers:
            reader.join(30)
    assert problems == []
    assert len(stored(place)) == 6


def test_hostile_text_is_never_markup(place: Path) -> None:
    with Warehouse(place) as opened:
        opened.write([TASK.model_copy(update={"task_id": "evil", "instruction": HOSTILE, "intent": HOSTILE})])
    with Warehouse(place, read_only=True) as store:
        pages = TestClient(create_application(store, ReviewDesk(place)), base_url="http://127.0.0.1")
        page = pages.get("/review/next", params={"by": HOSTILE, "task": "evil"})
        assert "<script>alert" not in page.text
        answer = pages.post("/review", data={**form_of(page.text), "by": HOSTILE[:20], "verdict": "accepted"})
        assert "<script>alert" not in answer.text + pages.get("/review").text + pages.get("/tasks/evil").text


@pytest.mark.parametrize("path", ["/", "/tasks", "/tasks/t1", "/review", "/assets/style.css", "/nowhere"])
def test_head_is_answered_like_get_without_a_body(refusing: TestClient, path: str) -> None:
    asked, told = refusing.head(path), refusing.get(path)
    assert asked.status_code == told.status_code
    assert asked.content == b""
    assert asked.headers["content-length"] == told.headers["content-length"]
