"""Train, validation and test sets between which nothing leaks: no subtask template, resource value or intent in two.

Tasks that share one of these belong together. Where that leaves enough separate groups, groups are dealt out. Where
one group holds too much, as in a pool whose subtasks are used everywhere, the smaller sets are grown task by task, each
time taking the task that brings in the fewest new things, and tasks that would connect two sets are left out and
counted. The report is computed afterwards from the outcome, not from the construction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from resources.record import Record
from taskgraph.task import Task
from taskgraph.text_folding import fold_text
from warehouse.errors import SelectionInvalid
from warehouse.selection import draw_key

SplitName = Literal["train", "validation", "test"]
"""A set."""
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
"""The sets, in order."""
KeyKind = Literal["subtask", "resource", "intent"]
"""What must not be shared."""
KEY_KINDS: Final[tuple[KeyKind, ...]] = ("subtask", "resource", "intent")
"""All kinds of shared things that count as a leak."""
_SHINGLE: Final = 5
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same."""


class Leak(Record):
    """Something that stands in two sets, or in a set and a named instruction list."""

    kind: Literal["subtask", "resource", "intent", "instruction"]
    """What it is."""
    value: str
    """The thing itself; for an instruction the task's id."""
    found_in: tuple[str, str]
    """The two places."""


class LeakageReport(Record):
    """What was checked and what was found."""

    sizes: dict[str, int]
    """Tasks per set."""
    left_out: int
    """Tasks in no set, because they would connect two."""
    checked: dict[str, int]
    """Distinct things compared, per kind."""
    leaks: tuple[Leak, ...] = ()
    """What leaks; empty when nothing does."""


@dataclass(frozen=True, slots=True)
class Division:
    """Tasks by set."""

    tasks: dict[SplitName, tuple[str, ...]]
    """Ids of the tasks of every set, sorted."""
    left_out: tuple[str, ...]
    """Tasks that would connect two sets."""


def keys_of(task: Task, kinds: Iterable[KeyKind] = KEY_KINDS) -> frozenset[str]:
    """The things of a task that no other set may hold."""
    keys: set[str] = set()
    chosen = set(kinds)
    for node in task.graph.nodes:
        if "subtask" in chosen:
            keys.add(f"subtask {node.subtask_id}")
        if "resource" in chosen:
            keys.update(
                f"resource {item.category}={item.value}"
                for item in (*node.inputs, *node.outputs)
                if item.value
            )
    if "intent" in chosen and task.intent_id:
        keys.add(f"intent {task.intent_id}")
    return frozenset(keys)


def divide(keys: Mapping[str, frozenset[str]], shares: Mapping[SplitName, float], seed: int = 0) -> Division:
    """Deal tasks out into sets that share no key; the same outcome for the same input and seed.

    Raises:
        SelectionInvalid: shares that are negative or do not add up to 1.
    """
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-6:
        raise SelectionInvalid(f"The shares of the sets must add up to 1, not {dict(shares)}.")
    wanted = {name: shares.get(name, 0.0) * len(keys) for name in SPLITS}
    chosen: dict[str, SplitName] = {}
    left: set[str] = set()
    groups = sorted(_groups(keys), key=lambda group: (-len(group), draw_key(group[0], seed)))
    for group in groups:
        room = {name: wanted[name] - sum(1 for split in chosen.values() if split == name) for name in SPLITS}
        best = max(SPLITS, key=lambda name: room[name])
        if len(group) <= room[best] + 0.5 or len(group) == 1 or len([s for s in shares.values() if s]) == 1:
            chosen.update(dict.fromkeys(group, best))
        else:
            dealt, dropped = _grow({task: keys[task] for task in group}, room, seed)
            chosen.update(dealt)
            left |= dropped
    tasks: dict[SplitName, tuple[str, ...]] = {
        name: tuple(sorted(task for task, split in chosen.items() if split == name)) for name in SPLITS
    }
    return Division(tasks, tuple(sorted(left)))


def leakage(
    tasks: Mapping[SplitName, Sequence[Task]],
    left_out: int = 0,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    kinds: Iterable[KeyKind] = KEY_KINDS,
) -> LeakageReport:
    """Everything that stands in two sets, and every instruction of a set that a named list holds as well or nearly."""
    kinds = tuple(kinds)
    leaks: list[Leak] = []
    places: dict[str, set[SplitName]] = defaultdict(set)
    for name, members in tasks.items():
        for task in members:
            for key in keys_of(task, kinds):
                places[key].add(name)
    for key, found in sorted(places.items()):
        kind, _, value = key.partition(" ")
        order = [name for name in SPLITS if name in found]
        for first, second in pairwise(order):
            leaks.append(Leak.model_validate({"kind": kind, "value": value, "found_in": (first, second)}))
    checked = Counter(key.partition(" ")[0] for key in places)
    instructions = [(name, task) for name, members in tasks.items() for task in members if task.instruction]
    checked["instruction"] = len(instructions)
    for source, texts in (named_lists or {}).items():
        exact = {fold_text(text) for text in texts}
        shingles = [_shingles(text) for text in texts]
        index: dict[str, set[int]] = defaultdict(set)
        for number, found_shingles in enumerate(shingles):
            for shingle in found_shingles:
                index[shingle].add(number)
        for name, task in instructions:
            if fold_text(task.instruction) in exact or _near(task.instruction, shingles, index):
                leaks.append(Leak(kind="instruction", value=task.task_id, found_in=(name, source)))
    return LeakageReport(
        sizes={name: len(members) for name, members in tasks.items()},
        left_out=left_out,
        checked=dict(checked),
        leaks=tuple(leaks),
    )


def _groups(keys: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Tasks connected through shared keys, directly or not."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for task, own in keys.items():
        for key in own:
            parent[root(f"key {key}")] = root(f"task {task}")
    groups: dict[str, list[str]] = defaultdict(list)
    for task in sorted(keys):
        groups[root(f"task {task}")].append(task)
    return list(groups.values())


def _grow(
    keys: Mapping[str, frozenset[str]], room: Mapping[SplitName, float], seed: int
) -> tuple[dict[str, SplitName], set[str]]:
    """Divide one connected group: grow the smaller sets, give the rest to the largest, drop what connects two."""
    by_content: dict[frozenset[str], list[str]] = defaultdict(list)
    for task, own in keys.items():
        by_content[own].append(task)
    free = sorted(by_content, key=lambda own: draw_key(by_content[own][0], seed))
    users: Counter[str] = Counter()
    for own, members in by_content.items():
        users.update({key: len(members) for key in own})
    chosen: dict[str, SplitName] = {}
    blocked: set[str] = set()
    order = sorted(SPLITS, key=lambda name: room[name])
    for name in order[:-1]:
        held: set[str] = set()
        size = 0
        target = min(room[name], len(keys) / 3)
        while size < target - 0.5:
            candidates = [own for own in free if not own & blocked]
            if not candidates:
                break
            best = min(candidates, key=lambda own: (sum(users[key] for key in own - held), len(own - held)))
            held |= best
            inside = [own for own in free if own <= held and not own & blocked]
            for own in inside:
                chosen.update(dict.fromkeys(by_content[own], name))
                size += len(by_content[own])
            taken = set(inside)
            free = [own for own in free if own not in taken]
        blocked |= held
    largest = order[-1]
    for own in free:
        if not own & blocked:
            chosen.update(dict.fromkeys(by_content[own], largest))
    return chosen, set(keys) - set(chosen)


def _shingles(text: str) -> frozenset[str]:
    words = fold_text(text).split()
    if len(words) < _SHINGLE:
        return frozenset({" ".join(words)})
    return frozenset(" ".join(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1))


def _near(text: str, shingles: Sequence[frozenset[str]], index: Mapping[str, set[int]]) -> bool:
    own = _shingles(text)
    common: Counter[int] = Counter(number for shingle in own for number in index.get(shingle, ()))
    return any(count / len(own | shingles[number]) >= NEAR for number, count in common.items())
