"""What an agent can do in a page, and what the environment does for it."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from pathlib import Path

import pytest
from PIL import Image

from environments.errors import (
    ActionInvalid,
    ApplicationStartFailed,
    ApplicationUnavailable,
    BrowserMissing,
    EnvironmentBroken,
)
from environments.reaper import MARK, marked_processes
from environments.web.settings import WebBrowserSettings
from environments.web.web_environment import WebEnvironment
from resources.applications import Application, Installation, Launch
from taskgraph.interaction import ClickInput, DragInput, KeyboardInput, WaitInput, WheelMouseInput
from tests.environments.web.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_inputs_reach_the_page(screen: Screen) -> None:
    await screen.open("""
      <button ondblclick="log('double')" oncontextmenu="log('right');return false" onauxclick="if(event.button==1)log('middle')">Target</button>
      <div aria-label=Board tabindex=0 role=img style="width:200px;height:100px;background:#ddd"></div><p id=out></p>
      <script>const log = text => out.textContent += text + ' ', board = document.querySelector('[role=img]');
      board.onmousedown = e => log('down' + e.offsetX); board.onmouseup = e => log('up' + e.offsetX); board.onclick = e => log('at' + e.offsetX);
      document.onkeydown = e => { if (e.ctrlKey && e.key === 's') { e.preventDefault(); log('save'); } }</script>""")
    target, board = screen.find("Target").label, screen.find("Board").label
    await screen.do(ClickInput(control_label=target, double=True))
    await screen.do(ClickInput(control_label=target, button="right"))
    await screen.do(ClickInput(control_label=target, button="middle"))
    await screen.do(DragInput(control_label=board, path=((0.1, 0.5), (0.9, 0.5))))
    await screen.do(ClickInput(control_label=board, position=(0.25, 0.5)))
    await screen.type("^s")
    for expected in ("double", "right", "middle", "down20", "up180", "at50", "save"):
        assert expected in screen.texts[-1]


async def test_the_wheel_rolls_what_is_under_it(screen: Screen) -> None:
    await screen.open("".join(f"<p>Line {number}</p>" for number in range(100)))
    await screen.do(WheelMouseInput(wheel_distance=-10))
    assert "Line 0" not in screen.texts and "Line 40" in screen.texts
    await screen.do(WheelMouseInput(control_label=screen.controls[3].label, wheel_distance=10))
    assert "Line 0" in screen.texts


async def test_waits_for_what_a_click_sets_going(screen: Screen) -> None:
    await screen.open("""<button onclick="fetch('index.html').then(r => r.text()).then(() => setTimeout(() =>
      document.body.insertAdjacentHTML('beforeend', '<p>Arrived</p>'), 40))">Load</button>""")
    await screen.click("Load")
    assert "Arrived" in screen.texts


async def test_a_page_that_never_rests_is_not_waited_for_without_end(screen: Screen) -> None:
    await screen.open(
        """<button>Ready</button><p id=x></p><script>setInterval(() => x.textContent = Date.now(), 10)</script>"""
    )
    assert "Ready" in screen.texts


async def test_typing_replaces_a_selection_and_keeps_special_characters(screen: Screen) -> None:
    await screen.open("<input aria-label=Name value=old>")
    await screen.type("^aé — 3 € 50{%} {(}x{)}", into="Name")
    assert screen.find("Name").value == "é — 3 € 50% (x)"


async def test_a_focused_field_keeps_its_caret_when_typed_into_again(screen: Screen) -> None:
    await screen.open("<input aria-label=Name style='width:400px'>")
    await screen.type("abc{LEFT}", into="Name")
    await screen.type("X", into="Name")
    assert screen.find("Name").value == "abXc"


async def test_copy_and_paste_pass_through_the_clipboard(screen: Screen) -> None:
    await screen.open("<input aria-label=One value='some text'><textarea aria-label=Two></textarea>")
    await screen.type("^a^c", into="One")
    assert (await screen.environment.evidence()).clipboard.text == "some text"
    await screen.type("^v", into="Two")
    assert screen.find("Two").value == "some text"
    await screen.open("<p>Again</p>")
    assert (await screen.environment.evidence()).clipboard.text is None


async def test_an_image_in_the_clipboard_is_known_by_its_hash(screen: Screen) -> None:
    await screen.open("""<button onclick="const c = document.createElement('canvas'); c.toBlob(b =>
      navigator.clipboard.write([new ClipboardItem({'image/png': b})]))">Copy</button>""")
    await screen.click("Copy")
    clipboard = (await screen.environment.evidence()).clipboard
    assert clipboard.image_sha256 is not None and len(clipboard.image_sha256) == 64


async def test_downloads_land_in_the_downloads_folder_without_overwriting(screen: Screen) -> None:
    await screen.open("""<a download="../report.txt" href="data:text/plain,content">Save</a>""")
    await screen.click("Save")
    await screen.click("Save")
    files = {file.path: file.text for file in (await screen.environment.evidence()).files}
    saved = {path: text for path, text in files.items() if path.startswith("Downloads/")}
    assert len(saved) == 2 and set(saved.values()) == {"content"}
    assert any(path.endswith(" (1).txt") for path in saved)


async def test_no_native_save_dialog_can_open(screen: Screen) -> None:
    await screen.open(
        "<p id=x></p><script>x.textContent = 'pickers: ' + typeof window.showSaveFilePicker</script>"
    )
    assert "pickers: undefined" in screen.texts


CHOOSER = """<input type=file aria-label=File onchange="const r = new FileReader(); r.onload = () =>
  out.textContent = 'got ' + this.files[0].name + ' ' + r.result; r.readAsText(this.files[0])"><p id=out></p>"""


async def test_a_file_is_chosen_in_the_environments_picker(screen: Screen) -> None:
    await screen.open(CHOOSER)
    observation = await screen.click("File")
    assert observation.window_title == "Open file"
    assert {"Documents", "Downloads", "Open", "Cancel"} <= set(screen.texts)
    assert {control.application for control in screen.controls} == {"environment"}
    await screen.click("Documents", double=True)
    assert (
        screen.find("a.txt").control_type == "ListItem"
        and screen.find("Parent folder").control_type == "Button"
    )
    await screen.click("deep")
    await screen.click("Open")
    await screen.click("b.txt")
    await screen.click("Open")
    assert "got b.txt deep" in screen.texts
    events = (await screen.environment.evidence()).inputs
    assert {event.application for event in events} == {"page", "environment"}


async def test_a_file_name_can_be_typed_into_the_picker(screen: Screen) -> None:
    await screen.open(CHOOSER)
    await screen.click("File")
    await screen.type("Documents/none.txt{ENTER}", into="File name")
    assert "There is no file Documents/none.txt." in screen.texts
    await screen.type("^aDocuments/a.txt{ENTER}", into="File name")
    assert "got a.txt hello" in screen.texts


async def test_the_picker_can_be_cancelled_and_opened_again(screen: Screen) -> None:
    await screen.open(CHOOSER)
    for leave in ("{ESC}", ""):
        await screen.click("File")
        await (screen.type(leave) if leave else screen.click("Cancel"))
        assert screen.texts == ["File"]
    await screen.click("File")
    with pytest.raises(ActionInvalid, match="answer it before"):
        await screen.click("Reload")


async def test_questions_of_a_page_are_windows_with_buttons(screen: Screen) -> None:
    await screen.open(
        """<button onclick="alert('Watch out'); out.textContent = confirm('Sure?') + ' ' + prompt('Name?', 'x')">Ask</button><p id=out></p>"""
    )
    await screen.click("Ask")
    assert screen.texts == ["Page says", "Watch out", "OK"]
    await screen.click("OK")
    assert "Sure?" in screen.texts
    await screen.click("Cancel")
    assert screen.find("Answer").value == "x"
    await screen.type("Ann{ENTER}", into="Answer")
    assert "false xAnn" in screen.texts or "false Ann" in screen.texts


async def test_leaving_a_changed_page_is_asked_about(screen: Screen) -> None:
    await screen.open(
        """<button onclick="onbeforeunload = event => event.preventDefault()">Change</button><a href="next.html">Go</a>""",
        next="<p>Next page</p>",
    )
    await screen.click("Change")
    observation = await screen.click("Go")
    assert observation.window_title == "Leave page?"
    await screen.click("Stay")
    assert "Change" in screen.texts
    await screen.click("Go")
    await screen.click("Leave")
    assert screen.texts == ["Next page"]


async def test_a_drop_down_shows_its_options_as_controls(screen: Screen) -> None:
    await screen.open("""<select aria-label=Colour onchange="document.title = 'chose ' + this.value">
      <option>Red<option disabled>Grey<option>Green</select>""")
    await screen.click("Colour")
    assert screen.texts == ["Red", "Grey", "Green"] and screen.find("Grey").disabled
    observation = await screen.click("Green")
    assert observation.window_title == "chose Green" and screen.find("Colour").value == "Green"
    await screen.click("Colour")
    await screen.type("{ESC}")
    assert screen.find("Colour").value == "Green"


async def test_new_windows_become_tabs_on_the_task_bar(screen: Screen) -> None:
    await screen.open(
        """<title>Start</title><a href="next.html" target=_blank>Open</a>""",
        next="<title>Next</title><p>Next page</p>",
    )
    observation = await screen.click("Open")
    assert observation.window_title == "Next" and screen.texts == ["Next page"]
    await screen.click("Page", "TaskBarButton")
    assert "Open" in screen.texts
    await screen.click("Page: Next", "TaskBarButton")
    await screen.click("Close tab")
    assert screen.now.window_title == "Start"


async def test_back_and_reload_are_on_the_task_bar(screen: Screen) -> None:
    await screen.open(
        """<title>One</title><input aria-label=Field><a href="next.html">Go</a>""",
        next="<title>Two</title>Two",
    )
    await screen.click("Back")
    assert screen.now.window_title == "One", "there is nothing before the first page"
    await screen.type("text", into="Field")
    await screen.click("Reload")
    assert screen.find("Field").value == ""
    await screen.click("Go")
    assert screen.now.url.endswith("/next.html") and "127.0.0.1/" in screen.now.url
    await screen.click("Back")
    assert screen.now.window_title == "One"


async def test_nothing_reaches_another_machine_and_the_attempt_is_recorded(screen: Screen) -> None:
    await screen.open("""
      <button onclick="fetch('http://example.com/a').catch(() => out.textContent = 'fetch refused')">Fetch</button>
      <button onclick="fetch('http://93.184.216.34/b').catch(() => out.textContent = 'number refused')">Number</button>
      <button onclick="new WebSocket('ws://example.com/c').onerror = () => out.textContent = 'socket refused'">Socket</button>
      <p id=out>nothing</p><img src="https://example.org/picture.png">""")
    for name in ("Fetch", "Number", "Socket"):
        await screen.click(name)
        assert f"{name.lower()} refused" in screen.texts
    blocked = (await screen.environment.evidence()).blocked_requests
    assert set(blocked) == {
        "http://example.com/a",
        "http://93.184.216.34/b",
        "ws://example.com/c",
        "https://example.org/picture.png",
    }


async def test_applications_share_files_and_clipboard_but_no_cookies(screen: Screen) -> None:
    cookies = (
        "<p id=x></p><script>x.textContent = 'cookies: ' + document.cookie; document.cookie = 'a=1'</script>"
    )
    first = screen.application("first", index=cookies + "<input aria-label=Field value=shared>")
    second = screen.application("second", index=cookies + "<input aria-label=Field>")
    screen.now = await screen.environment.reset([first, second])
    await screen.type("^a^c", into="Field")
    screen.now = await screen.environment.bring_to_front("second")
    assert "cookies:" in screen.texts
    await screen.type("^v", into="Field")
    assert screen.find("Field").value == "shared"
    await screen.click("First", "TaskBarButton")
    assert screen.now.active_application == "first"


async def test_a_reset_forgets_everything(screen: Screen) -> None:
    page = """<p id=x></p><script>x.textContent = 'seen ' + (localStorage.n || 0) + document.cookie;
      localStorage.n = 1; document.cookie = 'a=1'</script>"""
    for _ in range(2):
        await screen.open(page)
        assert "seen 0" in screen.texts
        (screen.sandbox.home / "Documents" / "a.txt").write_text("changed")
        (screen.sandbox.home / "new.txt").write_text("new")
        await screen.do(WaitInput(seconds=0))
        changed = {file.path: file.text for file in (await screen.environment.evidence()).files}
        assert changed["Documents/a.txt"] == "changed" and "new.txt" in changed
    await screen.open(page)
    evidence = await screen.environment.evidence()
    assert {file.path: file.text for file in evidence.files} == {
        "Documents/a.txt": "hello",
        "Documents/deep/b.txt": "deep",
    }
    assert evidence.step == 0 and not evidence.inputs


async def test_the_picture_shows_page_and_task_bar(screen: Screen) -> None:
    await screen.open("<body style='background:#00ff00'><p>Green</p>")
    with Image.open(io.BytesIO(screen.now.screenshot.png)) as picture:
        assert picture.size == screen.now.screen_size == (1280, 800)
        assert picture.getpixel((640, 400)) == (0, 255, 0)
        assert picture.getpixel((1270, 790)) != (0, 255, 0)
    same = await screen.environment.observe()
    assert same.screenshot.sha256 == screen.now.screenshot.sha256


async def test_a_page_that_hangs_breaks_the_episode_but_not_the_environment(
    screen: Screen, tmp_path: Path
) -> None:
    settings = WebBrowserSettings(
        data_folder=tmp_path / "data", temporary_folder=tmp_path / "temporary", action_limit_seconds=4
    )
    folder = tmp_path / "pages"
    folder.mkdir()
    impatient = Screen(WebEnvironment(settings), folder)
    try:
        await impatient.open("<button onclick='while(true){}'>Hang</button>")
        with pytest.raises(EnvironmentBroken, match="did not answer within 4 s"):
            await impatient.click("Hang")
        await impatient.open("<button>Fine</button>")
        assert impatient.texts == ["Fine"]
    finally:
        await impatient.environment.close()


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


async def test_a_browser_that_dies_is_started_again_at_the_next_reset(screen: Screen) -> None:
    for process in marked_processes(f"{MARK}={screen.sandbox.root}"):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(EnvironmentBroken):
        await screen.do(KeyboardInput(keys="x"))
    await screen.open("<button>Back again</button>")
    assert screen.texts == ["Back again"]


async def test_an_application_that_cannot_start_is_named_with_the_reason(screen: Screen) -> None:
    page = screen.application("page", index="<p>x</p>")
    missing = page.model_copy(update={"launch": Launch(serve="/nowhere/at/all")})
    with pytest.raises(ApplicationUnavailable, match="/nowhere/at/all"):
        await screen.environment.reset([missing])
    ends = page.model_copy(update={"launch": Launch(command=("sh", "-c", "echo broken pipe dream; exit 3"))})
    with pytest.raises(ApplicationStartFailed, match=r"ended with 3.*broken pipe dream"):
        await screen.environment.reset([ends])
    never = page.model_copy(update={"launch": Launch(command=("sleep", "60"), start_timeout_seconds=0.3)})
    with pytest.raises(ApplicationStartFailed, match=r"did not open its port within 0\.3 s"):
        await screen.environment.reset([never])
    unready = page.model_copy(
        update={"launch": Launch(serve=page.launch.serve, ready_text="No such", start_timeout_seconds=1)}
    )
    with pytest.raises(ApplicationStartFailed, match="'No such' did not appear"):
        await screen.environment.reset([unready])
    absent = page.model_copy(update={"installation": Installation(pip=("never==1",))})
    with pytest.raises(ApplicationUnavailable, match="not installed"):
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
        with pytest.raises(BrowserMissing, match=str(executable)):
            await environment.reset([page])
        await environment.close()
    assert not list((tmp_path / "temporary").iterdir())
    assert not list(for_the_driver.glob("playwright_chromiumdev_profile-*"))
