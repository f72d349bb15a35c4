"""Pages as others write them: turned and closed frames, shadowed names, fields of the browser's own."""

from __future__ import annotations

from html import escape

import pytest

from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.interaction import Action, HoldInput, KeyboardInput
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize(
    "style",
    [
        "transform: scale(.5); transform-origin: 0 0",
        "zoom: 1.5",
        "rotate: 8deg",
        "transform: rotate(-12deg) scale(1.2); margin: 40px",
        "scale: .7; border: 6px solid; padding: 4px",
    ],
)
async def test_controls_in_transformed_frames_are_listed_and_hit(screen: Screen, style: str) -> None:
    button = '<button style=margin-left:90px onclick="parent.hit()">Press</button>'
    await screen.open(
        f"""<div style="{style}; width: 300px"><iframe style="width: 220px; height: 60px" srcdoc='{button}'></iframe></div>
        <p id=out>none</p><script>function hit() {{ out.textContent = 'hit' }}</script>"""  # noqa: E501
    )
    await screen.click("Press")
    assert "hit" in screen.texts


async def test_frames_inside_transformed_frames_are_hit(screen: Screen) -> None:
    inner = "<button onclick=&amp;quot;top.out.textContent=`deep`&amp;quot;>Deep</button>"
    middle = (
        f'<div style="scale: .8"><iframe style="width: 200px; height: 50px" srcdoc="{inner}"></iframe></div>'
    )
    await screen.open(
        f"<iframe style='rotate: 20deg; margin: 60px; height: 90px' srcdoc='{middle}'></iframe><p id=out></p>"
    )
    await screen.click("Deep")
    assert "deep" in screen.texts


async def test_lists_maps_closed_roots_and_frames_of_other_origins_are_listed(screen: Screen) -> None:
    await screen.open(
        """<select multiple aria-label=Several><option>alpha<option>beta</select>
        <img usemap="#plan" width=100 height=60 alt=Plan
        src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">
        <map name=plan><area shape=rect coords="0,0,50,60" href="#west" alt=West>
        <area shape=circle coords="75,30,20" href="#east" alt=East></map> <div id=host></div>
        <iframe id=other width=300 height=60></iframe>
        <script>host.attachShadow({mode: 'closed'}).innerHTML = '<button>Closed press</button>';
        other.src = `http://localhost:${location.port}/pay.html`</script>""",
        pay="<button onclick=\"this.textContent = 'Paid'\">Pay now</button>",
    )
    assert {"alpha", "beta", "West", "East", "Closed press", "Pay now"} <= set(screen.texts)
    await screen.click("Pay now")
    assert "Paid" in screen.texts
    await screen.click("beta")
    assert screen.find("Several").value == "beta"


async def test_names_that_shadow_the_document_hide_nothing(screen: Screen) -> None:
    names = (
        "parentElement children tagName nodeType classList querySelector closest getRootNode textContent"
        " shadowRoot assignedSlot childNodes innerText matches"
    )
    fields = "".join(f"<input name={name} aria-label={name}>" for name in names.split())
    await screen.open(
        f"<form role=row>{fields}<button type=button>Inside</button></form>"
        "<form name=activeElement></form><form name=getAnimations></form><form name=createTreeWalker></form>"
        "<img name=elementFromPoint><img name=body><button>Outside</button>"
    )
    assert {"Inside", "Outside", *names.split()} <= set(screen.texts)


LATER = "out.textContent = &quot;changed&quot;"


@pytest.mark.parametrize(
    "work",
    [
        *(f"setTimeout(() => {{ {LATER} }}, {after})" for after in (50, 150, 400)),
        f"setTimeout('{LATER}', 200)",
        f"let n = 0, id = setInterval(() => {{ if (++n == 3) {{ clearInterval(id); {LATER} }} }}, 100)",
        f"scheduler.postTask(() => {{ {LATER} }}, {{delay: 250}})",
    ],
)
async def test_a_change_that_the_page_put_off_is_seen(screen: Screen, work: str) -> None:
    page = f'<button onclick="{work}">Later</button><p id=out>before</p>'
    frame = f'<iframe srcdoc="{escape(page)}"></iframe>'
    in_a_root = (
        f"""<div><template shadowrootmode=open>{frame}</template></div><script>var length = 0</script>"""
    )
    for html in (page, frame, in_a_root):
        await screen.open(html)
        await screen.click("Later")
        assert "changed" in screen.texts


async def test_a_page_may_replace_its_timers(screen: Screen) -> None:
    await screen.open(
        """<button onclick="later.call(window, () => { out.textContent = 'changed' }, 60)">Later</button>
        <p id=out></p><script>const later = setTimeout; setTimeout = clearTimeout = () => 0</script>"""
    )
    await screen.click("Later")
    assert "changed" in screen.texts


async def test_pages_in_objects_are_frames(screen: Screen) -> None:
    await screen.open(
        """<object data="data:text/html,<button onclick='this.textContent = 1 + 1'>Inside</button>"></object>
        <object data="nowhere.bin" type="x/y"><button>Instead</button></object>"""
    )
    assert "Instead" in screen.texts
    await screen.click("Inside")
    assert "2" in screen.texts


async def test_waiting_for_a_page_leaves_no_work_in_it_and_draws_few_frames(screen: Screen) -> None:
    await screen.open(
        """<p>Quiet</p><script>window.frames_asked = 0; const ask = window.requestAnimationFrame;
        window.requestAnimationFrame = work => { window.frames_asked += 1; return ask(work) }</script>"""
    )
    assert screen.environment._tabs is not None
    page = screen.environment._tabs.front.page
    before = await page.evaluate("window.frames_asked")
    await screen.environment.observe()
    assert await page.evaluate("window.frames_asked") - before == 3
    assert await page.evaluate("window[Symbol.for('taskloom.due')]()") == []


async def test_keys_that_an_american_keyboard_lacks_are_pressed_and_let_go(screen: Screen) -> None:
    await screen.open(
        """<p id=out>none</p><script>document.onkeydown = event => {
        out.textContent = `${event.ctrlKey ? 'ctrl ' : ''}${event.key}` }</script>"""
    )
    pressed: list[tuple[Action, str]] = [
        (KeyboardInput(keys="^é"), "ctrl é"),
        (KeyboardInput(keys="^я"), "ctrl я"),
        (HoldInput(keys="ß", seconds=0.1), "ß"),
        (KeyboardInput(keys="{F2}"), "F2"),
    ]
    for action, said in pressed:
        screen.now = await screen.environment.act(action)
        assert said in screen.texts


@pytest.mark.parametrize(
    ("kind", "form", "value", "wrong"),
    [
        ("date", "YYYY-MM-DD", "2026-05-31", "31/05/2026"),
        ("time", "HH:MM", "14:30", "half past two"),
        ("month", "YYYY-MM", "2026-07", "July"),
        ("week", "YYYY-Www", "2026-W21", "21"),
        ("datetime-local", "YYYY-MM-DDTHH:MM", "2026-05-31T10:15", "tomorrow"),
        ("color", "#rrggbb", "#ff8800", "orange"),
    ],
)
async def test_fields_of_the_browsers_own_take_the_form_that_they_name(
    screen: Screen, kind: str, form: str, value: str, wrong: str
) -> None:
    await screen.open(
        f"<label>Due <input id=e type={kind} onchange='out.textContent = e.value'></label><p id=out>none</p>"
    )
    field = screen.find(f"Due ({form})", "Edit")
    with pytest.raises(ActionInvalidError, match=form):
        await screen.environment.act(KeyboardInput(control_label=field.label, keys=wrong))
    screen.now = await screen.environment.act(KeyboardInput(control_label=field.label, keys=value))
    assert value in screen.texts and screen.find(f"Due ({form})").value == value


_PICKERS = """<label>Folder <input id=b type=file webkitdirectory></label>
<label>Several <input id=a type=file multiple></label><p id=out>none</p><script>
const shown = file => file.webkitRelativePath || file.name;
for (const e of [a, b]) e.onchange = () => { out.textContent = [...e.files].map(shown).join('|') || 'empty' }
</script>"""


async def test_folders_can_be_chosen(screen: Screen) -> None:
    await screen.open(_PICKERS)
    await screen.click("Folder")
    await screen.type("^aDocuments/deep{ENTER}", "File name")
    assert "deep/b.txt" in screen.texts


async def test_a_file_is_no_folder(screen: Screen) -> None:
    await screen.open(_PICKERS)
    await screen.click("Folder")
    await screen.type("^aDocuments/a.txt{ENTER}", "File name")
    assert "Documents/a.txt is a file; choose a folder." in screen.texts


async def test_several_files_can_be_chosen(screen: Screen) -> None:
    await screen.open(_PICKERS)
    await screen.click("Several")
    await screen.type('^a"Documents/a.txt" "Documents/deep/b.txt"{ENTER}', "File name")
    assert "a.txt|b.txt" in screen.texts


async def test_a_question_without_words_shows_none(screen: Screen) -> None:
    await screen.open("<button onclick=\"alert('')\">Ask</button>")
    await screen.click("Ask")
    assert screen.texts == ["Page says", "OK"]


async def test_digits_come_from_a_text_font_where_a_page_names_the_families_of_other_desktops(
    screen: Screen,
) -> None:
    await screen.open(
        """<span style="font-family:-apple-system, 'Segoe UI', 'Apple Color Emoji', 'Noto Color Emoji'">
        0123456789 12:30</span><br><span style="font-family:'Liberation Sans'">0123456789 12:30</span>
        <br><span style="font-family:Menlo, Consolas, 'Noto Color Emoji'">0123456789 12:30</span>
        <br><span style="font-family:'DejaVu Sans Mono'">0123456789 12:30</span><p id=out></p>
        <script>const widths = [...document.querySelectorAll('span')].map(span => span.offsetWidth);
        out.textContent = widths[0] == widths[1] && widths[2] == widths[3] && widths[0] != widths[2]
          ? 'alike' : widths.join(' ')</script>"""
    )
    assert "alike" in screen.texts
