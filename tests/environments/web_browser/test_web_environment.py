"""What an agent can do in a page, and what the environment does for it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from taskloom.environments.errors import (
    ActionInvalidError,
)
from taskloom.environments.starting_place import go_to_starting_place
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    DragInput,
    HoldInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
)
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_inputs_reach_the_page(screen: Screen) -> None:
    await screen.open(
        """
      <button ondblclick="log('double')" oncontextmenu="log('right');return false" onauxclick="if(event.button==1)log('middle')">Target</button>
      <div aria-label=Board tabindex=0 role=img style="width:200px;height:100px;background:#ddd"></div><p id=out></p>
      <script>const log = text => out.textContent += text + ' ', board = document.querySelector('[role=img]');
      board.onmousedown = e => log('down' + e.offsetX); board.onmouseup = e => log('up' + e.offsetX); board.onclick = e => log('at' + e.offsetX);
      document.onkeydown = e => { if (e.ctrlKey && e.key === 's') { e.preventDefault(); log('save'); } }</script>"""  # noqa: E501
    )
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


@pytest.mark.slow
async def test_a_page_that_never_rests_is_not_waited_for_without_end(screen: Screen) -> None:
    await screen.open(
        """<button>Ready</button><p id=x></p><script>setInterval(() => x.textContent = Date.now(), 10)</script>"""  # noqa: E501
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


async def test_a_window_that_only_starts_a_download_goes_again(screen: Screen) -> None:
    page = screen.application("page", index="""<button onclick="window.open('all.zip')">Zip</button>""")
    (Path(page.launch.serve) / "all.zip").write_bytes(b"PK")
    screen.now = await screen.environment.reset([page])
    for copy in ("all.zip", "all (1).zip"):
        await screen.click("Zip")
        assert screen.texts == ["Zip"] and screen.now.window_title == ""
        assert f"Downloads/{copy}" in {file.path for file in (await screen.environment.evidence()).files}


async def test_no_native_save_dialog_can_open(screen: Screen) -> None:
    await screen.open(
        "<p id=x></p><script>x.textContent = 'pickers: ' + typeof window.showSaveFilePicker</script>"
    )
    assert "pickers: undefined" in screen.texts


CHOOSER = """<input type=file aria-label=File onchange="const r = new FileReader(); r.onload = () =>
  out.textContent = 'got ' + this.files[0].name + ' ' + r.result; r.readAsText(this.files[0])"><p id=out></p>"""  # noqa: E501


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
    with pytest.raises(ActionInvalidError, match="answer it before"):
        await screen.click("Reload")


async def test_questions_of_a_page_are_windows_with_buttons(screen: Screen) -> None:
    await screen.open(
        """<button onclick="alert('Watch out'); out.textContent = confirm('Sure?') + ' ' + prompt('Name?', 'x')">Ask</button><p id=out></p>"""  # noqa: E501
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
        """<button onclick="onbeforeunload = event => event.preventDefault()">Change</button><a href="next.html">Go</a>""",  # noqa: E501
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


async def test_the_start_page_keeps_the_state_of_the_application(screen: Screen) -> None:
    await screen.open(
        """<a href="next.html">Go</a><p id=p></p><script>p.textContent = 'kept ' + localStorage.getItem('k')</script>""",  # noqa: E501
        next="""<button onclick="localStorage.setItem('k', 'this'); location.hash = 'x'">Keep</button>
          <a href="next.html" target=_blank>Open</a>""",
    )
    await screen.click("Go")
    await screen.click("Keep")
    await screen.click("Open")
    await screen.click("Start page")
    assert screen.texts == ["Go", "kept this"]
    await screen.click("Back")
    assert "Keep" in screen.texts


@pytest.mark.slow
async def test_going_to_the_start_page_never_hangs_on_unsaved_changes(screen: Screen) -> None:
    page = screen.application(
        "page",
        index="""<button onclick="onbeforeunload = event => event.preventDefault()">Change</button>
          <select aria-label=Colour><option>Red<option>Green</select><input type=file aria-label=Upload>""",
    )
    for leaving in ("", "Colour", "Upload"):
        screen.now = await screen.environment.reset([page])
        await screen.click("Change")
        if leaving:
            await screen.click(leaving)
        going = await go_to_starting_place(screen.environment, "page", "Page", screen.now, first_page=True)
        assert going.termination == "finished"
        assert [step.target.text for step in going.steps if step.target] == ["Start page", "Leave"]
        assert "Change" in [control.text for control in going.observation.controls]
        assert not going.observation.window_title.startswith("Leave")


async def test_a_page_of_another_machine_can_be_reloaded_and_left(screen: Screen) -> None:
    await screen.open("<title>Here</title><a href='http://example.com/'>Powered by</a>")
    await screen.click("Powered by")
    await screen.click("Reload")
    assert screen.now.window_title != "Here"
    await screen.click("Start page")
    assert screen.now.window_title == "Here"


async def test_nothing_reaches_another_machine_and_the_attempt_is_recorded(screen: Screen) -> None:
    await screen.open("""
      <button onclick="fetch('http://example.com/a').catch(() => out.textContent = 'fetch refused')">Fetch</button>
      <button onclick="fetch('http://93.184.216.34/b').catch(() => out.textContent = 'number refused')">Number</button>
      <button onclick="new WebSocket('ws://example.com/c').onerror = () => out.textContent = 'socket refused'">Socket</button>
      <p id=out>nothing</p><img src="https://example.org/picture.png">""")  # noqa: E501
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


async def test_a_control_that_moved_or_went_since_it_was_seen_is_not_clicked(screen: Screen) -> None:
    await screen.open("""<div id=a><button onclick="document.title += 'A'">A</button></div>
      <div id=b><button onclick="document.title += 'B'">B</button></div>""")
    tabs = screen.environment._tabs
    assert tabs is not None
    await tabs.front.page.evaluate("document.body.prepend(document.querySelector('#b'))")
    with pytest.raises(ActionInvalidError, match="'A' has moved"):
        await screen.click("A")
    screen.now = await screen.environment.observe()
    assert screen.now.window_title == ""
    await tabs.front.page.evaluate("document.querySelector('#b').remove()")
    with pytest.raises(ActionInvalidError, match="'B' is gone"):
        await screen.click("B")


async def test_every_gesture_can_be_made_at_a_point(screen: Screen) -> None:
    await screen.open("""<style>body {margin: 0} div {position: absolute; width: 80px; height: 40px}</style>
      <div id=a style="left:0;top:0" tabindex=0 aria-label=A></div><div id=b style="left:200px;top:100px" tabindex=0 aria-label=B></div>
      <script>const seen = []; const note = text => { seen.push(text); document.title = seen.join(' '); };
      addEventListener('mousedown', event => note('down' + event.clientX + ',' + event.clientY + (event.ctrlKey ? 'ctrl' : '')));
      addEventListener('mouseup', event => note('up' + event.clientX + ',' + event.clientY));
      a.onclick = event => note('click' + event.detail); a.onmouseenter = () => note('over');
      addEventListener('wheel', event => note('wheel' + event.deltaX + ',' + event.deltaY));
      addEventListener('keydown', event => note('key' + event.key)); addEventListener('keyup', event => note('free' + event.key));
      </script>""")  # noqa: E501
    actions: list[Action] = [
        MoveInput(point=(5, 6)),
        ClickInput(point=(5, 6), triple=True),
        ClickInput(point=(7, 8), held=("ctrl",)),
        DragInput(points=((10, 10), (210, 110))),
        WheelMouseInput(point=(20, 20), wheel_distance=-1, wheel_sideways=2),
        HoldInput(keys="^a", seconds=0),
    ]
    for action in actions:
        observation = await screen.do(action)
    assert (
        observation.window_title == "over down5,6 up5,6 click1 down5,6 up5,6 click2 down5,6 up5,6 click3"
        " keyControl down7,8ctrl up7,8 click1 freeControl down10,10 up210,110 over wheel240,120"
        " keyControl keya freea freeControl"
    )
    inputs = (await screen.environment.evidence()).inputs
    assert [(item.kind, item.text, item.control.text if item.control else "") for item in inputs] == [
        ("move", "", "A"),
        ("click", "left triple", "A"),
        ("click", "ctrl+left", "A"),
        ("drag", "10,10 210,110", "A"),
        ("wheel", "-1 2 sideways", "A"),
        ("hold", "press Ctrl+A", ""),
    ]
