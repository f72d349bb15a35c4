"""Agents that act on a picture of the screen; their actions are carried out one gesture at a time."""

import io
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from PIL import Image
from pydantic import ValidationError

from taskloom.environments.agent import Decision
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.computer_use import (
    ComputerAction,
    ComputerCall,
    ComputerReply,
    ComputerResult,
    ComputerTurn,
)
from taskloom.taskgraph.records.gestures import (
    Action,
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    Modifier,
    MoveInput,
    Point,
    PointedGesture,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.interaction import Observation, Screenshot, escape_keys
from taskloom.taskgraph.records.keys import KEY_NAMES
from taskloom.taskgraph.records.trajectory import TrajectoryStep

_LONGEST_EDGE = 1568
_MOST_PIXELS = 1_150_000
"""Anthropic shrinks larger pictures; the model's coordinates would then refer to the shrunk one."""
_LONGEST_WAIT_SECONDS = 5.0
_MODIFIER_SYNTAX: dict[Modifier, str] = {"ctrl": "^", "alt": "%", "shift": "+"}
_MODIFIER_NAMES: dict[Modifier, tuple[str, ...]] = {
    "ctrl": ("ctrl", "control", "ctrlleft", "ctrlright", "cmd", "command", "meta", "super"),
    "alt": ("alt", "altleft", "option"),
    "shift": ("shift", "shiftleft"),
}
_MODIFIER_BY_NAME = {name: key for key, names in _MODIFIER_NAMES.items() for name in names}
_KEY_ALIASES = {
    **{"return": "enter", "kp_enter": "enter", "esc": "escape", "del": "delete", "ins": "insert"},
    **dict.fromkeys(("page_up", "pgup", "prior"), "pageup"),
    **dict.fromkeys(("page_down", "pgdn", "next"), "pagedown"),
    **{"spacebar": "space", "menu": "contextmenu", "apps": "contextmenu"},
}
_KEY_SYNTAX = {"pageup": "PGUP", "pagedown": "PGDN", "contextmenu": "APPS", "escape": "ESC"}


def gesture_of(action: ComputerAction, scale: float, pointer: Point | None) -> Action | None:
    """The gesture that carries out `action`; None if it only looks.

    `scale` is in pixels of the screen per pixel of the picture that was sent; an action without a place is
    done at the `pointer`.

    Raises:
        ActionInvalidError: no gesture can carry it out.
    """
    points = tuple((round(x * scale), round(y * scale)) for x, y in action.path)
    point = points[0] if points else pointer
    if action.keys and action.kind in ("drag", "scroll", "move"):
        raise ActionInvalidError(f"Keys cannot be held during {action.kind!r} here; nothing was done.")
    seconds = min(_LONGEST_WAIT_SECONDS, action.seconds)
    try:
        match action.kind:
            case "screenshot" | "zoom":
                return None
            case "click":
                return ClickInput(
                    button=action.button,
                    double=action.times == 2,
                    triple=action.times == 3,
                    held=tuple(map(_require_modifier, action.keys)),
                    point=_require_point(point),
                )
            case "move":
                return MoveInput(point=_require_point(point))
            case "drag":
                return DragInput(points=points)
            case "scroll":
                right, up = action.wheel
                return WheelMouseInput(wheel_distance=up, wheel_sideways=right, point=point)
            case "type":
                return KeyboardInput(keys=escape_keys(action.text))
            case "press":
                return KeyboardInput(keys=chord(action.keys) * min(100, max(1, action.times)))
            case "hold":
                return HoldInput(keys=chord(action.keys), seconds=seconds)
            case "wait":
                return WaitInput(seconds=seconds)
    except ValidationError:
        raise ActionInvalidError(f"The action {action.kind!r} lacks something; nothing was done.") from None
    raise ActionInvalidError(f"The action {action.text!r} is not available here; nothing was done.")


def chord(keys: tuple[str, ...]) -> str:
    """Keys pressed together in the syntax of `keyboard_input`.

    >>> chord(("CTRL", "shift", "s")), chord(("Page_Down",)), chord(("+",))
    ('^+s', '{PGDN}', '{+}')

    Raises:
        ActionInvalidError: a key is unknown, or there are only modifiers.
    """
    *others, last = [key.strip() or key for key in keys] or [""]
    held = [_require_modifier(key) for key in others]
    name = _KEY_ALIASES.get(last.lower(), last.lower())
    name = name.removeprefix("arrow") if name.startswith("arrow") else name
    if len(last) == 1:
        pressed = escape_keys(last.lower() if held else last)
    elif name in KEY_NAMES:
        pressed = "{" + _KEY_SYNTAX.get(name, name.upper()) + "}"
    else:
        raise ActionInvalidError(f"There is no key {last!r} here; nothing was done.")
    return "".join(_MODIFIER_SYNTAX[key] for key in held) + pressed


def picture_and_scale(screenshot: Screenshot, size: tuple[int, int]) -> tuple[Screenshot, float]:
    """The picture to send, small enough not to be shrunk, and pixels of the screen per pixel of it."""
    scale = max(1.0, max(size) / _LONGEST_EDGE, (size[0] * size[1] / _MOST_PIXELS) ** 0.5)
    if scale == 1.0:
        return screenshot, 1.0
    return resized(screenshot, (round(size[0] / scale), round(size[1] / scale))), scale


def shown_part(screenshot: Screenshot, corners: Sequence[Point]) -> Screenshot:
    """The part of a picture between two corners, enlarged to fit its size; all of it if the part is empty."""
    xs, ys = sorted(x for x, _ in corners), sorted(y for _, y in corners)
    picture = Image.open(io.BytesIO(screenshot.png))
    box = (
        (max(0, xs[0]), max(0, ys[0]), min(picture.width, xs[-1]), min(picture.height, ys[-1])) if xs else ()
    )
    if not box or box[2] - box[0] < 2 or box[3] - box[1] < 2:
        return screenshot
    factor = min(picture.width / (box[2] - box[0]), picture.height / (box[3] - box[1]))
    size = (round((box[2] - box[0]) * factor), round((box[3] - box[1]) * factor))
    return _as_screenshot(picture.crop(box).resize(size, Image.Resampling.LANCZOS))


@lru_cache(maxsize=4)
def resized(screenshot: Screenshot, size: tuple[int, int]) -> Screenshot:
    """The picture scaled to `size`."""
    picture = Image.open(io.BytesIO(screenshot.png))
    if picture.size == size:
        return screenshot
    return _as_screenshot(picture.resize(size, Image.Resampling.LANCZOS))


def _as_screenshot(picture: Image.Image) -> Screenshot:
    target = io.BytesIO()
    picture.save(target, "PNG")
    return Screenshot.of(target.getvalue())


def _require_modifier(key: str) -> Modifier:
    modifier = _MODIFIER_BY_NAME.get(key.lower())
    if modifier is None:
        raise ActionInvalidError(f"The key {key!r} cannot be held here; nothing was done.")
    return modifier


def _require_point(point: Point | None) -> Point:
    if point is None:
        raise ActionInvalidError(
            "The action names no place, and the pointer is nowhere yet; nothing was done."
        )
    return point


_SKIPPED = "An earlier action of the same call was refused, so this one was not carried out."


@dataclass(slots=True)
class ActionQueue:
    """Actions still to be done, and the state of the pointer and the keyboard.

    After a refused action the rest of its batch is skipped. A button that goes down, moves and comes up makes
    one drag, or a click if it did not move; keys that are down are held during clicks and presses, and a key
    that comes up unused is pressed.
    """

    scale: float = 1.0
    """Pixels of the screen per pixel of the picture to which actions refer."""
    problems: dict[str, str] = field(default_factory=dict)
    """Why calls were not, or only partly, carried out, by the id of the call."""
    pointer: Point | None = None
    """Where the pointer is, in pixels of the screen."""
    _pending: list[tuple[str, ComputerAction]] = field(default_factory=list)
    _current_call: str = ""
    _drag_path: list[Point] | None = None
    _held_keys: dict[str, bool] = field(default_factory=dict)

    def fill(self, actions: Iterable[tuple[str, ComputerAction]]) -> None:
        """Set the next batch: actions with the ids of their calls."""
        self._pending = list(actions)
        self.problems = {}

    def refuse(self, problem: str) -> None:
        """Note why the last action was not carried out; the rest of the batch is skipped."""
        if self._current_call:
            self._refuse(self._current_call, problem)

    def next_gesture(self) -> Action | None:
        """The gesture of the next action that changes anything; None when the batch is done."""
        self._current_call = ""
        while self._pending:
            call_id, action = self._pending.pop(0)
            try:
                gesture = self._gesture(action)
            except ActionInvalidError as error:
                self._refuse(call_id, str(error))
                continue
            if gesture is None:
                continue
            self._current_call = call_id
            if isinstance(gesture, PointedGesture) and gesture.point is not None:
                self.pointer = gesture.point
            return gesture
        return None

    def _refuse(self, call_id: str, problem: str) -> None:
        self.problems[call_id] = problem
        for other, _ in self._pending:
            self.problems.setdefault(other, _SKIPPED)
        self._pending.clear()

    def _gesture(self, action: ComputerAction) -> Action | None:
        places = [(round(x * self.scale), round(y * self.scale)) for x, y in action.path]
        match action.kind:
            case "button_down":
                if not places and self.pointer is None:
                    raise ActionInvalidError("The pointer is nowhere yet; nothing was done.")
                self._drag_path = places or [self.pointer or (0, 0)]
                return None
            case "move" if self._drag_path is not None:
                self._drag_path += places
                return None
            case "button_up" if self._drag_path is not None:
                path, self._drag_path = [*self._drag_path, *places], None
                self.pointer = path[-1] if path else self.pointer
                ends = list(dict.fromkeys(path))
                kind = "drag" if len(ends) > 1 else "click"
                return gesture_of(ComputerAction(kind=kind, path=tuple(ends)), 1.0, self.pointer)
            case "button_up":
                raise ActionInvalidError("The button came up without having gone down; nothing was done.")
            case "key_down":
                self._held_keys.update(dict.fromkeys(action.keys, False))
                return None
            case "key_up":
                used = [self._held_keys.pop(key, True) for key in action.keys]
                if all(used):
                    return None
                keys = tuple(self._held_keys) + action.keys
                self._held_keys = dict.fromkeys(self._held_keys, True)
                return gesture_of(ComputerAction(kind="press", keys=keys), 1.0, self.pointer)
        if self._held_keys and action.kind in ("click", "press"):
            action = action.model_copy(update={"keys": (*self._held_keys, *action.keys)})
            self._held_keys = dict.fromkeys(self._held_keys, True)
        return gesture_of(action, self.scale, self.pointer)


SafetyPolicy = Literal["refuse", "acknowledge"]
"""What to do with calls for which the provider requires a safety check."""
Ask = Callable[[str, Screenshot, tuple[ComputerTurn, ...]], Awaitable[ComputerReply]]
"""Asks the model, given the instruction, the first picture, and the turns since."""
MayEnd = Callable[[str, Observation, Sequence[TrajectoryStep]], bool]
"""Whether the model may finish now; otherwise a new conversation begins."""

_GIVE_UP_MARK = "GIVE_UP"
_MOST_LOOKS = 3


@dataclass(slots=True)
class ComputerConversation:
    """Asks for tool calls and carries out their actions one by one.

    After a refused action the rest of its batch is skipped, and the model sees why. A pending safety check
    ends the work unless the policy is to acknowledge it.
    """

    ask: Ask
    safety: SafetyPolicy = "refuse"
    """What to do with calls that have pending safety checks."""
    may_end: MayEnd | None = None
    """Whether the model may finish; None for always."""
    _first_picture: Screenshot | None = None
    _turns: list[ComputerTurn] = field(default_factory=list)
    _reply: ComputerReply | None = None
    _queue: ActionQueue = field(default_factory=ActionQueue)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the model's calls; once they are done, the model is asked for more."""
        if self._first_picture is None:
            self._begin(observation)
        if history and history[-1].problem:
            self._queue.refuse(history[-1].problem)
        for _ in range(_MOST_LOOKS):
            decision = self._next_action()
            if decision is not None:
                return decision
            ending = await self._next_reply(instruction, observation)
            if ending is not None:
                return ending
            assert self._reply is not None
            if not self._reply.calls:
                if self.may_end is None or self.may_end(instruction, observation, history):
                    text = self._reply.text.strip()
                    if text.startswith(_GIVE_UP_MARK):
                        text = text.removeprefix(_GIVE_UP_MARK).strip(" :\n")
                        return Decision(status="give_up", message=text)
                    return Decision(status="finish", thought=text)
                self._begin(observation)
        return self._next_action() or Decision(
            status="give_up", message="the model only looked at the screen, again and again"
        )

    def _begin(self, observation: Observation) -> None:
        self._turns, self._reply = [], None
        self._first_picture, scale = picture_and_scale(observation.screenshot, observation.screen_size)
        self._queue = ActionQueue(scale)

    def _next_action(self) -> Decision | None:
        gesture = self._queue.next_gesture()
        if gesture is None:
            return None
        text = self._reply.text if self._reply is not None else ""
        return Decision(status="continue", thought=text, action=gesture)

    async def _next_reply(self, instruction: str, observation: Observation) -> Decision | None:
        """Send the results of the last calls and take the next ones; a decision if that ends the work."""
        assert self._first_picture is not None
        if self._reply is not None:
            picture, _ = picture_and_scale(observation.screenshot, observation.screen_size)
            results = tuple(self._result(call, picture) for call in self._reply.calls)
            self._turns.append(ComputerTurn(reply=self._reply, results=results))
        self._reply = await self.ask(instruction, self._first_picture, tuple(self._turns))
        pending = [check for call in self._reply.calls for check in call.safety_checks]
        if pending and self.safety == "refuse":
            text = "; ".join(f"{check.code}: {check.message}".strip(": ") for check in pending)
            return Decision(status="give_up", message=f"the provider asks to confirm a safety check: {text}")
        self._queue.fill((call.call_id, action) for call in self._reply.calls for action in call.actions)
        return None

    def _result(self, call: ComputerCall, picture: Screenshot) -> ComputerResult:
        corners = next((action.path for action in call.actions if action.kind == "zoom"), ())
        return ComputerResult(
            call_id=call.call_id,
            screenshot=shown_part(picture, corners) if corners else picture,
            problem=self._queue.problems.get(call.call_id, ""),
            acknowledged=call.safety_checks,
        )
