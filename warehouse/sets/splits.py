"""What must not stand in two sets, and the report that proves that nothing does.

Sets share no subtask template, no resource value, no intent, and no instruction or a near copy of one; nor does any
set hold an instruction of the lists that a user names. The report is computed from the outcome, not from the
construction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal
from zlib import crc32

from resources.record import Record
from taskgraph.records.task import Task
from taskgraph.text_folding import fold_text
from warehouse.sets.dividing import SPLITS, SplitName

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
    """The two places: sets, `SET: TASK` for the other task of two, or `LIST:LINE`."""


class LeakageReport(Record):
    """What was checked and what was found."""

    sizes: dict[str, int]
    """Tasks per set."""
    left_out: int
    """Tasks in no set, because they would connect two."""
    removed: tuple[Leak, ...] = ()
    """Tasks taken out of their set, because their instruction stands, or nearly stands, elsewhere."""
    checked: dict[str, int]
    """Distinct things compared, per kind."""
    leaks: tuple[Leak, ...] = ()
    """What leaks; empty when nothing does."""


class InstructionIndex:
    """Finds which of many instructions one resembles: equal but for case and spacing, or half of its wording."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Index `texts`, pairs of a name and an instruction; empty instructions are passed over."""
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._holders: dict[int, list[int]] = defaultdict(list)
        for name, text in texts:
            shingles = _shingles(text)
            for shingle in shingles:
                self._holders[shingle].append(len(self._names))
            if shingles:
                self._names.append(name)
                self._sizes.append(len(shingles))

    def resembled_by(self, text: str) -> str | None:
        """The name of the instruction that `text` resembles most, or None."""
        own = _shingles(text)
        common: Counter[int] = Counter(number for shingle in own for number in self._holders.get(shingle, ()))
        nearest = max(
            ((count / (len(own) + self._sizes[number] - count), -number) for number, count in common.items()),
            default=(0.0, 0),
        )
        return self._names[-nearest[1]] if nearest[0] >= NEAR else None


def keys_of(task: Task, kinds: Iterable[KeyKind] = KEY_KINDS) -> frozenset[str]:
    """The things of a task that no other set may hold."""
    keys: set[str] = set()
    chosen = set(kinds)
    for node in task.graph.nodes:
        if "subtask" in chosen:
            keys.add(f"subtask {node.subtask_id}")
        if "resource" in chosen:
            keys.update(f"resource {item.value}" for item in (*node.inputs, *node.outputs) if item.value)
    if "intent" in chosen:
        if task.intent_id:
            keys.add(f"intent {task.intent_id}")
        if task.intent:
            keys.add(f"intent {fold_text(task.intent)}")
    return frozenset(keys)


def resembling(
    tasks: Mapping[SplitName, Sequence[Task]], named_lists: Mapping[str, Sequence[str]] | None = None
) -> list[Leak]:
    """Tasks whose instruction, or a subtask's, stands in a named list, or whose instruction stands in another set.

    Of two tasks in two sets the one in the larger set is named. Lines of a list are numbered from 1.
    """
    found: list[Leak] = []
    named = InstructionIndex(
        (f"{source}:{number}", text)
        for source, texts in (named_lists or {}).items()
        for number, text in enumerate(texts, start=1)
    )
    for name, members in tasks.items():
        for task in members if named_lists else ():
            texts = (task.instruction, *(node.instruction for node in task.graph.nodes))
            place = next(filter(None, map(named.resembled_by, texts)), None)
            if place:
                found.append(Leak(kind="instruction", value=task.task_id, found_in=(name, place)))
    gone = {leak.value for leak in found}
    by_size = sorted(tasks, key=lambda name: len(tasks[name]))
    for position, smaller in enumerate(by_size[:-1]):
        index = InstructionIndex(
            (task.task_id, task.instruction) for task in tasks[smaller] if task.task_id not in gone
        )
        for larger in by_size[position + 1 :]:
            for task in tasks[larger]:
                twin = index.resembled_by(task.instruction) if task.task_id not in gone else None
                if twin:
                    gone.add(task.task_id)
                    found.append(
                        Leak(kind="instruction", value=task.task_id, found_in=(larger, f"{smaller}: {twin}"))
                    )
    return found


def leakage(
    tasks: Mapping[SplitName, Sequence[Task]],
    left_out: int = 0,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    removed: Sequence[Leak] = (),
) -> LeakageReport:
    """Everything that stands in two sets, and every instruction of a set that a named list holds as well or nearly."""
    leaks: list[Leak] = []
    places: dict[str, set[SplitName]] = defaultdict(set)
    for name, members in tasks.items():
        for task in members:
            for key in keys_of(task):
                places[key].add(name)
    for key, found in sorted(places.items()):
        kind, _, value = key.partition(" ")
        order = [name for name in SPLITS if name in found]
        for first, second in combinations(order, 2):
            leaks.append(Leak.model_validate({"kind": kind, "value": value, "found_in": (first, second)}))
    checked = Counter(key.partition(" ")[0] for key in places)
    checked["intent"] = len(
        {task.intent_id or task.intent for members in tasks.values() for task in members} - {""}
    )
    checked["instruction"] = sum(bool(task.instruction) for members in tasks.values() for task in members)
    if named_lists:
        checked["named instruction"] = sum(
            bool(text.strip()) for texts in named_lists.values() for text in texts
        )
    return LeakageReport(
        sizes={name: len(members) for name, members in tasks.items()},
        left_out=left_out,
        removed=tuple(removed),
        checked=dict(sorted(checked.items())),
        leaks=(*leaks, *resembling(tasks, named_lists)),
    )


def _shingles(text: str) -> frozenset[int]:
    """Hashes of a text's sequences of five words; of the whole text where it is shorter."""
    words = fold_text(text).split()
    if not words:
        return frozenset()
    starts = range(max(len(words) - _SHINGLE, 0) + 1)
    return frozenset(crc32(" ".join(words[at : at + _SHINGLE]).encode()) for at in starts)
