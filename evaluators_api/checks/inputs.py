"""Checks of the route: what the agent clicked and typed (App. E.2). Checks of state say more."""

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.text_matching import same_content, shown_in
from taskloom.taskgraph.text_folding import same_label


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
