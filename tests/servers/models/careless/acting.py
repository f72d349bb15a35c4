"""Performing: reads the goals out of the instruction, and gets there with detours, wrong labels and too many
words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import JsonValue

from tests.servers.models.behaviour import WireCall
from tests.servers.models.careless.habits import draw, thought
from tests.servers.models.careless.prompt_reading import Seen, controls_in

_GOAL = re.compile(
    r"[Gg]o to '(?P<page>[^']*)'|[Ss]et '(?P<field>[^']*)' to '(?P<value>[^']*)'"
    r"|[Pp]ress '(?P<button>[^']*)'(?: in the row '(?P<row>[^']*)')?"
)
_STEP = re.compile(r"^\d+\. (?P<done>.*?)\.(?: Thought: (?P<thought>.*))?$", re.MULTILINE)
_AT = re.compile(r"Goal (\d+)")
_SPECIAL = re.compile(r"[+^%~(){}\[\]]")
_PATIENCE = 4


@dataclass(frozen=True)
class Goal:
    """One thing that the instruction asks for."""

    kind: str
    """`page`, `field` or `button`."""
    name: str
    """Text of the control."""
    value: str = ""
    """What to set it to."""
    row: str = ""
    """The row it must stand in."""


def act(call: WireCall) -> JsonValue:
    """The actor's reply."""
    shown = call.turns[0]
    instruction = shown.partition("<Task instruction>\n")[2].partition("\n")[0]
    controls = controls_in(shown.partition("<Available controls>")[2])
    goals = [_goal(match) for match in _GOAL.finditer(instruction)]
    history = section_of_history(shown)
    done = [
        int(found[1])
        for outcome, words in history
        if outcome.startswith("done") and (found := _AT.search(words))
    ]
    reached = max(done, default=0)
    if reached >= len(goals):
        return {
            "status": "FINISH",
            "observation": "Everything is there.",
            "thought": thought("All goals are met", shown),
        }
    if not history and draw(instruction, 3, "detour") == 0:
        link = next(
            (item for item in controls if item.type == "Hyperlink" and item.text and not item.row), None
        )
        if link is not None:
            return _click(link, thought("Let me look around first", shown))
    if history and "look around" in history[-1][1] and history[-1][0].startswith("done"):
        start = next((item for item in controls if item.text == "Start page"), None)
        if start is not None:
            return _click(start, "That was not it; back to the start page.")
    goal = goals[reached]
    words = thought(f"Goal {reached + 1} of {len(goals)}: {goal.name}", shown)
    target = _find(goal, controls)
    if target is None:
        missing = sum(1 for _, said in history if "not there yet" in said)
        if missing >= _PATIENCE:
            return {
                "status": "GIVE_UP",
                "thought": "I cannot find it.",
                "message": f"there is no {goal.name!r} on the screen",
            }
        return {
            "status": "CONTINUE",
            "thought": "It is not there yet.",
            "function": "wait",
            "args": {"seconds": 0.5},
        }
    wrong = len(history) == 1 and draw(instruction, 4, "wrong label") == 0
    if (
        wrong
        and (other := next((item for item in controls if item.text and item.text != target.text), None))
        is not None
    ):
        target = Seen(other.label, target.type, target.text, target.value, target.row)
    if goal.kind == "field":
        keys = "^a" + _SPECIAL.sub(lambda match: "{" + match.group() + "}", goal.value)
        return _reply(target, "keyboard_input", {"keys": keys}, words)
    return _click(target, words)


def section_of_history(shown: str) -> list[tuple[str, str]]:
    """Outcome and thought of each step so far."""
    part = shown.partition("<Step history>")[2].partition("<Window>")[0]
    found = []
    for match in _STEP.finditer(part):
        outcome = "done" if re.search(r": done\b", match["done"]) else "refused"
        found.append((outcome, match["thought"] or ""))
    return found


def _goal(match: re.Match[str]) -> Goal:
    if match["page"] is not None:
        return Goal("page", match["page"])
    if match["field"] is not None:
        return Goal("field", match["field"], match["value"])
    return Goal("button", match["button"], row=match["row"] or "")


def _find(goal: Goal, controls: tuple[Seen, ...]) -> Seen | None:
    fitting = [item for item in controls if item.text.strip() == goal.name.strip() and not item.disabled]
    if goal.kind == "field":
        fitting = [item for item in fitting if item.type in ("Edit", "Document", "SpinButton", "ComboBox")]
    elif goal.row:
        rows = [item for item in fitting if item.row == goal.row]
        fitting = rows or [item for item in fitting if goal.row in item.row]
    else:
        fitting = [item for item in fitting if item.type not in ("", "Edit", "TaskBarButton")] or fitting
    return fitting[0] if fitting else None


def _click(target: Seen, words: str) -> JsonValue:
    return _reply(target, "click_input", {"button": "left"}, words)


def _reply(target: Seen, function: str, arguments: JsonValue, words: str) -> JsonValue:
    return {
        "status": "CONTINUE",
        "observation": "The page is open.",
        "thought": words,
        "control_label": target.label,
        "control_text": target.text,
        "function": function,
        "args": arguments,
        "message": "",
    }
