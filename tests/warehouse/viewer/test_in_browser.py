"""The pages in a real browser: nothing on the console, keys, narrow screens, dark mode."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from taskloom.environments.errors import BrowserMissingError
from taskloom.environments.installing.browser_finding import find_browser
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.server import LOOPBACK, create_application, listen

pytestmark = pytest.mark.browser
PAGES = (
    "/",
    "/complexity?dependency=hard",
    "/tasks",
    "/tasks/task-1",
    "/subtasks",
    "/subtasks/notes.create",
    "/trajectories/trajectory-1",
    "/costs",
    "/sql?q=SELECT+application,+count(*)+FROM+subtasks+GROUP+BY+1",
    "/at/v1/",
    "/at/v1/tasks",
)


@pytest.fixture(scope="module")
def address(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("viewed") / "warehouse"
    shutil.copytree(filled_template, place)
    with Warehouse(place) as filling:
        filling.publish("v1")
        (task,) = filling.read(Task)
        filling.write([task.model_copy(update={"task_id": "task-later", "status": "composed"})])
    opened = listen(0)
    with Warehouse(place, read_only=True) as store:
        server = uvicorn.Server(uvicorn.Config(create_application(store), log_level="warning"))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        serving.start()
        yield f"http://{LOOPBACK}:{opened.getsockname()[1]}"
        server.should_exit = True
        serving.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    try:
        found = find_browser(tmp_path_factory.mktemp("no-browser"))
    except BrowserMissingError as error:
        pytest.skip(str(error))
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(found.executable), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.slow
def test_pages_are_clean_in_a_browser(browser: Browser, address: str) -> None:
    for width, scheme in ((1280, "light"), (420, "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message, said=said: said.append(message.text))  # type: ignore[call-overload]
        page.on("pageerror", lambda error, said=said: said.append(str(error)))  # type: ignore[call-overload]
        page.on("requestfailed", lambda request, said=said: said.append(request.url))  # type: ignore[call-overload]
        for path in PAGES:
            page.goto(f"{address}{path}", wait_until="networkidle")
            assert said == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
            dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
            assert dark == (scheme == "dark")
        context.close()


@pytest.mark.slow
def test_keys_move_through_the_pages(browser: Browser, address: str) -> None:
    page: Page = browser.new_page()
    page.goto(f"{address}/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/tasks")
    page.keyboard.press("/")
    page.keyboard.type("jk?")
    assert page.input_value("[data-search]") == "jk?"
    assert not page.is_visible("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator("[data-row].at").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/task-1")
    page.close()


def test_filters_leave_clean_addresses(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/tasks")
    page.select_option("select[name=status]", "validated")
    page.wait_for_url(f"{address}/tasks?status=validated")
    assert page.locator("[data-row]").count() == 1
    page.close()


def test_another_version_is_chosen_by_key_and_click(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/tasks")
    assert page.locator("[data-row]").count() == 2
    page.keyboard.press("v")
    page.get_by_role("link", name="v1").click()
    page.wait_for_url(f"{address}/at/v1/tasks")
    assert page.locator("[data-row]").count() == 1
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}/at/v1/tasks/task-1")
    page.close()
