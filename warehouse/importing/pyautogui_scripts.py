"""PyAutoGUI scripts as actions; scripts are parsed, never run.

A script is one action here, exactly as written, or is refused with the reason.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final, Literal

from taskloom.resources.reading.yaml_reading import read_file
from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Button, Modifier
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
    escape_keys,
)
from taskloom.warehouse.importing.episodes import DemonstratedAction, Picture, drag, point, read_or_reason


class _Language(Record):
    """The functions, buttons and keys that scripts may use."""

    functions: dict[str, tuple[str, ...]]
    clicks: dict[str, tuple[Button, int]]
    buttons: dict[object, Button]
    modifiers: dict[str, tuple[str, Modifier]]
    keys: dict[str, str]


_FILE: Final = files(__package__).joinpath("pyautogui.yaml")
_LANGUAGE: Final = _Language.model_validate(read_file(_FILE, _FILE.name).content)
_HARMLESS: Final = frozenset({"duration", "tween", "interval", "logScreenshot", "_pause"})
"""Arguments about speed, which do not change the action."""
_MAX_PRESSES: Final = 20_000
_WITHOUT_POINT: Final = (HoldInput, KeyboardInput, WaitInput)
"""Actions without a point: moving the pointer before one is an action of its own."""
Fractions = tuple[float, float]


@dataclass(slots=True)
class _ScriptState:
    """The actions of a script so far, and the buttons and keys that are down."""

    picture: Picture
    fractions: bool
    actions: list[DemonstratedAction] = field(default_factory=list)
    pointer: Fractions | None = None
    """Position of the pointer, where the script gives it."""
    moved: bool = False
    """Whether it was moved there and no action has used that yet."""
    path: list[Fractions] | None = None
    """Path of the pointer while the left button is down."""
    keys_down: list[str] = field(default_factory=list)
    used: bool = False
    """Whether something was done while they were down."""
    paused: float = 0.0
    copied: str | None = None
    """Text on the clipboard that has not been pasted yet."""

    def perform(self, name: str, arguments: dict[str, Any]) -> None:
        target = self._point_in(arguments)
        if self.moved and target != self.pointer and name != "dragto":
            self._add_pointed(MoveInput())
        if name in ("keydown", "keyup"):
            self._press_or_release(name, str(arguments.get("key", "")))
        elif name in ("moveto", "mousedown", "mouseup", "dragto"):
            self._move_or_drag(name, target, arguments)
        elif name in ("sleep", "wait"):
            seconds = float(arguments["seconds"]) if "seconds" in arguments else 1.0
            if self.keys_down and not self.used:
                self.paused += seconds
            elif 0 <= seconds <= 5:
                self._add(DemonstratedAction(WaitInput(seconds=seconds)))
            else:
                raise ValueError(f"waits {seconds:g} s; at most 5 s are one action")
        elif self.path is not None:
            raise ValueError(f"does {name} while a button is down")
        elif name in _LANGUAGE.clicks:
            self._click(name, target, arguments)
        elif name in ("scroll", "vscroll", "hscroll"):
            self._scroll(name, target, arguments.get("clicks"))
        elif name == "copy":
            self.copied = arguments.get("text")
            if not isinstance(self.copied, str) or not self.copied:
                raise ValueError("copies no text")
        elif name == "terminate":
            raise ValueError("ends the task with a status other than success, or does more")
        else:
            self._type(name, arguments)

    def finish(self) -> list[DemonstratedAction]:
        if self.path is not None or self.keys_down or self.copied is not None:
            raise ValueError("leaves a button or key down, or a text on the clipboard")
        if self.moved:
            self._add_pointed(MoveInput())
        return self.actions

    def _add(self, recorded: DemonstratedAction) -> None:
        if self.moved and self.pointer is not None and isinstance(recorded.action, _WITHOUT_POINT):
            self.actions.append(DemonstratedAction(MoveInput(), point(*self.pointer, self.picture)))
        self.actions.append(recorded)
        self.moved = False

    def _add_pointed(self, action: ClickInput | MoveInput | WheelMouseInput) -> None:
        if self.pointer is None and not isinstance(action, WheelMouseInput):
            raise ValueError("does not say where")
        self._add(DemonstratedAction(action, point(*self.pointer, self.picture) if self.pointer else None))

    def _point_in(self, arguments: dict[str, Any]) -> Fractions | None:
        x: Any = arguments.get("x")
        y: Any = arguments.get("y")
        if isinstance(x, (tuple, list)) and y is None:
            x, y = x
        if x is None and y is None:
            return self.pointer
        if any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in (x, y)):
            raise ValueError("does not say where")
        width, height = (1, 1) if self.fractions else (self.picture.width, self.picture.height)
        target = (float(x) / width, float(y) / height)
        point(*target, self.picture)
        return target

    def _move_or_drag(self, name: str, target: Fractions | None, arguments: dict[str, Any]) -> None:
        if name == "moveto":
            self.pointer = target
            self.moved = self.path is None
            if self.path is not None and target is not None:
                self.path.append(target)
            return
        if _LANGUAGE.buttons.get(arguments.get("button", "left")) != "left":
            raise ValueError(f"drags with the button {arguments.get('button')!r}")
        if target is None or (name == "dragto" and self.pointer is None):
            raise ValueError("does not say where its drag begins")
        if self.keys_down or (self.path is None) == (name == "mouseup"):
            raise ValueError("drags while a button or key is down")
        path = self.path or [self.pointer or target]
        self.pointer = target
        if name == "mousedown":
            self.path, self.moved = [target], False
            return
        self.path = None
        points = path if path[-1] == target else [*path, target]
        if len(points) < 2 and name == "mouseup":
            self._add_pointed(ClickInput())
        else:
            self._add(drag(points if len(points) > 1 else points * 2, self.picture))

    def _click(self, name: str, target: Fractions | None, arguments: dict[str, Any]) -> None:
        button, times = _LANGUAGE.clicks[name]
        times = arguments.get("clicks", times)
        button = _LANGUAGE.buttons.get(arguments.get("button", button), button)
        if times not in (1, 2, 3) or arguments.get("button", button) not in _LANGUAGE.buttons:
            raise ValueError(f"clicks {times} times with the button {arguments.get('button', button)!r}")
        modifiers = tuple(_modifier(key)[1] for key in self.keys_down)
        self.pointer, self.used = target, True
        self._add_pointed(ClickInput(button=button, double=times == 2, triple=times == 3, held=modifiers))

    def _scroll(self, name: str, target: Fractions | None, notches: object) -> None:
        if not isinstance(notches, (int, float)) or isinstance(notches, bool) or notches != int(notches):
            raise ValueError(f"scrolls by {notches!r}, not by whole notches")
        if not notches or self.keys_down:
            raise ValueError("scrolls by zero, or with keys held down")
        self.pointer = target
        direction: Literal["wheel_sideways", "wheel_distance"]
        direction = "wheel_sideways" if name == "hscroll" else "wheel_distance"
        self._add_pointed(WheelMouseInput.model_validate({direction: int(notches)}))

    def _type(self, name: str, arguments: dict[str, Any]) -> None:
        if self.copied is not None:
            modifiers = [_modifier(key)[1] for key in arguments["keys"][:-1]] if name == "hotkey" else []
            if modifiers != ["ctrl"] or arguments["keys"][-1] != "v":
                raise ValueError("copies a text and does not paste it")
            keys, self.copied = escape_keys(self.copied), None
        elif name == "hotkey":
            keys = _chord([*self.keys_down, *arguments["keys"]])
        elif name in ("write", "typewrite") and isinstance(arguments.get("message"), str):
            if self.keys_down:
                raise ValueError("types while keys are down")
            keys = escape_keys(arguments["message"])
        else:
            pressed = arguments.get("keys", arguments.get("message"))
            presses = arguments.get("presses", 1)
            if isinstance(presses, bool) or not isinstance(presses, int) or not 0 < presses <= 500:
                raise ValueError(f"presses keys {presses!r} times")
            each = pressed if isinstance(pressed, list) else [pressed]
            if len(each) * presses > _MAX_PRESSES:
                raise ValueError(f"presses more than {_MAX_PRESSES} keys")
            keys = "".join(_chord([*self.keys_down, key]) for key in each) * presses
        if not keys:
            raise ValueError("types nothing")
        self.used = True
        self._add(DemonstratedAction(KeyboardInput(keys=keys)))

    def _press_or_release(self, name: str, key: str) -> None:
        if self.path is not None:
            raise ValueError("presses keys while a button is down")
        if name == "keydown":
            if key in self.keys_down:
                raise ValueError(f"presses the key {key!r}, which is already down")
            self.keys_down.append(key)
            return
        if key not in self.keys_down:
            raise ValueError(f"releases the key {key!r}, which is not down")
        if not self.used:
            keys = _chord(self.keys_down)
            hold = HoldInput(keys=keys, seconds=self.paused) if self.paused else KeyboardInput(keys=keys)
            self._add(DemonstratedAction(hold))
            self.used, self.paused = True, 0.0
        self.keys_down.remove(key)
        if not self.keys_down:
            self.used = False


def parse_script(script: str, picture: Picture | None, *, fractions: bool) -> DemonstratedAction | str | None:
    """The single action of a script on the screen before it, or the reason why it has none.

    Moving the pointer before a drag or a scroll belongs to that action, and so does a click
    before typing. Points are pixels, or `fractions` of the screen.
    """

    def read(screen: Picture) -> DemonstratedAction:
        state = _ScriptState(screen, fractions)
        for name, arguments in _calls(script):
            state.perform(name, arguments)
        return _single_action(state.finish())

    return read_or_reason(picture, read)


def _single_action(actions: list[DemonstratedAction]) -> DemonstratedAction:
    """The action, if there is only one; typing in several pieces, or after a click, counts as one."""
    if not actions:
        raise ValueError("does nothing")
    if len(actions) == 1:
        return actions[0]
    first = actions[0]
    clicked = isinstance(first.action, ClickInput) and first.action == ClickInput()
    typed = [item.action for item in actions[clicked:] if isinstance(item.action, KeyboardInput)]
    if len(typed) != len(actions) - clicked:
        raise ValueError(f"does {len(actions)} things that are not one action")
    return DemonstratedAction(KeyboardInput(keys="".join(action.keys for action in typed)), first.rectangle)


def ends_task(script: str) -> bool:
    """Whether a script only ends the task successfully.

    >>> ends_task("computer.terminate(status='success')"), ends_task("computer.terminate(status='failure')")
    (True, False)
    """
    try:
        calls = list(_calls(script))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return [name for name, _ in calls] == ["terminate"] and calls[0][1].get("status", "success") == "success"


def _modifier(key: object) -> tuple[str, Modifier]:
    if not isinstance(key, str) or key.casefold() not in _LANGUAGE.modifiers:
        raise ValueError(f"holds the key {key!r}, which cannot be held here")
    return _LANGUAGE.modifiers[key.casefold()]


def _chord(keys: list[Any]) -> str:
    """One key with the modifiers before it, in key syntax."""
    if not keys or not isinstance(keys[-1], str):
        raise ValueError("presses no key")
    prefix, key = "".join(_modifier(name)[0] for name in keys[:-1]), keys[-1]
    if key.casefold() in _LANGUAGE.keys:
        return f"{prefix}{{{_LANGUAGE.keys[key.casefold()]}}}"
    if len(key) != 1:
        raise ValueError(f"presses the key {key!r}, which has no counterpart here")
    return prefix + escape_keys(key)


def _calls(script: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Functions and their literal arguments by name; anything but calls to known functions is refused."""
    for statement in ast.parse(script).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Attribute)
            or any(item.arg is None for item in call.keywords)
        ):
            raise ValueError("holds more than calls")
        name = call.func.attr.replace("_", "").casefold()
        arguments = {item.arg: _literal(item.value, name) for item in call.keywords if item.arg}
        positional = [_literal(item, name) for item in call.args]
        if name == "hotkey":
            if arguments.keys() - {"keys"} - _HARMLESS or ("keys" in arguments and positional):
                raise ValueError("gives hotkey arguments that are not understood")
            values = [arguments["keys"]] if "keys" in arguments else positional
            keys = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
            yield name, {"keys": list(keys)}
            continue
        order = _LANGUAGE.functions.get(name)
        if order is None:
            raise ValueError(f"calls {call.func.attr}, which has no counterpart here")
        arguments |= zip(order, positional, strict=False)
        unknown = arguments.keys() - set(order) - _HARMLESS
        if unknown or len(positional) > len(order):
            raise ValueError(f"gives {call.func.attr} arguments that are not understood")
        yield name, {key: value for key, value in arguments.items() if value is not None}


def _literal(value: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        raise ValueError(f"gives {name} {ast.unparse(value)[:100]!r}, which is not a literal") from None
