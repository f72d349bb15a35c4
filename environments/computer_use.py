"""Agents that say what to do as actions on a picture of the screen, carried out one gesture at a time."""

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
"""Anthropic shrinks larger pictures before the model sees them; its coordinates would mean that one."""
_LONGEST_SECONDS = 5.0
_SIGNS: dict[Modifier, str] = {"ctrl": "^", "alt": "%", "shift": "+"}
_HELD: dict[Modifier, tuple[str, ...]] = {
    "ctrl": ("ctrl", "control", "ctrlleft", "ctrlright", "cmd", "command", "meta", "super"),
    "alt": ("alt", "altleft", "option"),
    "shift": ("shift", "shiftleft"),
}
_MODIFIERS = {name: key for key, names in _HELD.items() for name in names}
_KEYS = {
    **{"return": "enter", "kp_enter": "enter", "esc": "escape", "del": "delete", "ins": "insert"},
    **dict.fromkeys(("page_up", "pgup", "prior"), "pageup"),
    **dict.fromkeys(("page_down", "pgdn", "next"), "pagedown"),
    **{"spacebar": "space", "menu": "contextmenu", "apps": "contextmenu"},
}
_WRITTEN = {"pageup": "PGUP", "pagedown": "PGDN", "contextmenu": "APPS", "escape": "ESC"}


def gesture_of(action: ComputerAction, scale: float, pointer: Point | None) -> Action | None:
    """The gesture that does `action`; None for looking only.

    `scale` is in pixels of the screen per pixel of the picture that was sent; what names no place is done at
    the `pointer`.

    Raises:
        ActionInvalidError: nothing does it.
    """
    points = tuple((round(x * scale), round(y * scale)) for x, y in action.path)
    point = points[0] if points else pointer
    if action.keys and action.kind in ("drag", "scroll", "move"):
        raise ActionInvalidError(f"Keys cannot be held during {action.kind!r} here; nothing was done.")
    seconds = min(_LONGEST_SECONDS, action.seconds)
    try:
        match action.kind:
            case "screenshot" | "zoom":
                return None
            case "click":
                return ClickInput(
                    button=action.button,
                    double=action.times == 2,
                    triple=action.times == 3,
                    held=tuple(map(_modifier, action.keys)),
                    point=_there(point),
                )
            case "move":
                return MoveInput(point=_there(point))
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
        ActionInvalidError: a key is not known, or there is none beside modifiers.
    """
    *others, last = [key.strip() or key for key in keys] or [""]
    held = [_modifier(key) for key in others]
    name = _KEYS.get(last.lower(), last.lower())
    name = name.removeprefix("arrow") if name.startswith("arrow") else name
    if len(last) == 1:
        pressed = escape_keys(last.lower() if held else last)
    elif name in KEY_NAMES:
        pressed = "{" + _WRITTEN.get(name, name.upper()) + "}"
    else:
        raise ActionInvalidError(f"There is no key {last!r} here; nothing was done.")
    return "".join(_SIGNS[key] for key in held) + pressed


def picture_and_scale(screenshot: Screenshot, size: tuple[int, int]) -> tuple[Screenshot, float]:
    """The picture to send, small enough to be shown as it is, and pixels of the screen per pixel of it."""
    scale = max(1.0, max(size) / _LONGEST_EDGE, (size[0] * size[1] / _MOST_PIXELS) ** 0.5)
    if scale == 1.0:
        return screenshot, 1.0
    return resized(screenshot, (round(size[0] / scale), round(size[1] / scale))), scale


def shown_part(screenshot: Screenshot, corners: Sequence[Point]) -> Screenshot:
    """The part of a picture between two corners, enlarged to its width; all of it where that is none."""
    xs, ys = sorted(x for x, _ in corners), sorted(y for _, y in corners)
    picture = Image.open(io.BytesIO(screenshot.png))
    box = (
        (max(0, xs[0]), max(0, ys[0]), min(picture.width, xs[-1]), min(picture.height, ys[-1])) if xs else ()
    )
    if not box or box[2] - box[0] < 2 or box[3] - box[1] < 2:
        return screenshot
    times = min(picture.width / (box[2] - box[0]), picture.height / (box[3] - box[1]))
    size = (round((box[2] - box[0]) * times), round((box[3] - box[1]) * times))
    return _as_screenshot(picture.crop(box).resize(size, Image.Resampling.LANCZOS))


@lru_cache(maxsize=4)
def resized(screenshot: Screenshot, size: tuple[int, int]) -> Screenshot:
    """The picture at another size."""
    picture = Image.open(io.BytesIO(screenshot.png))
    if picture.size == size:
        return screenshot
    return _as_screenshot(picture.resize(size, Image.Resampling.LANCZOS))


def _as_screenshot(picture: Image.Image) -> Screenshot:
    target = io.BytesIO()
    picture.save(target, "PNG")
    return Screenshot.of(target.getvalue())


def _modifier(key: str) -> Modifier:
    found = _MODIFIERS.get(key.lower())
    if found is None:
        raise ActionInvalidError(f"The key {key!r} cannot be held here; nothing was done.")
    return found


def _there(point: Point | None) -> Point:
    if point is None:
        raise ActionInvalidError(
            "The action names no place, and the pointer is nowhere yet; nothing was done."
        )
    return point


_SKIPPED = "An earlier action of the same call was refused, so this one was not carried out."


@dataclass(slots=True)
class ActionQueue:
    """Actions still to be done, and what the pointer and the keyboard hold.

    After a refused action the rest of its batch is left out. A button that goes down, moves and comes up is
    one drag, or a click where it did not move; keys that are down are held during clicks and presses, and a
    key that comes up unused is pressed.
    """

    scale: float = 1.0
    """Pixels of the screen per pixel of the picture that actions are in."""
    problems: dict[str, str] = field(default_factory=dict)
    """Why calls were not carried out, or not as a whole, by the id of the call."""
    pointer: Point | None = None
    """Where the pointer is, in pixels of the screen."""
    _waiting: list[tuple[str, ComputerAction]] = field(default_factory=list)
    _doing: str = ""
    _pressed: list[Point] | None = None
    _down: dict[str, bool] = field(default_factory=dict)

    def fill(self, actions: Iterable[tuple[str, ComputerAction]]) -> None:
        """Put in the next batch: actions with the ids of their calls."""
        self._waiting = list(actions)
        self.problems = {}

    def refuse(self, problem: str) -> None:
        """Note why the last action was not carried out; the rest of the batch is left out."""
        if self._doing:
            self._refuse(self._doing, problem)

    def next_gesture(self) -> Action | None:
        """The gesture of the next action that changes anything; None when the batch is done."""
        self._doing = ""
        while self._waiting:
            call_id, action = self._waiting.pop(0)
            try:
                gesture = self._gesture(action)
            except ActionInvalidError as error:
                self._refuse(call_id, str(error))
                continue
            if gesture is None:
                continue
            self._doing = call_id
            if isinstance(gesture, PointedGesture) and gesture.point is not None:
                self.pointer = gesture.point
            return gesture
        return None

    def _refuse(self, call_id: str, problem: str) -> None:
        self.problems[call_id] = problem
        for other, _ in self._waiting:
            self.problems.setdefault(other, _SKIPPED)
        self._waiting.clear()

    def _gesture(self, action: ComputerAction) -> Action | None:
        places = [(round(x * self.scale), round(y * self.scale)) for x, y in action.path]
        match action.kind:
            case "button_down":
                if not places and self.pointer is None:
                    raise ActionInvalidError("The pointer is nowhere yet; nothing was done.")
                self._pressed = places or [self.pointer or (0, 0)]
                return None
            case "move" if self._pressed is not None:
                self._pressed += places
                return None
            case "button_up" if self._pressed is not None:
                path, self._pressed = [*self._pressed, *places], None
                self.pointer = path[-1] if path else self.pointer
                ends = list(dict.fromkeys(path))
                kind = "drag" if len(ends) > 1 else "click"
                return gesture_of(ComputerAction(kind=kind, path=tuple(ends)), 1.0, self.pointer)
            case "button_up":
                raise ActionInvalidError("The button came up without having gone down; nothing was done.")
            case "key_down":
                self._down.update(dict.fromkeys(action.keys, False))
                return None
            case "key_up":
                used = [self._down.pop(key, True) for key in action.keys]
                if all(used):
                    return None
                keys = tuple(self._down) + action.keys
                self._down = dict.fromkeys(self._down, True)
                return gesture_of(ComputerAction(kind="press", keys=keys), 1.0, self.pointer)
        if self._down and action.kind in ("click", "press"):
            action = action.model_copy(update={"keys": (*self._down, *action.keys)})
            self._down = dict.fromkeys(self._down, True)
        return gesture_of(action, self.scale, self.pointer)


SafetyPolicy = Literal["refuse", "acknowledge"]
"""What becomes of calls that the provider has doubts about."""
Ask = Callable[[str, Screenshot, tuple[ComputerTurn, ...]], Awaitable[ComputerReply]]
"""Asks the model: the instruction, the first picture, and what was done since."""
MayEnd = Callable[[str, Observation, Sequence[TrajectoryStep]], bool]
"""Whether the model may finish now; where it may not, a new conversation begins."""

_GIVES_UP = "GIVE_UP"
_MOST_LOOKS = 3


@dataclass(slots=True)
class ComputerConversation:
    """Asks for calls of the tool and carries out their actions one by one.

    After a refused action the rest of its batch is left out, and the model sees why. A pending safety check
    ends the work unless the policy is to acknowledge it.
    """

    ask: Ask
    safety: SafetyPolicy = "refuse"
    """What becomes of calls with pending safety checks."""
    may_end: MayEnd | None = None
    """Whether the model may finish; None for always."""
    _first: Screenshot | None = None
    _turns: list[ComputerTurn] = field(default_factory=list)
    _reply: ComputerReply | None = None
    _queue: ActionQueue = field(default_factory=ActionQueue)

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        """The next action of the model's calls, or of those that it makes when these are done."""
        if self._first is None:
            self._begin(observation)
        if history and history[-1].problem:
            self._queue.refuse(history[-1].problem)
        for _ in range(_MOST_LOOKS):
            decision = self._next_action()
            if decision is not None:
                return decision
            refused = await self._next_reply(instruction, observation)
            if refused is not None:
                return refused
            assert self._reply is not None
            if not self._reply.calls:
                if self.may_end is None or self.may_end(instruction, observation, history):
                    words = self._reply.text.strip()
                    if words.startswith(_GIVES_UP):
                        words = words.removeprefix(_GIVES_UP).strip(" :\n")
                        return Decision(status="give_up", message=words)
                    return Decision(status="finish", thought=words)
                self._begin(observation)
        return self._next_action() or Decision(
            status="give_up", message="the model only looked at the screen, again and again"
        )

    def _begin(self, observation: Observation) -> None:
        self._turns, self._reply = [], None
        self._first, scale = picture_and_scale(observation.screenshot, observation.screen_size)
        self._queue = ActionQueue(scale)

    def _next_action(self) -> Decision | None:
        gesture = self._queue.next_gesture()
        if gesture is None:
            return None
        words = self._reply.text if self._reply is not None else ""
        return Decision(status="continue", thought=words, action=gesture)

    async def _next_reply(self, instruction: str, observation: Observation) -> Decision | None:
        """Send the results of the last calls, take in the next ones; a decision where that ends the work."""
        assert self._first is not None
        if self._reply is not None:
            picture, _ = picture_and_scale(observation.screenshot, observation.screen_size)
            results = tuple(self._result(call, picture) for call in self._reply.calls)
            self._turns.append(ComputerTurn(reply=self._reply, results=results))
        self._reply = await self.ask(instruction, self._first, tuple(self._turns))
        doubts = [check for call in self._reply.calls for check in call.safety_checks]
        if doubts and self.safety == "refuse":
            said = "; ".join(f"{check.code}: {check.message}".strip(": ") for check in doubts)
            return Decision(status="give_up", message=f"the provider asks to confirm a safety check: {said}")
        self._queue.fill((call.call_id, action) for call in self._reply.calls for action in call.actions)
        return None

    def _result(self, call: ComputerCall, picture: Screenshot) -> ComputerResult:
        zoomed = next((action.path for action in call.actions if action.kind == "zoom"), ())
        return ComputerResult(
            call_id=call.call_id,
            screenshot=shown_part(picture, zoomed) if zoomed else picture,
            problem=self._queue.problems.get(call.call_id, ""),
            acknowledged=call.safety_checks,
        )
