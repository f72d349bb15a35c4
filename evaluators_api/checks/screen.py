"""Checks of the route, which is what the agent clicked and typed (App. E.2; checks of state prove more), and
of the last screen: its controls, rows, picture and window."""

import re
from urllib.parse import unquote

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.evidence.evidence_view import CANVAS, EvidenceView
from taskloom.evaluators_api.state.records import parts_of, records_of, same_value, text_of
from taskloom.evaluators_api.text_matching import (
    has_phrase,
    read_in_picture,
    same_content,
    shown_exactly,
    shown_in,
)
from taskloom.taskgraph.text_folding import same_label

_TITLE_SEPARATOR = re.compile(r" [-\u2013\u2014|\u00b7\u2022:] ")


@check("inputs", in_paper=True)
def check_mouse_clicks(scene: Scene, text: str) -> bool:
    """Checks if the mouse has clicked on a control with this text.

    The whole text of the control counts, without regard to case: 'Save' is not 'Save As'. It tells that the
    control was clicked at some time, not that the click had any effect; check the resulting state as well.

    Args:
        text: Text of the control, such as 'More actions'.

    Example:
        check_mouse_clicks(text='More actions')
    """
    return any(same_label(text, clicked) for clicked in scene.view.clicks)


@check("inputs", in_paper=True)
def check_keyboard_types(scene: Scene, text: str) -> bool:
    """Checks if the keyboard has typed this text, or pressed this key or chord.

    What was typed into one control in one go, one of its lines, or a phrase in a long text counts. It does
    not tell that the text was saved; check the resulting state as well.

    Args:
        text: The text, or a key such as 'enter' or 'ctrl+s'.

    Example:
        check_keyboard_types(text='Hello, World!')
    """
    chord = text.strip().strip("{}").replace(" ", "").casefold()
    pressed = (event.text.casefold() for event in scene.view.evidence.inputs if event.kind == "key")
    if chord and chord in pressed:
        return True
    return any(same_content(text, typed) or shown_in(text, typed) for typed in scene.view.typed)


@check("screen")
def check_row_shows(scene: Scene, row: str, text: str) -> bool:
    """Checks if the row called row, of a table or list on the last screen, shows this whole text: the state
    of one thing among others.

    Args:
        row: Name of the row, as the application writes it.

    Example:
        check_row_shows(row='backup', text='running')
    """
    return any(
        shown_in(text, shown)
        for name, texts in scene.view.rows.items()
        if same_label(row, name)
        for shown in texts
    )


@check("screen", of="records")
def check_records_shown(scene: Scene, file_path: str, part: str) -> bool:
    """Checks if a part of a file, such as a table of a database, has records and the last screen shows all of
    them, on whatever page.

    Each record must be seen with all of its values in one row. What else is on the screen does not matter.

    Example:
        check_records_shown(file_path='.applications/desk/shop.db', part='orders')
    """
    return shows_records(scene.view, file_path, part)


def shows_records(view: EvidenceView, file_path: str, part: str) -> bool:
    """Whether every record below the address `part` of a file is a row on the screen, with all values."""
    tree = view.tree(file_path)
    records = [
        [text for child in record.children if (text := text_of(child)).strip()]
        for record in (records_of(tree, part) if tree is not None and parts_of(part) else ())
    ]
    return bool(records) and all(
        any(
            all(any(same_value(value, text) for text in (name, *texts)) for value in values)
            for name, texts in view.rows.items()
        )
        for values in records
    )


@check("screen", in_paper=True)
def check_text_exists_via_ocr(scene: Scene, text: str) -> bool:
    """Checks if the text is present in the last screenshot using OCR (Optical Character Recognition).

    Slow, may misread, and is refused where no OCR program is installed: use it only for text that is painted,
    such as on a canvas, and check_text_exists_via_control for everything else.

    Example:
        check_text_exists_via_ocr(text='9:00 AM')
    """
    screenshot = scene.view.evidence.screenshot
    if not text.strip() or screenshot is None:
        return False
    return any(read_in_picture(text, reading) for reading in scene.reader.read(screenshot))


@check("screen", in_paper=True)
def check_text_exists_via_control(scene: Scene, text: str, exact: bool = False) -> bool:
    """Checks if the text is present in the last screenshot through control information.

    The whole text or the whole content of a control counts, or a phrase within a long one.

    Args:
        exact: Whether it must be there letter by letter, with its case. What merely stands in an input
            control does not count then: it may have been typed and never confirmed (see check_control_value).
            A canvas that says all its texts must say this one and no more.

    Example:
        check_text_exists_via_control(text='print("Hello World!")')
    """
    if exact:
        return any(
            shown_exactly(text, control.text, whole=control.control_type == CANVAS)
            for control in scene.view.evidence.controls
        )
    return any(shown_in(text, shown) for shown in scene.view.shown)


@check("screen")
def check_text_shown_times(scene: Scene, text: str, times: int) -> bool:
    """Checks how often the text is to be seen on the last screen: controls called so, letter by letter.

    A control around them that says all their texts, such as a canvas, is no further one, but counts where it
    says more. Use it where something was drawn or listed that no file keeps, so that a second one beside it
    is noticed. What merely stands in an input control does not count.

    Args:
        text: The text, letter by letter.
        times: How often it must be there; 0 for nowhere.

    Example:
        check_text_shown_times(text='Router', times=1)
    """
    return scene.view.times_shown(text) == times


@check("screen")
def check_canvas(scene: Scene, text: str) -> bool:
    """Checks if a canvas shows exactly these texts, in this order: all shapes and their labels, and nothing
    else.

    It sees canvases whose texts are controls, and is for drawings that no file keeps; see check_drawing for
    those that are saved.

    Args:
        text: The texts, letter by letter, with a space between two.

    Example:
        check_canvas(text='Router Printer')
    """
    return " ".join(text.split()) in scene.view.canvases


@check("screen", in_paper=True)
def check_text_exists(scene: Scene, text: str) -> bool:
    """Checks if the text is included in the last screenshot, by control information first and by OCR
    otherwise.

    Example:
        check_text_exists(text='Project Files')
    """
    return bool(check_text_exists_via_control(scene, text) or check_text_exists_via_ocr(scene, text))


@check("screen")
def check_control_value(scene: Scene, text: str, value: str) -> bool:
    """Checks if the input control called text holds exactly this value on the last screen.

    Args:
        text: Text of the input control, such as 'Title'.

    Example:
        check_control_value(text='Title', value='Meeting notes')
    """
    return any(
        same_content(value, control.value) or (not value.strip() and not control.value.strip())
        for control in scene.view.controls_named(text)
    )


@check("screen")
def check_control_checked(scene: Scene, text: str, checked: bool = True) -> bool:
    """Checks if the check box, radio button or switch called text is on (or off) on the last screen.

    Example:
        check_control_checked(text='Dark mode')
    """
    return any(control.checked is checked for control in scene.view.controls_named(text))


@check("screen")
def check_text_under_cursor(scene: Scene, text: str) -> bool:
    """Checks if the control under the mouse pointer shows this text.

    Example:
        check_text_under_cursor(text='Export')
    """
    return shown_in(text, scene.view.evidence.text_under_cursor)


@check("screen")
def check_window(scene: Scene, text: str) -> bool:
    """Checks if the window or page in front is this one.

    The whole title counts, a part of it between separators (' - ', ' | '), the name of the application in
    front, or a part of the address that begins with '/' or '#', such as '/tables/orders'.

    Args:
        text: Title, part of the title, application name, or part of the address.

    Example:
        check_window(text='report.csv')
    """
    evidence = scene.view.evidence
    title = " ".join(evidence.window_title.split())
    if same_label(text, evidence.active_application) or any(
        same_label(text, part) for part in (title, *_TITLE_SEPARATOR.split(title))
    ):
        return True
    address = unquote(evidence.url)
    if text.startswith(("/", "#", "?")):
        return has_phrase(unquote(text), address)
    return same_content(unquote(text), address)
