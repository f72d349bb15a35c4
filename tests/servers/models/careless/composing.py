"""Goals, instructions and dependencies: what a hasty reader makes of a pool."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

from pydantic import JsonValue

from tests.servers.models.behaviour import WireCall
from tests.servers.models.careless.prompt_reading import listed

Instance = dict[str, Any]
"""Parameters, inputs and outputs of a subtask with one parameter set."""
_QUOTED = re.compile(r"'([^']+)'")


def find_goals(call: WireCall) -> JsonValue:
    """The intent extractor's reply: for each made thing, the subtasks that use it as end products, and what
    makes it."""
    shown = call.turns[0]
    pool = _pool(shown)
    known = set(listed(shown, "### Goals already found"))
    scenario = listed(call.system, "Choose the scenario")[0].partition(":")[0]
    goals: list[dict[str, JsonValue]] = []
    for maker, instances in pool.items():
        for made in (output for instance in instances for output in instance["outputs"]):
            users = _users(pool, made, maker)
            for first, second in combinations(users, 2):
                names = [maker, first[0], second[0]]
                goal = f"Get {made['value']} done: " + ", ".join(name.partition(".")[2] for name in names)
                ends: list[JsonValue] = [
                    {
                        "subtask_id": name,
                        "parameters": [{"name": key, "value": value} for key, value in given.items()],
                    }
                    for name, given in (first, second)
                ]
                if goal not in known:
                    goals.append(
                        {"goal": goal, "subtask_ids": list(names), "end_products": ends, "scenario": scenario}
                    )
    found: list[JsonValue] = list(goals[:6])
    return {"intents": found}


def _pool(shown: str) -> dict[str, list[Instance]]:
    """Subtasks with their instances, as the list has them."""
    pool: dict[str, list[Instance]] = {}
    for line in shown.partition("### The pool\n")[2].splitlines():
        if line.startswith("- "):
            pool[line[2:].partition(" [")[0]] = []
        elif line.startswith("  - ") and pool:
            pool[list(pool)[-1]].append(json.loads(line[4:]))
        elif line.startswith("#"):
            break
    return pool


def _users(
    pool: dict[str, list[Instance]], made: dict[str, str], maker: str
) -> list[tuple[str, dict[str, str]]]:
    """Subtasks that read what was made, with the parameters by which they do."""
    return [
        (name, instance["parameters"])
        for name, instances in pool.items()
        for instance in instances
        if name != maker
        and any(
            (item["category"], item["value"]) == (made["category"], made["value"])
            for item in instance["inputs"]
        )
    ]


def tell(call: WireCall) -> JsonValue:
    """The summarizer's reply: the tasks in order, with what each needs said in the same sentence."""
    shown = call.turns[0]
    tasks = dict(re.findall(r"^(\d+)\. \[[^\]]*\] (.*)$", shown, re.MULTILINE))
    needs: dict[str, list[str]] = {}
    for after, value in re.findall(r"^- (\d+) needs from \d+: \S+ \(\w+\) (\".*\")$", shown, re.MULTILINE):
        needs.setdefault(after, []).append(json.loads(value))
    sentences: list[str] = []
    for number, words in tasks.items():
        values = " and ".join(f"'{value}'" for value in needs.get(number, []))
        lead = f"Once {values} exists: " if values else "Independently: " if sentences else ""
        sentences.append(f"{lead}{words}")
    return {"instruction": " ".join(sentences)}


def criticise(call: WireCall) -> JsonValue:
    """The critic's reply: whoever names every value can be followed, and short texts sound natural."""
    shown = call.turns[0]
    instruction = shown.partition("### Instruction\n")[2].partition("### Subtasks")[0]
    listed_below = shown.partition("### Subtasks")[2].partition("### Which")[0]
    missing = [value for value in _QUOTED.findall(listed_below) if value not in instruction]
    shorter = len(instruction) < len(listed_below)
    return {
        "naturalness": {
            "score": 5 if shorter else 3,
            "reason": "It is short." if shorter else "It is long-winded.",
        },
        "sense": {"score": 4, "reason": "I can imagine that."},
        "feasibility": {
            "score": max(1, 5 - len(missing)),
            "reason": f"It never says {missing[0]}." if missing else "All values are there.",
        },
    }


def judge(call: WireCall) -> JsonValue:
    """The dependency judge's reply: whoever is told to wait for a value needs the task that sets it."""
    shown = call.turns[0]
    instruction = shown.partition("### Instruction\n")[2].partition("### Tasks")[0]
    tasks = dict(re.findall(r"^(\d+)\. \[[^\]]*\] (.*)$", shown.partition("### Tasks")[2], re.MULTILINE))
    found: list[JsonValue] = []
    for after, words in tasks.items():
        before_it = instruction.partition(words)[0].rpartition("Once ")
        waiting = (
            before_it[2]
            if before_it[1] and before_it[2].endswith("exists: ") and ". " not in before_it[2]
            else ""
        )
        for value in _QUOTED.findall(waiting):
            for before, other in tasks.items():
                if before != after and f"'{value}'" in other and "row" not in other:
                    found.append({"before": int(before), "after": int(after)})
    return {"dependencies": found}
