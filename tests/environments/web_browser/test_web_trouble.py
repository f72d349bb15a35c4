"""What the environment does when a page, the browser or an application fails, and what environments do not
share."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from taskloom.environments.errors import (
    ApplicationStartFailedError,
    ApplicationUnavailableError,
    BrowserMissingError,
    EnvironmentBrokenError,
)
from taskloom.environments.machines.reaper import MARK, marked_processes
from taskloom.environments.platforms.web_browser.environment import WebEnvironment
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import (
    Application,
    BrowserState,
    Installation,
    Launch,
    OpenDocument,
    ToldState,
)
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.slow
async def test_a_page_that_hangs_can_be_waited_for_or_left(tmp_path: Path) -> None:
    settings = WebBrowserSettings(
        data_folder=tmp_path / "data", temporary_folder=tmp_path / "temporary", action_limit_seconds=4
    )
    folder = tmp_path / "pages"
    folder.mkdir()
    impatient = Screen(WebEnvironment(settings), folder)
    hang = "document.title = 'busy'; while (Date.now() < window.until) {}"
    markup = f"""<button onclick="window.until = Date.now() + 6000; {hang}">Long</button>
    <button onclick="window.until = Infinity; {hang}">For ever</button><p>Page</p>
    <button onclick="window.until = Date.now() + 6000; {hang} alert('done')">Ask</button>"""
    asks = ["Page unresponsive", "You can wait for it to become responsive or exit the page."]
    try:
        await impatient.open(markup)
        await impatient.click("Long")
        assert impatient.texts == [*asks, "Wait", "Exit page"]
        await impatient.environment.evidence()
        assert (await impatient.click("Wait")).window_title == "busy"
        assert impatient.texts == ["Long", "For ever", "Page", "Ask"]
        await impatient.click("Ask")
        await asyncio.sleep(3)  # the page's own question comes while the window is open
        await impatient.click("Wait")
        assert "done" in impatient.texts
        await impatient.click("OK")
        await impatient.click("For ever")
        await impatient.click("Wait")
        assert impatient.texts[:2] == asks
        assert (await impatient.click("Exit page")).window_title == ""
        assert impatient.texts == ["Long", "For ever", "Page", "Ask"]
        await impatient.click("For ever")
        await impatient.open("<button>Fine</button>")
        assert impatient.texts == ["Fine"]
    finally:
        await impatient.environment.close()


@pytest.mark.slow
async def test_a_page_that_never_answered_is_no_start(screen: Screen, tmp_path: Path) -> None:
    settings = WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path / "temporary")
    environment = WebEnvironment(settings)
    page = screen.application("page", index="<script>while (true) {}</script>")
    hangs = page.model_copy(update={"launch": Launch(serve=page.launch.serve, start_timeout_seconds=2)})
    try:
        with pytest.raises(ApplicationStartFailedError, match="did not answer within 2 s"):
            await environment.reset([hangs])
    finally:
        await environment.close()


@pytest.mark.slow
async def test_work_that_is_given_up_reports_nothing_later(
    screen: Screen, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path / "temporary")
    folder = tmp_path / "pages"
    folder.mkdir()
    given_up = Screen(WebEnvironment(settings), folder)
    gc.collect()  # drivers that earlier tests have killed are heard of when they are collected
    await asyncio.sleep(0)
    caplog.clear()
    try:
        await given_up.open("<script>setInterval(() => { document.body.append('x'); }, 20)</script>")
        for moment in (0.0, 0.05, 0.3):
            looking = asyncio.ensure_future(given_up.environment.observe())
            await asyncio.wait({looking}, timeout=moment)
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
    finally:
        await given_up.environment.close()
    gc.collect()
    await asyncio.sleep(0)
    assert caplog.records == []


async def test_a_question_asked_while_the_page_opens_is_shown(screen: Screen) -> None:
    await screen.open("<script>document.title = 'said ' + confirm('Start?')</script><p>Page</p>")
    assert screen.texts == ["Page says", "Start?", "Cancel", "OK"]
    observation = await screen.click("OK")
    assert screen.texts == ["Page"] and observation.window_title == "said true"


async def test_a_window_that_closes_itself_gives_way_to_the_page(screen: Screen) -> None:
    await screen.open(
        """<button onclick="window.open('next.html')">Open</button>""",
        next="<p>x</p><script>close()</script>",
    )
    await screen.click("Open")
    await screen.do(WaitInput(seconds=0.2))
    assert screen.texts == ["Open"]


async def test_an_application_in_a_second_window_is_waited_for_until_it_is_ready(screen: Screen) -> None:
    page = screen.application(
        "page",
        index="""<button onclick="window.open(location.href.split('?')[0] + '?more')">Open</button>
        <script>
        const say = text => document.body.append(Object.assign(document.createElement('p'), {textContent: text}))
        if (location.search) { say('Loading'); setTimeout(() => say('All menus'), 1500) } else say('All menus')
        </script>""",  # noqa: E501
    )
    ready = page.model_copy(update={"launch": page.launch.model_copy(update={"ready_text": "All menus"})})
    screen.now = await screen.environment.reset([ready])
    observation = await screen.click("Open")
    assert [item.text for item in observation.controls if item.control_type == "Text"] == [
        "Loading",
        "All menus",
    ]


async def test_what_is_open_in_an_editor_is_evidence_and_stays_so_while_its_page_asks(screen: Screen) -> None:
    page = screen.application(
        "page",
        index="""<textarea id="text">first</textarea><button onclick="confirm('Sure?')">Ask</button>
        <button onclick="window.broken = true">Break</button>""",
    )
    script = "window.broken ? null : '<svg>' + document.getElementById('text').value + '</svg>'"
    opened = OpenDocument(ending=".svg", script=script)
    editor = page.model_copy(update={"launch": page.launch.model_copy(update={"open_document": opened})})
    screen.now = await screen.environment.reset([editor])

    async def held() -> list[str | None]:
        files = (await screen.environment.evidence()).files
        return [file.text for file in files if file.path == ".applications/page/open document.svg"]

    assert await held() == ["<svg>first</svg>"]
    await screen.click("Break")
    assert await held() == ["<svg>first</svg>"]
    await screen.click("Ask")
    assert screen.texts[:2] == ["Page says", "Sure?"]
    assert await held() == ["<svg>first</svg>"]
    await screen.click("OK")


async def test_a_state_that_no_file_keeps_is_told_whatever_is_in_front(screen: Screen) -> None:
    front = screen.application("front", index="<p>in front</p>")
    behind = screen.application("behind", index="<p>behind</p><script>window.state = 'ready'</script>")
    states = (
        ToldState(name="answer.txt", address="/index.html", script="text => String(text.includes('ready'))"),
        ToldState(name="page.txt", script="window.state"),
        ToldState(name="gone.txt", address="/nothing/here"),
    )
    told = behind.model_copy(update={"launch": behind.launch.model_copy(update={"told_states": states})})

    async def held() -> dict[str, str | None]:
        evidence = await screen.environment.evidence()
        assert ".applications/behind/gone.txt" in evidence.unseen
        return {file.path: file.text for file in evidence.files if file.path.startswith(".applications/b")}

    screen.now = await screen.environment.reset([front, told])
    assert await held() == {".applications/behind/answer.txt": "true"}
    await screen.environment.bring_to_front("behind")
    screen.now = await screen.environment.bring_to_front("front")
    assert await held() == {
        ".applications/behind/answer.txt": "true",
        ".applications/behind/page.txt": "ready",
    }


async def test_what_the_browser_keeps_is_there_before_the_first_page_at_every_reset(screen: Screen) -> None:
    page = screen.application(
        "page",
        index="""<p id=out></p><script>out.textContent =
        [document.cookie, localStorage.theme, sessionStorage.tab, localStorage.made].join(' ');
        localStorage.theme = 'light'</script><a href=index.html>Again</a>""",
    )
    state = BrowserState(
        cookies={"session": "ada"},
        local_storage={"theme": "dark"},
        session_storage={"tab": "two"},
        script="Promise.resolve().then(() => localStorage.setItem('made', 'by script'))",
    )
    entry = page.model_copy(update={"launch": page.launch.model_copy(update={"browser_state": state})})
    for _ in range(2):
        screen.now = await screen.environment.reset([entry])
        assert "session=ada dark two by script" in screen.texts
        await screen.click("Again")
        assert "session=ada light two by script" in screen.texts, "it is set once, not at every page"
    screen.now = await screen.environment.reset([page])
    assert not any("ada" in text or "script" in text for text in screen.texts)


async def test_browser_state_that_cannot_be_set_is_said(screen: Screen) -> None:
    page = screen.application("page", index="<p>x</p>")
    state = BrowserState(script="nothing.there()")
    entry = page.model_copy(update={"launch": page.launch.model_copy(update={"browser_state": state})})
    with pytest.raises(ApplicationStartFailedError, match="nothing is not defined"):
        await screen.environment.reset([entry])


async def test_a_browser_that_dies_is_started_again_at_the_next_reset(screen: Screen) -> None:
    for process in marked_processes(f"{MARK}={screen.sandbox.root}"):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(EnvironmentBrokenError):
        await screen.do(KeyboardInput(keys="x"))
    await screen.open("<button>Back again</button>")
    assert screen.texts == ["Back again"]


async def test_an_application_that_cannot_start_is_named_with_the_reason(screen: Screen) -> None:
    page = screen.application("page", index="<p>x</p>")
    missing = page.model_copy(update={"launch": Launch(serve="/nowhere/at/all")})
    with pytest.raises(ApplicationUnavailableError, match="/nowhere/at/all"):
        await screen.environment.reset([missing])
    ends = page.model_copy(update={"launch": Launch(command=("sh", "-c", "echo broken pipe dream; exit 3"))})
    with pytest.raises(ApplicationStartFailedError, match=r"ended with 3.*broken pipe dream"):
        await screen.environment.reset([ends])
    never = page.model_copy(update={"launch": Launch(command=("sleep", "60"), start_timeout_seconds=0.3)})
    with pytest.raises(ApplicationStartFailedError, match=r"did not open its port within 0\.3 s"):
        await screen.environment.reset([never])
    unready = page.model_copy(
        update={"launch": Launch(serve=page.launch.serve, ready_text="No such", start_timeout_seconds=1)}
    )
    with pytest.raises(ApplicationStartFailedError, match="'No such' did not appear"):
        await screen.environment.reset([unready])
    absent = page.model_copy(update={"installation": Installation(pip=("never==1",))})
    with pytest.raises(ApplicationUnavailableError, match="not installed"):
        await screen.environment.reset([absent])
    await screen.open("<button>Fine</button>")
    assert screen.texts == ["Fine"]


async def test_what_differs_between_environments_does_not_show_in_controls(screen: Screen) -> None:
    await screen.open("<p id=x></p><script>x.textContent = location.href</script>")
    assert "http://127.0.0.1/" in screen.texts
    home = screen.sandbox.home
    page = screen.application("page", index=f"<p>Saved in {home}/Documents</p>")
    screen.now = await screen.environment.reset([page])
    assert "Saved in ~/Documents" in screen.texts


async def test_environments_run_side_by_side_without_sharing_anything(screen: Screen, tmp_path: Path) -> None:
    settings = WebBrowserSettings(data_folder=tmp_path / "data", temporary_folder=tmp_path / "temporary")
    other = WebEnvironment(settings)
    try:
        markup = "<input aria-label=Field value=mine>"
        page = screen.application("page", index=markup)
        screen.now, second = await asyncio.gather(screen.environment.reset([page]), other.reset([page]))
        await screen.type("^a^c", into="Field")
        (screen.sandbox.home / "mine.txt").write_text("mine")
        field = next(control for control in second.controls if control.text == "Field")
        await other.act(KeyboardInput(control_label=field.label, keys="^a{DELETE}^v"))
        mine, theirs = await asyncio.gather(screen.environment.evidence(), other.evidence())
        assert mine.clipboard.text == "mine" and theirs.clipboard.text is None
        assert "mine.txt" not in {file.path for file in theirs.files}
        assert len(mine.inputs) != len(theirs.inputs)
    finally:
        await other.close()
    assert not list((tmp_path / "temporary").iterdir())


async def test_a_browser_that_is_not_there_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_the_driver = tmp_path / "driver"
    for_the_driver.mkdir()
    monkeypatch.setenv("TMPDIR", str(for_the_driver))
    for executable in (tmp_path / "no-browser", Path("/bin/true")):
        settings = WebBrowserSettings(
            data_folder=tmp_path / "data",
            temporary_folder=tmp_path / "temporary",
            browser_executable=executable,
        )
        environment = WebEnvironment(settings)
        site = tmp_path / "site"
        site.mkdir(exist_ok=True)
        page = Application(
            name="page",
            title="Page",
            category="Office",
            version="1",
            licence="MIT",
            description="x",
            manual="x",
            launch=Launch(serve=str(site)),
        )
        with pytest.raises(BrowserMissingError, match=str(executable)):
            await environment.reset([page])
        await environment.close()
    assert not list((tmp_path / "temporary").iterdir())
    assert not list(for_the_driver.glob("playwright_chromiumdev_profile-*"))


async def test_a_server_that_dies_is_started_again_with_its_state(screen: Screen, tmp_path: Path) -> None:
    server = """
import http.server, os, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/die": os._exit(3)
        log = pathlib.Path("visits"); log.write_text(log.read_text() + "x" if log.exists() else "x")
        body = f"<title>t</title><p>{log.read_text()}</p><button onclick=\\"fetch('/die')\\">Die</button>".encode()
        self.send_response(200); self.send_header("Content-Type", "text/html"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""  # noqa: E501
    (tmp_path / "server.py").write_text(server)
    fragile = Application(
        name="fragile",
        title="Fragile",
        category="Office",
        version="1",
        licence="MIT",
        description="x",
        manual="x",
        launch=Launch(command=(sys.executable, str(tmp_path / "server.py"), "{port}"), ready_text="Die"),
    )
    settings = WebBrowserSettings(data_folder=tmp_path / "data", isolation="never")
    environment = WebEnvironment(settings)

    async def die() -> None:
        await environment.act(ClickInput(control_label=screen.find("Die").label))
        assert environment._hosting is not None
        while environment._hosting._servers["fragile"].is_running:
            await asyncio.sleep(0.05)

    try:
        screen.now = await environment.reset([fragile])
        for _ in range(2):
            before = len(screen.texts[0])
            await die()
            screen.now = await environment.act(ClickInput(control_label=screen.find("Reload").label))
            assert len(screen.texts[0]) > before, "the state goes on"
        await die()
        with pytest.raises(ApplicationStartFailedError, match="Fragile ended"):
            await environment.act(ClickInput(control_label=screen.find("Reload").label))
    finally:
        await environment.close()
