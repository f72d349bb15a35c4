"""Batches of actions, carried out one gesture at a time; buttons and keys may be held between them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from taskloom.environments.computer_use.actions import gesture_of
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Action, Point, PointedGesture

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
