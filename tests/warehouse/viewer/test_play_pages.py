"""A person plays: turns are shown while somebody waits for them, and a form becomes one move."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from taskloom.taskgraph.records.agent_run import MOVE, TURN, Move, Turn, place_of
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages import play_pages
from taskloom.warehouse.viewer.server import create_application
from tests.warehouse.viewer.conftest import HOSTILE

ATTEMPT = "mine:human:task-1:order 2:0"
TOKEN = "0123456789abcdef" * 2
PATH = "/play/mine%3Ahuman%3Atask-1%3Aorder%202%3A0"
CLICK = {"operation": "click_input", "point": [3, 4], "double": True}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return tmp_path / "people"


@pytest.fixture
def pages(sampled: Warehouse, people: Path) -> TestClient:
    return TestClient(create_application(sampled, people=people), base_url="http://127.0.0.1")


def lay(people: Path, **fields: Any) -> Path:
    turn = Turn(
        token=TOKEN,
        attempt_id=ATTEMPT,
        instruction=HOSTILE,
        step=2,
        step_limit=30,
        screen_size=(4, 4),
        **fields,
    )
    folder = people / place_of(ATTEMPT)
    folder.mkdir(parents=True)
    (folder / TURN).write_text(turn.model_dump_json())
    (folder / f"{TOKEN}.png").write_bytes(b"picture")
    return folder


def sent(pages: TestClient, **fields: str) -> int:
    form = {"token": TOKEN, "status": "continue", **fields}
    return int(pages.post(PATH, data=form, follow_redirects=False).status_code)


def move_in(folder: Path) -> Move:
    return Move.model_validate_json((folder / MOVE).read_bytes())


def test_an_attempt_keeps_its_place_in_the_list_when_its_next_turn_comes(people: Path) -> None:
    def lay_turn(attempt_id: str, began: float, step: int) -> None:
        turn = Turn(
            token=TOKEN,
            attempt_id=attempt_id,
            began=began,
            instruction="Do it",
            step=step,
            step_limit=30,
            screen_size=(4, 4),
        )
        folder = people / place_of(attempt_id)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / TURN).write_text(turn.model_dump_json())

    for attempt_id, began, step in (("b", 1.0, 1), ("a", 2.0, 1), ("c", 2.0, 1), ("b", 1.0, 2)):
        lay_turn(attempt_id, began, step)

    assert [turn.attempt_id for turn in play_pages.waiting(people)] == ["b", "a", "c"]


def test_what_waits_is_listed_and_shown(pages: TestClient, people: Path) -> None:
    assert "No attempt waits" in pages.get("/play").text
    lay(people, problem="outside", told="It is 3.", question="How many?", can_ask=True)
    assert f'href="{PATH}"' in pages.get("/play").text
    text = pages.get(PATH).text
    assert "<script>alert" not in text and f"/turns/{TOKEN}.png" in text
    assert "Not done: outside" in text and "The user says: It is 3." in text and "<label>Answer <" in text
    assert 'value="ask_user"' in text and "play.js" in text
    assert pages.get(f"/turns/{TOKEN}.png").content == b"picture"
    assert pages.get(f"/turns/{TOKEN[::-1]}.png").status_code == 404


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"action": json.dumps(CLICK)}, {"status": "continue", "action": CLICK}),
        ({"text": "50% +1"}, {"action": {"operation": "keyboard_input", "keys": "50{%} {+}1"}}),
        ({"status": "finish", "answer": "3"}, {"status": "finish", "answer": "3"}),
        ({"status": "give_up", "message": "no file"}, {"status": "give_up", "message": "no file"}),
    ],
)
def test_a_form_is_one_move(
    pages: TestClient, people: Path, fields: dict[str, str], wanted: dict[str, object]
) -> None:
    folder = lay(people)
    assert sent(pages, **fields) == 303
    assert move_in(folder) == Move.model_validate({"status": "continue", **wanted})


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "{"},
        {"action": '{"operation": "shell", "command": "ls"}'},
        {"action": ""},
        {"status": "finish", "action": json.dumps(CLICK)},
        {"status": "continue", "action": json.dumps({**CLICK, "point": [3]})},
    ],
)
def test_what_is_no_move_is_refused(pages: TestClient, people: Path, fields: dict[str, str]) -> None:
    folder = lay(people)
    assert sent(pages, **fields) == 400
    assert not (folder / MOVE).exists()


def test_a_turn_that_is_over_takes_no_move(pages: TestClient, people: Path) -> None:
    assert sent(pages, action=json.dumps(CLICK)) == 409
    folder = lay(people)
    assert sent(pages, action=json.dumps(CLICK), token="f" * 32) == 409
    os.utime(folder / TURN, (1, 1))  # nobody waits any more
    assert sent(pages, action=json.dumps(CLICK)) == 409
    assert "No attempt waits" in pages.get("/play").text
    assert "The environment is at work" in pages.get(PATH).text
    assert not (folder / MOVE).exists()


def test_a_waiting_page_asks_the_warehouse_once(pages: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def judged(_: object, attempt_id: str) -> bool:
        asked.append(attempt_id)
        return len(asked) == 2

    monkeypatch.setattr(play_pages, "_is_judged", judged)
    assert "The environment is at work" in pages.get(f"{PATH}?after={TOKEN}").text
    assert asked == [ATTEMPT]
    answer = pages.get(f"{PATH}?after={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303 and "/attempts/" in answer.headers["location"]


def test_other_sites_cannot_play(pages: TestClient, people: Path) -> None:
    folder = lay(people)
    done = pages.post(
        PATH, data={"token": TOKEN, "status": "finish"}, headers={"sec-fetch-site": "cross-site"}
    )
    assert done.status_code == 403 and not (folder / MOVE).exists()


def test_without_a_place_for_people_nobody_plays(sampled: Warehouse) -> None:
    pages = TestClient(create_application(sampled), base_url="http://127.0.0.1")
    assert "No attempt waits" in pages.get("/play").text
    assert sent(pages, action=json.dumps(CLICK)) == 409
