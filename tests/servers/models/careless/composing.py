"""Goals, instructions and dependencies: what a hasty reader makes of a pool."""

from __future__ import annotations

import json
import re
from itertools import combinations

from pydantic import JsonValue

from tests.servers.models.behaviour import WireCall
from tests.servers.models.careless.prompt_reading import listed

_QUOTED = re.compile(r"'([^']+)'")


def find_goals(call: WireCall) -> JsonValue:
    """The intent extractor's reply: groups of linked subtasks first, then any."""
    pool = [json.loads(item) for item in listed(call.turns[0], "### The pool")]
    smallest = int(re.search(r"A group has (\d+) to", call.system)[1])  # type: ignore[index]
    known = set(listed(call.turns[0], "### Goals already found"))
    groups = [group for size in (smallest, smallest + 1) for group in combinations(pool, size)]
    groups.sort(key=lambda group: -_links(group))
    scenario = listed(call.system, "## Scenarios")[0].partition(":")[0]
    goals: list[dict[str, JsonValue]] = [
        {
            "goal": "Get these ready: " + ", ".join(item["subtask_id"].partition(".")[2] for item in group),
            "subtask_ids": [item["subtask_id"] for item in group],
            "scenario": scenario,
        }
        for group in groups
    ]
    new: list[JsonValue] = [item for item in goals if item["goal"] not in known]
    return {"intents": new[:6]}


def _links(group: tuple[dict[str, list[dict[str, str]]], ...]) -> int:
    """How many members read what another one writes."""
    written = {(item["category"], item["value"]) for member in group for item in member["outputs"]}
    read = [{(item["category"], item["value"]) for item in member["inputs"]} for member in group]
    return sum(bool(needed & written) for needed in read)


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
