"""All gestures an agent can perform, one class each (Table 10, and what computer-use agents do beyond it),
with their forms in the input log, in words, in the paper's fields and as PyAutoGUI statements. To add one,
add a class to `Action` and a method to each platform that supports it."""

from typing import Annotated, Final, Literal

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.errors import KeysInvalidError
from taskloom.taskgraph.records.keys import read_keys, runs

Point = tuple[int, int]
"""A pixel of the screenshot, from its upper left corner."""
Fraction = tuple[float, float]
"""A point inside a control, as fractions of its width and height."""
Button = Literal["left", "right", "middle"]
"""A mouse button."""
Coordinates = Literal["labels", "pixels", "fractions", "thousandths"]
"""How an actor points: by labels of controls only, or also by points in pixels, 0 to 1, or 0 to 1000."""
Modifier = Literal["ctrl", "alt", "shift"]
"""A key held down during another input."""

_PYAUTOGUI_KEYS: Final = {"escape": "esc", "contextmenu": "apps"}
_CLICKS: Final = {1: "click", 2: "double-click", 3: "triple-click"}


class Gesture(Record):
    """The base of all gestures, with empty defaults."""

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """Its points within its control."""
        return ()

    @property
    def manner(self) -> tuple[str, ...]:
        """What distinguishes it from other gestures of its kind on the control, apart from position."""
        return ()

    def events(self) -> tuple[tuple[str, str], ...]:
        """Kind and text of the input events it makes (`taskloom.taskgraph.records.evidence.InputEvent`)."""
        return ()

    def arguments(self) -> dict[str, object]:
        """Its arguments under the paper's names (App. C.2): `keys` and `seconds`, if it has them."""
        names = [name for name in ("keys", "seconds") if name in type(self).model_fields]
        return {name: getattr(self, name) for name in names}

    def in_words(self, target: str) -> str:
        """The gesture on `target`, which may be empty, as a person would describe it."""
        raise NotImplementedError

    def statements(self, points: list[Point]) -> list[str]:
        """PyAutoGUI statements that perform it at `points` (the action space of OmniACT, Table 2)."""
        return []


class PointedGesture(Gesture):
    """A gesture on a control or at a point. Recordings contain both."""

    control_label: str = ""
    """Label of the control in the observation that the action answers; empty where a point is given."""
    control_text: str = ""
    """The agent's text for that control, empty if not given; refused if the label is another control's."""
    point: Point | None = None
    """Pixel of the screenshot; None for a named control: its centre, unless `position` says otherwise."""
    position: Fraction | None = None
    """Point as fractions of the control's rectangle."""

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The position, by default the centre."""
        return (self.position or (0.5, 0.5),)

    def in_words(self, target: str) -> str:
        """The gesture and its target."""
        return f"{self._verb()} {target or self._place()}".strip()

    def _verb(self) -> str:
        raise NotImplementedError

    def _place(self) -> str:
        if self.control_label:
            return f"control {self.control_label}"
        return f"at {self.point[0]}, {self.point[1]}" if self.point else ""


class ClickInput(PointedGesture):
    """Click (`click_input`)."""

    operation: Literal["click_input"] = "click_input"
    """Discriminator."""
    button: Button = "left"
    """Mouse button."""
    double: bool = False
    """Whether to click twice."""
    triple: bool = False
    """Whether to click three times, which selects a line or paragraph."""
    held: tuple[Modifier, ...] = ()
    """Keys held down during the click."""

    @property
    def times(self) -> int:
        """How many clicks."""
        return 3 if self.triple else 2 if self.double else 1

    @property
    def manner(self) -> tuple[str, ...]:
        """Button, number of clicks, keys held."""
        return (self.button, str(self.times), *self.held)

    def events(self) -> tuple[tuple[str, str], ...]:
        """The button, `double` or `triple`, after the keys held."""
        word = {1: "", 2: " double", 3: " triple"}[self.times]
        return (("click", "".join(f"{key}+" for key in self.held) + self.button + word),)

    def arguments(self) -> dict[str, object]:
        """`button`, `double` and anything non-default."""
        arguments: dict[str, object] = {"button": self.button, "double": self.double}
        arguments |= {"triple": True} if self.triple else {}
        arguments |= {"held": list(self.held)} if self.held else {}
        return arguments | ({"position": list(self.position)} if self.position is not None else {})

    def statements(self, points: list[Point]) -> list[str]:
        """A click with its button and count, while the keys are held."""
        x, y = points[0] if points else (0, 0)
        function = {1: "click", 2: "doubleClick", 3: "tripleClick"}[self.times]
        if self.times == 1 and self.button == "right":
            click = f"pyautogui.rightClick({x}, {y})"
        else:
            button = "" if self.button == "left" else f", button={self.button!r}"
            click = f"pyautogui.{function}({x}, {y}{button})"
        down = [f"pyautogui.keyDown({key!r})" for key in self.held]
        return [*down, click, *(f"pyautogui.keyUp({key!r})" for key in reversed(self.held))]

    def _verb(self) -> str:
        button = "" if self.button == "left" else f" {self.button}"
        held = "".join(f"{key.capitalize()}+" for key in self.held)
        return f"{held}{_CLICKS[self.times]}{button}"


class MoveInput(PointedGesture):
    """Move the pointer and leave it there, to reveal what appears on hover (`move_input`)."""

    operation: Literal["move_input"] = "move_input"
    """Discriminator."""

    def events(self) -> tuple[tuple[str, str], ...]:
        """One `move`."""
        return (("move", ""),)

    def statements(self, points: list[Point]) -> list[str]:
        """A move."""
        return [f"pyautogui.moveTo({x}, {y})" for x, y in points]

    def _verb(self) -> str:
        return "point at"


class WheelMouseInput(PointedGesture):
    """Turn the wheel (`wheel_mouse_input`); without a control or point, over the middle of the screen."""

    operation: Literal["wheel_mouse_input"] = "wheel_mouse_input"
    """Discriminator."""
    wheel_distance: int = 0
    """Notches, positive upwards."""
    wheel_sideways: int = 0
    """Notches, positive to the right."""

    @property
    def manner(self) -> tuple[str, ...]:
        """The direction."""
        sideways = (str(self.wheel_sideways > 0),) if self.wheel_sideways else ()
        return (str(self.wheel_distance > 0), *sideways)

    def events(self) -> tuple[tuple[str, str], ...]:
        """The notches."""
        sideways = f" {self.wheel_sideways} sideways" if self.wheel_sideways else ""
        return (("wheel", f"{self.wheel_distance}{sideways}"),)

    def arguments(self) -> dict[str, object]:
        """`wheel_dist`, and `wheel_sideways` if it is not 0."""
        sideways = {"wheel_sideways": self.wheel_sideways} if self.wheel_sideways else {}
        return {"wheel_dist": self.wheel_distance, **sideways}

    def statements(self, points: list[Point]) -> list[str]:
        """A move, then the turns."""
        turns = [f"pyautogui.scroll({self.wheel_distance})"]
        if self.wheel_sideways:
            turns = [*turns[: bool(self.wheel_distance)], f"pyautogui.hscroll({self.wheel_sideways})"]
        return [*(f"pyautogui.moveTo({x}, {y})" for x, y in points), *turns]

    def in_words(self, target: str) -> str:
        """The direction and the distance."""
        ways = [("up" if self.wheel_distance > 0 else "down", abs(self.wheel_distance))]
        if self.wheel_sideways:
            ways = ways[: bool(self.wheel_distance)]
            ways.append(("right" if self.wheel_sideways > 0 else "left", abs(self.wheel_sideways)))
        turned = ", ".join(f"{way} by {notches}" for way, notches in ways)
        return f"turn the wheel {turned}" + (f" over {target}" if target else "")


class KeyboardInput(PointedGesture):
    """Type text and keys (`keyboard_input`), in pywinauto's syntax."""

    operation: Literal["keyboard_input"] = "keyboard_input"
    """Discriminator."""
    keys: str
    """`^` Ctrl, `%` Alt, `+` Shift, `{ENTER}`, `{TAB 2}`; a literal special character is put in braces. A
    given control or point is clicked first; without either, the keys go to what has the focus."""

    def events(self) -> tuple[tuple[str, str], ...]:
        """Texts typed and keys pressed, in order."""
        return tuple(
            ("text", part) if isinstance(part, str) else ("key", part.chord)
            for part in runs(read_keys(self.keys))
        )

    def in_words(self, target: str) -> str:
        """Text typed and keys pressed."""
        return keys_in_words(self.keys) + (f" in {target}" if target else "")

    def statements(self, points: list[Point]) -> list[str]:
        """A click if there is a point, then the typing."""
        return [f"pyautogui.click({x}, {y})" for x, y in points] + _typing_statements(self.keys)


class HoldInput(Gesture):
    """Hold a key or chord down for a while (`hold_input`)."""

    operation: Literal["hold_input"] = "hold_input"
    """Discriminator."""
    keys: str
    """One key or chord, in the syntax of `keyboard_input`."""
    seconds: float = Field(default=1.0, ge=0, le=5)
    """How long."""

    def events(self) -> tuple[tuple[str, str], ...]:
        """The chord."""
        return (("hold", keys_in_words(self.keys)),)

    def in_words(self, target: str) -> str:
        """The keys and the duration."""
        return f"{keys_in_words(self.keys).replace('press', 'hold')} for {self.seconds:g} s"

    def statements(self, points: list[Point]) -> list[str]:
        """Key down, a pause, key up."""
        names = [
            name
            for press in read_keys(self.keys)
            for name in (*press.modifiers, _PYAUTOGUI_KEYS.get(press.key, press.key))
        ]
        down = [f"pyautogui.keyDown({name!r})" for name in names]
        up = [f"pyautogui.keyUp({name!r})" for name in reversed(names)]
        return [*down, f"pyautogui.sleep({self.seconds:g})", *up]


class DragInput(PointedGesture):
    """Press, move along points and release (`drag_input`); inside a control, or from one to another."""

    operation: Literal["drag_input"] = "drag_input"
    """Discriminator."""
    path: tuple[Fraction, ...] = ()
    """Points as fractions of the control's rectangle, at least two; for a drag inside one control."""
    points: tuple[Point, ...] = ()
    """Pixels of the screenshot, at least two; always present in a recording."""
    end_label: str = ""
    """Label of the control that it ends on, if it is another one."""

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The path."""
        return self.path

    @property
    def manner(self) -> tuple[str, ...]:
        """How many points."""
        return (str(len(self.path or self.points)),)

    def events(self) -> tuple[tuple[str, str], ...]:
        """The path in fractions, or the pixels of a drag between controls."""
        inside = " ".join(f"{x:.3f},{y:.3f}" for x, y in self.path)
        return (("drag", inside or " ".join(f"{x},{y}" for x, y in self.points)),)

    def arguments(self) -> dict[str, object]:
        """`path`, or `points` for a drag between controls."""
        name, points = ("path", self.path) if self.path else ("points", self.points)
        return {name: [list(point) for point in points]}

    def in_words(self, target: str) -> str:
        """The drag and where it begins."""
        return f"drag {'in ' if self.path else ''}{target or self._place()}"

    def statements(self, points: list[Point]) -> list[str]:
        """One stroke: a move and a drag, or a path with the button down (each `dragTo` releases it)."""
        moves = [f"pyautogui.moveTo({x}, {y})" for x, y in points]
        if len(points) == 2:
            x, y = points[1]
            return [moves[0], f"pyautogui.dragTo({x}, {y}, button='left')"]
        return [*moves[:1], "pyautogui.mouseDown()", *moves[1:], "pyautogui.mouseUp()"]


class WaitInput(Gesture):
    """Do nothing for a while (`wait`)."""

    operation: Literal["wait"] = "wait"
    """Discriminator."""
    seconds: float = Field(default=1.0, ge=0, le=5)
    """How long."""

    def in_words(self, target: str) -> str:
        """How long."""
        return f"wait {self.seconds:g} s"


Action = Annotated[
    ClickInput | MoveInput | WheelMouseInput | KeyboardInput | HoldInput | DragInput | WaitInput,
    Field(discriminator="operation"),
]
"""One action of an agent."""

GESTURES: Final[dict[str, type[Gesture]]] = {
    gesture.model_fields["operation"].default: gesture
    for gesture in (ClickInput, MoveInput, WheelMouseInput, KeyboardInput, HoldInput, DragInput, WaitInput)
}
"""The gestures by operation."""


def keys_in_words(keys: str) -> str:
    """Keys of Table 10 as text typed and keys pressed; invalid keys stay as they are.

    >>> keys_in_words("^aVisitor{ENTER}{TAB 2}")
    'press Ctrl+A, type “Visitor”, press Enter, Tab, Tab'
    """
    try:
        pressed = runs(read_keys(keys))
    except KeysInvalidError:
        return f"type {keys}"
    parts: list[str] = []
    pressing = False
    for item in pressed:
        if isinstance(item, str):
            parts.append(f"type “{item}”")
        else:
            name = "+".join(part.capitalize() for part in (*item.modifiers, item.key))
            parts.append(name if pressing else f"press {name}")
        pressing = not isinstance(item, str)
    return ", ".join(parts) or "type nothing"


def _typing_statements(keys: str) -> list[str]:
    """Keys as PyAutoGUI statements; imported keys that break the syntax are typed literally."""
    try:
        presses = read_keys(keys)
    except KeysInvalidError:
        return [f"pyautogui.write({keys!r})"]
    statements: list[str] = []
    for part in runs(presses):
        if isinstance(part, str):
            statements.append(f"pyautogui.write({part!r})")
        elif part.modifiers:
            names = [*part.modifiers, _PYAUTOGUI_KEYS.get(part.key, part.key.lower())]
            statements.append(f"pyautogui.hotkey({', '.join(map(repr, names))})")
        else:
            statements.append(f"pyautogui.press({_PYAUTOGUI_KEYS.get(part.key, part.key)!r})")
    return statements
