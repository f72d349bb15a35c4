"""The careless model itself: which role it is asked to play is read from the prompt."""

from __future__ import annotations

import json

from tests.servers.models.behaviour import WireCall
from tests.servers.models.careless.acting import act
from tests.servers.models.careless.composing import criticise, find_goals, judge, tell
from tests.servers.models.careless.exploring import explore
from tests.servers.models.careless.habits import REFUSAL, draw, dressed
from tests.servers.models.careless.writing import write

_PLAYERS = {
    "You study an application": explore,
    "You operate ": act,
    "You write Python functions": write,
    "You are given a pool": find_goals,
    "You are given the small tasks": tell,
    "You read an instruction": judge,
    "You judge tasks": criticise,
}
_REFUSES_ONE_IN = 40


def answer(call: WireCall) -> str:
    """The text of an answer; an `Answerer` of the model server."""
    player = next(play for opening, play in _PLAYERS.items() if call.system.startswith(opening))
    prompt = "\n".join(call.turns)
    if len(call.turns) == 1 and draw(prompt, _REFUSES_ONE_IN, "refusal") == 0:
        return REFUSAL
    return dressed(json.dumps(player(call), indent=1), prompt)
