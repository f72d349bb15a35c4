"""What the one pass over a page finds, and what it leaves out."""

from __future__ import annotations

import pytest

from taskloom.taskgraph.records.interaction import ClickInput
from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_names_come_from_where_a_person_would_read_them(screen: Screen) -> None:
    await screen.open("""
      <button aria-label="By label">x</button> <span id=n1>By</span><span id=n2>reference</span>
      <button aria-labelledby="n1 n2">x</button> <label for=f>For label</label><input id=f>
      <label>Wrapped <input></label> <button title="By title"><i></i></button> <img alt="By alt" width=20 height=20>
      <input placeholder="By placeholder"> <button>By <b>text</b></button>
      <button><svg width=10 height=10><title>By svg</title><rect width=10 height=10 /></svg></button>
      <input type=submit value="By value"> <input type=checkbox id=c><span>Beside it</span>""")  # noqa: E501
    for text, kind in [
        ("By label", "Button"),
        ("By reference", "Button"),
        ("For label", "Edit"),
        ("Wrapped", "Edit"),
        ("By title", "Button"),
        ("By alt", "Image"),
        ("By placeholder", "Edit"),
        ("By text", "Button"),
        ("By svg", "Button"),
        ("By value", "Button"),
        ("Beside it", "CheckBox"),
    ]:
        assert screen.find(text, kind)


async def test_types_and_states(screen: Screen) -> None:
    await screen.open(
        """
      <a href=#>Link</a> <div role=tab aria-selected=true>Tab one</div> <div role=menuitem>Item</div>
      <input type=checkbox checked aria-label=Box> <input type=radio aria-label=Dot> <button disabled>Off</button>
      <select aria-label=List><option>Red<option selected>Blue</select> <textarea aria-label=Area>two
lines</textarea> <div role=switch aria-checked=false>Switch</div> <div onclick="1" style="width:60px">Bare click</div>
      <input type=password aria-label=Secret value=abc> <input aria-label=Focus autofocus> <h2>Title</h2> <p>Plain</p>"""  # noqa: E501
    )
    assert screen.find("Link").control_type == "Hyperlink"
    assert screen.find("Tab one").control_type == "TabItem" and screen.find("Tab one").checked is True
    assert screen.find("Item").control_type == "MenuItem"
    assert screen.find("Box").checked is True and screen.find("Dot").checked is False
    assert screen.find("Off").disabled and not screen.find("Link").disabled
    assert (screen.find("List").control_type, screen.find("List").value) == ("ComboBox", "Blue")
    assert screen.find("Area").value == "two\nlines"
    assert screen.find("Switch").control_type == "CheckBox" and screen.find("Switch").checked is False
    assert screen.find("Bare click").control_type == "Custom"
    assert screen.find("Secret").value == "•••"
    assert screen.find("Focus").focused and not screen.find("Area").focused
    assert screen.find("Title").control_type == "Heading" and screen.find("Plain").control_type == "Text"


async def test_hidden_and_scrolled_away_controls_are_left_out(screen: Screen) -> None:
    await screen.open(
        """
      <button>Seen</button> <button style="display:none">None</button> <button style="visibility:hidden">Hidden</button>
      <div style="opacity:0"><button>Clear</button></div> <button style="position:absolute;left:-500px">Away</button>
      <button style="position:absolute;top:3000px">Below</button> <button style="width:0;height:0;padding:0;border:0">Nil</button>
      <div style="height:60px;overflow:auto"><button>Top</button><div style="height:300px"></div><button>Rolled</button></div>"""  # noqa: E501
    )
    assert screen.texts == ["Seen", "Top"]


async def test_what_a_modal_covers_is_left_out(screen: Screen) -> None:
    await screen.open("""
      <button>Behind</button><p>Text behind</p>
      <div style="position:fixed;inset:0;background:rgba(0,0,0,.4)"><div role=dialog aria-label="Question"
        style="background:#fff;width:300px;margin:200px auto"><p>Sure?</p><button>Yes</button></div></div>""")
    assert screen.texts == ["Sure?", "Yes"]
    yes = screen.find("Yes")
    assert (yes.parent_type, yes.parent_text) == ("Dialog", "Question")


async def test_a_control_covered_in_its_middle_is_clicked_where_it_is_free(screen: Screen) -> None:
    await screen.open("""
      <div style="position:relative;width:400px;height:60px"><button style="width:400px;height:60px"
        onclick="document.title='hit'">Wide</button>
      <div style="position:absolute;left:100px;top:0;width:200px;height:60px;background:#ccc"></div></div>""")
    observation = await screen.click("Wide")
    assert observation.window_title == "hit"


async def test_open_shadow_roots_and_frames_are_entered(screen: Screen) -> None:
    await screen.open(
        """<div id=host></div><iframe src="inner.html" style="margin:30px;width:300px;height:120px"></iframe>
        <script>const root = host.attachShadow({mode: 'open'});
        root.innerHTML = '<button onclick="document.title=`shadow`">In shadow</button>';</script>""",
        inner="""<button onclick="parent.document.title='frame'">In frame</button><input aria-label="Frame field">""",  # noqa: E501
    )
    assert (await screen.click("In shadow")).window_title == "shadow"
    assert (await screen.click("In frame")).window_title == "frame"
    await screen.type("typed", into="Frame field")
    field = screen.find("Frame field")
    assert field.value == "typed" and field.focused


async def test_what_lies_over_a_frame_hides_what_is_in_it(screen: Screen) -> None:
    await screen.open(
        """<iframe src="inner.html" style="width:300px;height:120px"></iframe>
        <div style="position:fixed;inset:0;background:#fff">Cover</div>""",
        inner="<button>In frame</button>",
    )
    assert screen.texts == ["Cover"]


async def test_nested_controls_of_one_name_are_listed_once(screen: Screen) -> None:
    await screen.open("""
      <ul><li><a href=#>Entry</a></li></ul> <div style="cursor:pointer"><button>Wrapped</button></div>
      <button><span>Inner</span> text</button> <label><input type=checkbox> Agree</label>
      <ul><li>First</li><li><button>Second</button></li></ul>""")
    assert [(control.control_type, control.text) for control in screen.controls] == [
        ("Hyperlink", "Entry"),
        ("Button", "Wrapped"),
        ("Button", "Inner text"),
        ("CheckBox", "Agree"),
        ("ListItem", "First"),
        ("ListItem", "Second"),
    ]


async def test_a_check_box_drawn_by_its_label_can_be_used(screen: Screen) -> None:
    await screen.open("""
      <style>input{position:absolute;opacity:0;width:0;height:0} i{display:inline-block;width:14px;height:14px;background:#888}</style>
      <label><input type=checkbox><i></i> Fancy</label>""")  # noqa: E501
    assert screen.find("Fancy", "CheckBox").checked is False
    await screen.click("Fancy")
    assert screen.find("Fancy", "CheckBox").checked is True


@pytest.mark.parametrize("place", ["position:absolute;left:20px;top:10px", "position:static"])
async def test_a_check_box_drawn_beside_an_empty_label_can_be_used(screen: Screen, place: str) -> None:
    await screen.open(f"""
      <style>td{{position:relative;height:60px;width:90px}} input{{position:absolute;opacity:0;width:0;height:0}}
      label{{display:inline-block}} .boxed:before{{content:'';display:inline-block;{place};width:18px;height:18px;background:#888}}</style>
      <table><tr><th>Anna</th><td><input type=checkbox id=may><label for=may class=boxed></label></td></tr>
      <tr><th>Ben</th><td><input type=checkbox id=not><label for=not></label></td></tr></table>""")  # noqa: E501
    boxes = [control for control in screen.controls if control.control_type == "CheckBox"]
    assert [(box.text, box.checked) for box in boxes] == [("", False)]
    await screen.do(ClickInput(control_label=boxes[0].label))
    assert [box.checked for box in screen.controls if box.control_type == "CheckBox"] == [True]


async def test_editable_content_shows_its_text_as_value(screen: Screen) -> None:
    await screen.open("""<div contenteditable aria-label=Notes style="min-height:40px"><p>one</p></div>""")
    await screen.click("Notes")
    await screen.type("^{END}{ENTER}two (2)".replace("(2)", "{(}2{)}"))
    notes = screen.find("Notes")
    assert notes.control_type == "Edit" and notes.value == "one\ntwo (2)" and notes.focused


async def test_editors_that_draw_themselves_are_one_control_with_their_text(screen: Screen) -> None:
    await screen.open("""
      <div class=CodeMirror style="height:60px"><pre>line</pre></div>
      <div class=monaco-editor style="height:60px"><div class=view-lines><div class=view-line>second</div></div></div>
      <div class=ace_editor style="height:60px">drawn</div>
      <script>document.querySelector('.CodeMirror').CodeMirror = {getValue: () => 'a\\nb'};
      document.querySelector('.ace_editor').env = {editor: {getValue: () => 'ace text'}};</script>""")  # noqa: E501
    assert [(control.control_type, control.value) for control in screen.controls] == [
        ("Edit", "a\nb"),
        ("Edit", "second"),
        ("Edit", "ace text"),
    ]


async def test_text_drawn_over_a_shape_is_seen(screen: Screen) -> None:
    await screen.open("""<svg width=300 height=100><g><rect x=10 y=10 width=200 height=60 fill="#cde"></rect>
      <text x=30 y=45 style="pointer-events:none">Node name</text></g></svg>""")
    assert screen.texts == ["Node name"]


async def test_labels_are_unique_and_in_reading_order(screen: Screen) -> None:
    await screen.open("".join(f"<p><button>Same</button> <b>Row {row}</b></p>" for row in range(8)))
    labels = [int(control.label) for control in screen.now.controls]
    assert labels == list(range(1, len(labels) + 1))
    tops = [control.rectangle.top for control in screen.controls]
    assert sorted(tops) == tops


async def test_odd_pages_do_no_harm(screen: Screen) -> None:
    await screen.open("""
      <form><input name=getAttribute aria-label=A><input name=children aria-label=B><button name=tagName>Go</button></form>
      <script>customElements.define('odd-one', class extends HTMLElement { get value() { return this.value; } });</script>
      <odd-one tabindex=0>Odd</odd-one> bare text""")  # noqa: E501
    assert {"A", "B", "Go", "Odd"} <= set(screen.texts)


async def test_long_lists_are_found_in_one_pass(screen: Screen) -> None:
    await screen.open("".join(f"<button style='font-size:6px'>B{number}</button>" for number in range(600)))
    assert len(screen.controls) == 600


async def test_a_page_that_changed_how_values_become_json_is_seen_as_it_is(screen: Screen) -> None:
    await screen.open(
        "<script>Array.prototype.toJSON = () => 'gone'; String.prototype.toJSON = () => 'gone';</script>"
        "<button>Save</button><input aria-label='Name' value='Ada &#8232; 😀'>"
    )
    assert screen.texts == ["Save", "Name"]
    assert screen.find("Name").value == "Ada \u2028 😀"
    assert screen.find("Save").rectangle.right > screen.find("Save").rectangle.left
