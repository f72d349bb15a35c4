"""PyAutoGUI scripts as actions; scripts are parsed, never run.

A script is one action here, exactly as it is written, or it is refused with the reason.
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
from taskloom.warehouse.importing.episodes import Demonstrated, Picture, drag, point, understood


class _Language(Record):
    """What scripts may say."""

    functions: dict[str, tuple[str, ...]]
    clicks: dict[str, tuple[Button, int]]
    buttons: dict[object, Button]
    modifiers: dict[str, tuple[str, Modifier]]
    keys: dict[str, str]


_FILE: Final = files(__package__).joinpath("pyautogui.yaml")
_KNOWN: Final = _Language.model_validate(read_file(_FILE, _FILE.name).content)
_HARMLESS: Final = frozenset({"duration", "tween", "interval", "logScreenshot", "_pause"})
"""Arguments that say how fast, not what."""
_MOST_PRESSES: Final = 20_000
_ELSEWHERE: Final = (HoldInput, KeyboardInput, WaitInput)
"""What is done wherever the pointer is: moving it before is a thing of its own."""
Fractions = tuple[float, float]


@dataclass(slots=True)
class _Hands:
    """What a script has done so far, and what it holds down meanwhile."""

    picture: Picture
    fractions: bool
    found: list[Demonstrated] = field(default_factory=list)
    at: Fractions | None = None
    """Where the pointer is, as far as the script says."""
    moved: bool = False
    """Whether it was moved there for nothing that followed."""
    path: list[Fractions] | None = None
    """Where the left button went, while it is down."""
    down: list[str] = field(default_factory=list)
    used: bool = False
    """Whether something was done while they were."""
    paused: float = 0.0
    copied: str | None = None
    """Text on the clipboard that waits to be inserted."""

    def do(self, name: str, given: dict[str, Any]) -> None:
        place = self._place(given)
        if self.moved and place != self.at and name != "dragto":
            self._pointed(MoveInput())
        if name in ("keydown", "keyup"):
            self._key(name, str(given.get("key", "")))
        elif name in ("moveto", "mousedown", "mouseup", "dragto"):
            self._stroke(name, place, given)
        elif name in ("sleep", "wait"):
            seconds = float(given["seconds"]) if "seconds" in given else 1.0
            if self.down and not self.used:
                self.paused += seconds
            elif 0 <= seconds <= 5:
                self._add(Demonstrated(WaitInput(seconds=seconds)))
            else:
                raise ValueError(f"waits {seconds:g} s; at most 5 s are one action")
        elif self.path is not None:
            raise ValueError(f"does {name} while a button is down")
        elif name in _KNOWN.clicks:
            self._click(name, place, given)
        elif name in ("scroll", "vscroll", "hscroll"):
            self._scroll(name, place, given.get("clicks"))
        elif name == "copy":
            self.copied = given.get("text")
            if not isinstance(self.copied, str) or not self.copied:
                raise ValueError("copies no text")
        elif name == "terminate":
            raise ValueError("ends the task with another status than success, or does more")
        else:
            self._type(name, given)

    def done(self) -> list[Demonstrated]:
        if self.path is not None or self.down or self.copied is not None:
            raise ValueError("leaves a button or key down, or a text on the clipboard")
        if self.moved:
            self._pointed(MoveInput())
        return self.found

    def _add(self, done: Demonstrated) -> None:
        if self.moved and self.at is not None and isinstance(done.action, _ELSEWHERE):
            self.found.append(Demonstrated(MoveInput(), point(*self.at, self.picture)))
        self.found.append(done)
        self.moved = False

    def _pointed(self, action: ClickInput | MoveInput | WheelMouseInput) -> None:
        if self.at is None and not isinstance(action, WheelMouseInput):
            raise ValueError("does not say where")
        self._add(Demonstrated(action, point(*self.at, self.picture) if self.at else None))

    def _place(self, given: dict[str, Any]) -> Fractions | None:
        x: Any = given.get("x")
        y: Any = given.get("y")
        if isinstance(x, (tuple, list)) and y is None:
            x, y = x
        if x is None and y is None:
            return self.at
        if any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in (x, y)):
            raise ValueError("does not say where")
        width, height = (1, 1) if self.fractions else (self.picture.width, self.picture.height)
        at = (float(x) / width, float(y) / height)
        point(*at, self.picture)
        return at

    def _stroke(self, name: str, place: Fractions | None, given: dict[str, Any]) -> None:
        if name == "moveto":
            self.at = place
            self.moved = self.path is None
            if self.path is not None and place is not None:
                self.path.append(place)
            return
        if _KNOWN.buttons.get(given.get("button", "left")) != "left":
            raise ValueError(f"drags with the button {given.get('button')!r}")
        if place is None or (name == "dragto" and self.at is None):
            raise ValueError("does not say where its drag begins")
        if self.down or (self.path is None) == (name == "mouseup"):
            raise ValueError("drags while a button or key is down")
        begun = self.path or [self.at or place]
        self.at = place
        if name == "mousedown":
            self.path, self.moved = [place], False
            return
        self.path = None
        points = begun if begun[-1] == place else [*begun, place]
        if len(points) < 2 and name == "mouseup":
            self._pointed(ClickInput())
        else:
            self._add(drag(points if len(points) > 1 else points * 2, self.picture))

    def _click(self, name: str, place: Fractions | None, given: dict[str, Any]) -> None:
        button, times = _KNOWN.clicks[name]
        times = given.get("clicks", times)
        button = _KNOWN.buttons.get(given.get("button", button), button)
        if times not in (1, 2, 3) or given.get("button", button) not in _KNOWN.buttons:
            raise ValueError(f"clicks {times} times with the button {given.get('button', button)!r}")
        held = tuple(_modifier(key)[1] for key in self.down)
        self.at, self.used = place, True
        self._pointed(ClickInput(button=button, double=times == 2, triple=times == 3, held=held))

    def _scroll(self, name: str, place: Fractions | None, notches: object) -> None:
        if not isinstance(notches, (int, float)) or isinstance(notches, bool) or notches != int(notches):
            raise ValueError(f"turns the wheel by {notches!r}, not by whole notches")
        if not notches or self.down:
            raise ValueError("turns the wheel by nothing, or with keys held down")
        self.at = place
        way: Literal["wheel_sideways", "wheel_distance"]
        way = "wheel_sideways" if name == "hscroll" else "wheel_distance"
        self._pointed(WheelMouseInput.model_validate({way: int(notches)}))

    def _type(self, name: str, given: dict[str, Any]) -> None:
        if self.copied is not None:
            held = [_modifier(key)[1] for key in given["keys"][:-1]] if name == "hotkey" else []
            if held != ["ctrl"] or given["keys"][-1] != "v":
                raise ValueError("copies a text and does not insert it")
            keys, self.copied = escape_keys(self.copied), None
        elif name == "hotkey":
            keys = _chord([*self.down, *given["keys"]])
        elif name in ("write", "typewrite") and isinstance(given.get("message"), str):
            if self.down:
                raise ValueError("types while keys are down")
            keys = escape_keys(given["message"])
        else:
            pressed = given.get("keys", given.get("message"))
            presses = given.get("presses", 1)
            if isinstance(presses, bool) or not isinstance(presses, int) or not 0 < presses <= 500:
                raise ValueError(f"presses keys {presses!r} times")
            each = pressed if isinstance(pressed, list) else [pressed]
            if len(each) * presses > _MOST_PRESSES:
                raise ValueError(f"presses more than {_MOST_PRESSES} keys")
            keys = "".join(_chord([*self.down, key]) for key in each) * presses
        if not keys:
            raise ValueError("types nothing")
        self.used = True
        self._add(Demonstrated(KeyboardInput(keys=keys)))

    def _key(self, name: str, key: str) -> None:
        if self.path is not None:
            raise ValueError("presses keys while a button is down")
        if name == "keydown":
            if key in self.down:
                raise ValueError(f"presses the key {key!r}, which is down already")
            self.down.append(key)
            return
        if key not in self.down:
            raise ValueError(f"lets the key {key!r} go, which is not down")
        if not self.used:
            keys = _chord(self.down)
            hold = HoldInput(keys=keys, seconds=self.paused) if self.paused else KeyboardInput(keys=keys)
            self._add(Demonstrated(hold))
            self.used, self.paused = True, 0.0
        self.down.remove(key)
        if not self.down:
            self.used = False


def done_by(script: str, picture: Picture | None, *, fractions: bool) -> Demonstrated | str | None:
    """The single action that a script stands for on the screen before it, or why it is none.

    Moving the pointer before a drag or a scroll belongs to that action, and so does clicking a place
    before typing. Points are pixels, or `fractions` of the screen.
    """

    def read(shown: Picture) -> Demonstrated:
        hands = _Hands(shown, fractions)
        for name, given in _calls(script):
            hands.do(name, given)
        return _one(hands.done())

    return understood(picture, read)


def _one(found: list[Demonstrated]) -> Demonstrated:
    """The action, where it is one: typing in several pieces, and into a place that is clicked first, is."""
    if not found:
        raise ValueError("does nothing")
    if len(found) == 1:
        return found[0]
    first = found[0]
    clicked = isinstance(first.action, ClickInput) and first.action == ClickInput()
    keyed = [item.action for item in found[clicked:] if isinstance(item.action, KeyboardInput)]
    if len(keyed) != len(found) - clicked:
        raise ValueError(f"does {len(found)} things that are not one action")
    return Demonstrated(KeyboardInput(keys="".join(action.keys for action in keyed)), first.rectangle)


def ends_task(script: str) -> bool:
    """Whether a script only ends the task, well.

    >>> ends_task("computer.terminate(status='success')"), ends_task("computer.terminate(status='failure')")
    (True, False)
    """
    try:
        calls = list(_calls(script))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return [name for name, _ in calls] == ["terminate"] and calls[0][1].get("status", "success") == "success"


def _modifier(key: object) -> tuple[str, Modifier]:
    if not isinstance(key, str) or key.casefold() not in _KNOWN.modifiers:
        raise ValueError(f"holds the key {key!r}, which cannot be held here")
    return _KNOWN.modifiers[key.casefold()]


def _chord(keys: list[Any]) -> str:
    """One key with the modifiers before it, in the syntax of keys."""
    if not keys or not isinstance(keys[-1], str):
        raise ValueError("presses no key")
    held, key = "".join(_modifier(name)[0] for name in keys[:-1]), keys[-1]
    if key.casefold() in _KNOWN.keys:
        return f"{held}{{{_KNOWN.keys[key.casefold()]}}}"
    if len(key) != 1:
        raise ValueError(f"presses the key {key!r}, which has no counterpart here")
    return held + escape_keys(key)


def _calls(script: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Functions and their literal arguments by name; anything but calls that are understood is refused."""
    for statement in ast.parse(script).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Attribute)
            or any(item.arg is None for item in call.keywords)
        ):
            raise ValueError("is more than calls")
        name = call.func.attr.replace("_", "").casefold()
        given = {item.arg: _literal(item.value, name) for item in call.keywords if item.arg}
        positional = [_literal(item, name) for item in call.args]
        if name == "hotkey":
            if given.keys() - {"keys"} - _HARMLESS or ("keys" in given and positional):
                raise ValueError("gives hotkey arguments that are not understood")
            named = [given["keys"]] if "keys" in given else positional
            keys = named[0] if len(named) == 1 and isinstance(named[0], (list, tuple)) else named
            yield name, {"keys": list(keys)}
            continue
        order = _KNOWN.functions.get(name)
        if order is None:
            raise ValueError(f"calls {call.func.attr}, which has no counterpart here")
        given |= zip(order, positional, strict=False)
        unknown = given.keys() - set(order) - _HARMLESS
        if unknown or len(positional) > len(order):
            raise ValueError(f"gives {call.func.attr} arguments that are not understood")
        yield name, {key: value for key, value in given.items() if value is not None}


def _literal(value: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        raise ValueError(f"gives {name} {ast.unparse(value)[:100]!r}, which is no plain value") from None
