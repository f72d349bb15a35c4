from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from taskloom.taskgraph.records.interaction import Screenshot

MAIN = ("/", "/complexity", "/tasks", "/subtasks", "/costs", "/sql")
ALL = (
    *MAIN,
    "/tasks/task-1",
    "/subtasks/notes.create",
    "/trajectories/trajectory-1",
    "/sql?q=SELECT+*+FROM+tasks",
)


@pytest.mark.parametrize("path", ALL)
def test_every_page_answers_with_html(pages: TestClient, path: str) -> None:
    answer = pages.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "</html>" in answer.text


@pytest.mark.parametrize("path", [*ALL, "/sql?q=SELECT+instruction,source+FROM+tasks,evaluation_functions"])
def test_text_of_the_dataset_is_never_markup(hostile_pages: TestClient, path: str) -> None:
    answer = hostile_pages.get(path)
    assert answer.status_code == 200
    scripts = re.findall(r"<script[^>]*>", answer.text)
    assert scripts == ['<script src="/assets/viewer.js" defer>']
    if path.startswith("/tasks"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text


@pytest.mark.parametrize("path", ALL)
def test_pages_load_nothing_from_elsewhere(pages: TestClient, path: str) -> None:
    answer = pages.get(path)
    loaded = re.findall(r"""(?:src|href|action|srcset)=["']([^"']*)""", answer.text)
    assert loaded
    assert [address for address in loaded if not address.startswith(("/", "#", "?"))] == []
    assert [address for address in loaded if address.startswith("//")] == []
    assert not re.search(r"<[^>]+ (?:style|on[a-z]+)=", answer.text), "the content policy forbids these"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_overview_shows_funnel_versions_and_runs(pages: TestClient) -> None:
    text = pages.get("/").text
    for part in ("subtasks proposed", "tasks validated", "run-1", "accepted evaluation functions"):
        assert part in text


def test_task_page_shows_graph_instruction_orders_and_replay(pages: TestClient, screen: Screenshot) -> None:
    text = pages.get("/tasks/task-1").text
    for part in (
        "<svg",
        "In notes, create &#39;a.csv&#39;, then in sheets",
        "1 of 1 topological order succeeds",
        'href="/subtasks/notes.create"',
        f"/screenshots/{screen.sha256}.png",
        "Do step 1",
        "side effects: 1 file lost",
        "Documents/old.txt: removed",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("/subtasks", "2 in all"),
        ("/subtasks?application=notes", "1 match"),
        ("/subtasks?text=nothing+like+it", "0 matches"),
        ("/tasks", "1 in all"),
        ("/tasks?application=notes", "1 match"),
        ("/tasks?text=nothing+like+it", "0 matches"),
    ],
)
def test_lists_say_how_many_there_are(pages: TestClient, path: str, count: str) -> None:
    assert f'<p class="soft">{count}</p>' in pages.get(path).text


def test_subtask_page_shows_source_kill_matrix_and_every_round(pages: TestClient) -> None:
    text = pages.get("/subtasks/notes.create").text
    for part in (
        "def evaluate_agent_task_completion",
        "no op",
        "reset state",
        "makes no difference: check_window",
        "check_file_exists",
        "no file",
        'href="/trajectories/trajectory-1"',
        'href="/trajectories/trajectory-bad"',
    ):
        assert part in text, part
    assert text.count("<h3>Round ") == 2


def test_subtask_page_shows_effects_in_terms_of_the_parameters(pages: TestClient) -> None:
    text = pages.get("/subtasks/notes.create").text
    for part in (
        "all 2 performances that agree",
        "{csv_path}",
        ".applications/notes/recent.json: last",
        "<code>x.csv</code>",
        "1 on the screen in every performance",
        "1 incidental",
    ):
        assert part in text, part
    assert "No two performances agree" in pages.get("/subtasks/sheets.chart").text


def test_a_strip_marks_the_control_that_was_acted_on(pages: TestClient) -> None:
    text = pages.get("/trajectories/trajectory-1").text
    assert text.count("<figure data-step=") == 6
    assert text.count("<figure>") == 1, "the large picture of the step that is looked at"
    assert '<svg viewBox="0 0 64 48"' in text
    assert '<rect x="4" y="4" width="4" height="16"' in text
    assert "double-click Button" in text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/tasks/none", 404),
        ("/subtasks/none", 404),
        ("/trajectories/none", 404),
        ("/assets/none.css", 404),
        ("/screenshots/none.png", 404),
        (f"/screenshots/{'0' * 64}.png", 404),
        ("/tasks?dependency=huge", 400),
        ("/tasks?status=huge", 400),
        ("/complexity?branch=huge", 400),
    ],
)
def test_what_is_not_there_is_said_in_a_page(pages: TestClient, path: str, status: int) -> None:
    answer = pages.get(path)
    assert answer.status_code == status
    assert '<a href="/">Overview</a>' in answer.text


def test_screenshots_are_kept_by_the_browser_for_good(pages: TestClient, screen: Screenshot) -> None:
    answer = pages.get(f"/screenshots/{screen.sha256}.png")
    assert answer.content == screen.png
    assert answer.headers["content-type"] == "image/png"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "localhost."]
)
def test_another_host_name_is_refused(pages: TestClient, host: str) -> None:
    answer = pages.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "tasks" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8123", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]"]
)
def test_names_of_this_machine_are_answered(pages: TestClient, host: str) -> None:
    assert pages.get("/costs", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused(pages: TestClient, site: str) -> None:
    assert pages.get("/sql?q=SELECT+1", headers={"sec-fetch-site": site}).status_code == 403


def test_nothing_can_be_sent(pages: TestClient) -> None:
    assert {pages.request(method, "/sql").status_code for method in ("POST", "PUT", "DELETE")} == {405}
