"""Control trees become flat lists of what can be seen and used, whichever toolkit made the trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.platforms.linux_desktop.server.controls import flat_controls, open_windows
from taskloom.environments.platforms.linux_desktop.server.display import Window
from taskloom.environments.platforms.linux_desktop.server.foreign import as_xml
from taskloom.environments.platforms.linux_desktop.server.trees import (
    Box,
    Forest,
    Node,
    Reference,
    Role,
    State,
)

SIZE = (800, 600)
SHOWN = 1 << State.SHOWING | 1 << State.SENSITIVE
BUTTON = 43
MAIN: Box = (0, 0, 800, 600)


class Tree:
    """Collects the nodes of one application."""

    def __init__(self, process: int = 7) -> None:
        self.process = process
        self.nodes: list[Node] = []
        self.root = self.add(None, Role.APPLICATION, "program", MAIN)

    def add(
        self, parent: Node | None, role: int, name: str, box: Box | None, states: int = SHOWN, **more: Any
    ) -> Node:
        reference: Reference = (f":{self.process}", f"/{len(self.nodes)}")
        above = parent.reference if parent is not None else reference
        node = Node(
            reference, above, len(self.nodes), name, role, states, frozenset(), process=self.process, box=box
        )
        for field, value in more.items():
            setattr(node, field, value)
        self.nodes.append(node)
        return node


def forest(*trees: Tree) -> Forest:
    return Forest({node.reference: node for tree in trees for node in tree.nodes}, ())


def window(box: Box = MAIN, process: int = 7, popup: bool = False) -> Window:
    return Window(1, box, process, "Window", "Program", popup)


def texts(controls: Iterable[dict[str, object]]) -> list[object]:
    return [control["text"] for control in controls]


def main_window(tree: Tree) -> Node:
    return tree.add(tree.root, Role.FRAME, "Letters - Program", MAIN)


def test_reads_from_top_to_bottom_and_from_left_to_right() -> None:
    tree = Tree()
    frame = main_window(tree)
    tree.add(frame, BUTTON, "last", (10, 100, 50, 20))
    tree.add(frame, BUTTON, "second", (100, 10, 50, 20))
    tree.add(frame, BUTTON, "first", (10, 10, 50, 20))
    assert texts(flat_controls(forest(tree), [window()], SIZE)) == ["first", "second", "last"]


def test_what_is_hidden_or_outside_is_left_out_and_what_is_cut_is_cut() -> None:
    tree = Tree()
    frame = main_window(tree)
    tree.add(frame, BUTTON, "hidden", (10, 10, 50, 20), 0)
    tree.add(frame, BUTTON, "outside", (900, 10, 50, 20))
    view = tree.add(frame, 68, "", (0, 100, 200, 50))
    tree.add(view, BUTTON, "scrolled away", (10, 300, 50, 20))
    tree.add(view, BUTTON, "half", (10, 140, 50, 20))
    (control,) = flat_controls(forest(tree), [window()], SIZE)
    assert control["text"] == "half" and control["box"] == (10, 140, 50, 10)


def test_a_window_that_must_be_answered_hides_the_others_of_its_program() -> None:
    tree = Tree()
    tree.add(main_window(tree), BUTTON, "behind", (10, 10, 50, 20))
    dialog = tree.add(tree.root, Role.DIALOG, "Save?", (300, 200, 200, 100), SHOWN | 1 << State.MODAL)
    tree.add(dialog, BUTTON, "Yes", (310, 260, 50, 20))
    shown = flat_controls(forest(tree), [window(), window((290, 180, 220, 130))], SIZE)
    assert texts(shown) == ["Yes"]
    assert (shown[0]["parent_type"], shown[0]["parent_text"]) == ("Dialog", "Save?")


def test_a_dialog_inside_of_a_window_does_not_hide_that_window() -> None:
    tree = Tree()
    page = tree.add(main_window(tree), 95, "page", MAIN)
    dialog = tree.add(page, Role.DIALOG, "Edit", (100, 100, 300, 200), SHOWN | 1 << State.MODAL)
    tree.add(dialog, BUTTON, "Save", (110, 110, 50, 20))
    assert texts(flat_controls(forest(tree), [window()], SIZE)) == ["Save"]


def test_a_heading_is_told_once() -> None:
    tree = Tree()
    heading = tree.add(main_window(tree), 83, "Plan", (10, 10, 100, 20))
    tree.add(heading, 116, "Plan", (10, 10, 40, 20))
    assert texts(flat_controls(forest(tree), [window()], SIZE)) == ["Plan"]


def test_another_programs_window_covers() -> None:
    below, above = Tree(7), Tree(8)
    frame = main_window(below)
    below.add(frame, BUTTON, "covered", (10, 10, 50, 20))
    below.add(frame, BUTTON, "half covered", (180, 10, 100, 20))
    above.add(
        above.add(above.root, Role.FRAME, "Small", (0, 0, 200, 100)), BUTTON, "on top", (20, 50, 50, 20)
    )
    windows = [window(), window((0, 0, 200, 100), 8)]
    shown = {
        control["text"]: control["point"] for control in flat_controls(forest(below, above), windows, SIZE)
    }
    assert set(shown) == {"half covered", "on top"}
    assert isinstance(shown["half covered"], tuple) and shown["half covered"][0] >= 200


def test_an_open_menu_covers_its_own_window_and_is_not_covered_by_it() -> None:
    tree = Tree()
    frame = main_window(tree)
    bar = tree.add(frame, Role.MENU_BAR, "", (0, 0, 800, 20))
    menu = tree.add(bar, Role.MENU, "File", (0, 0, 40, 20))
    tree.add(menu, Role.MENU_ITEM, "Save", (0, 20, 100, 20))
    tree.add(frame, BUTTON, "under the menu", (10, 25, 50, 10))
    shown = flat_controls(forest(tree), [window(), window((0, 20, 100, 200), popup=True)], SIZE)
    assert texts(shown) == ["File", "Save"]
    assert shown[1]["parent_type"] == "Menu" and shown[1]["parent_text"] == "File"


def test_cells_know_what_their_row_is_called() -> None:
    tree = Tree()
    table = tree.add(main_window(tree), Role.TABLE, "", (0, 0, 400, 200))
    for row, (name, size) in enumerate((("a.txt", "1 kB"), ("b.txt", "2 kB"))):
        top = 20 * row
        tree.add(table, Role.TABLE_CELL, "", (0, top, 20, 20), row=row, column=0)
        tree.add(table, Role.TABLE_CELL, name, (20, top, 100, 20), row=row, column=1)
        tree.add(table, Role.TABLE_CELL, size, (120, top, 50, 20), row=row, column=2)
    shown = [(item["text"], item["row"]) for item in flat_controls(forest(tree), [window()], SIZE)]
    assert shown == [("a.txt", ""), ("1 kB", "a.txt"), ("b.txt", ""), ("2 kB", "b.txt")]


def test_a_field_is_called_what_its_label_says_and_holds_its_text() -> None:
    tree = Tree()
    frame = main_window(tree)
    label = tree.add(frame, Role.LABEL, "Name:", (0, 0, 50, 20))
    tree.add(
        frame,
        Role.TEXT,
        "",
        (60, 0, 200, 20),
        SHOWN | 1 << State.FOCUSED,
        text="notes.txt",
        label=label.reference,
    )
    _, field = flat_controls(forest(tree), [window()], SIZE)
    assert (field["type"], field["text"], field["value"], field["focused"]) == (
        "Edit",
        "Name",
        "notes.txt",
        True,
    )


def test_a_box_says_whether_it_is_checked() -> None:
    tree = Tree()
    frame = main_window(tree)
    tree.add(frame, Role.CHECK_BOX, "wrap", (0, 0, 50, 20), SHOWN | 1 << State.CHECKED)
    tree.add(frame, Role.CHECK_BOX, "numbers", (0, 30, 50, 20), 1 << State.SHOWING)
    wrap, numbers = flat_controls(forest(tree), [window()], SIZE)
    assert (wrap["checked"], wrap["disabled"]) == (True, False)
    assert (numbers["checked"], numbers["disabled"]) == (False, True)


def test_open_windows_are_counted_by_process() -> None:
    tree = Tree()
    main_window(tree)
    tree.add(tree.root, Role.DIALOG, "", (0, 0, 10, 10))
    tree.add(tree.root, Role.DIALOG, "", (0, 0, 10, 10), 0)
    assert open_windows(forest(tree)) == {7: 2}


def test_the_trees_are_told_in_the_words_of_osworlds_server() -> None:
    tree = Tree()
    frame = main_window(tree)
    tree.add(frame, Role.TEXT, "", (0, 0, 50, 20), text="a < b\x00", value=1.5)
    told = ElementTree.fromstring(as_xml(forest(tree)))
    text = next(element for element in told.iter() if element.tag == "text")
    assert [element.tag for element in told.iter()] == ["desktop-frame", "application", "frame", "text"]
    assert text.text == "a < b"
    facts = {name.rpartition("}")[2]: value for name, value in text.attrib.items()}
    assert (facts["screencoord"], facts["size"], facts["value"], facts["showing"]) == (
        *("(0, 0)", "(50, 20)", "1.5"),
        "true",
    )


BOXES = st.tuples(*(st.integers(-50, 900) for _ in range(4)))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20), st.integers(0, 120), BOXES, st.integers(0, 2**42 - 1), st.text(max_size=3)
        ),
        max_size=20,
    ),
    st.lists(BOXES, max_size=4),
)
def test_whatever_the_trees_say_controls_are_on_the_screen(
    parts: list[tuple[int, int, Box, int, str]], boxes: list[Box]
) -> None:
    tree = Tree()
    for parent, role, box, states, name in parts:
        tree.add(tree.nodes[parent % len(tree.nodes)], role, name, box, states | 1 << State.SHOWING)
    for control in flat_controls(forest(tree), [window(box) for box in boxes], SIZE):
        place, point = control["box"], control["point"]
        assert isinstance(place, tuple) and isinstance(point, tuple)
        left, top, width, height = place
        x, y = point
        assert width > 0 and height > 0 and left <= x < left + width and top <= y < top + height
        assert left >= 0 and top >= 0 and left + width <= SIZE[0] and top + height <= SIZE[1]


def test_all_that_a_scrolled_view_shows_is_a_canvas_where_nothing_tells_what_it_is() -> None:
    tree = Tree()
    view = tree.add(main_window(tree), 68, "", (0, 100, 200, 50))
    tree.add(view, Role.UNKNOWN, "", (0, 100, 200, 900))
    other = tree.add(
        tree.add(main_window(tree), 68, "", (0, 200, 200, 50)), Role.UNKNOWN, "", (0, 200, 90, 50)
    )
    tree.add(other, BUTTON, "inside", (0, 200, 50, 20))
    shown = [
        (item["type"], item["text"], item["box"]) for item in flat_controls(forest(tree), [window()], SIZE)
    ]
    assert shown == [("Canvas", "", (0, 100, 200, 50)), ("Button", "inside", (0, 200, 50, 20))]


def test_a_number_is_clicked_beside_its_middle_where_its_buttons_begin() -> None:
    tree = Tree()
    tree.add(main_window(tree), Role.SPIN_BUTTON, "Width", (400, 10, 100, 20))
    (control,) = flat_controls(forest(tree), [window()], SIZE)
    assert control["point"] == (425, 20)
