"""What must not stand in two sets, and the report that proves that nothing does.

Sets share no subtask template, no resource value, no intent, and no instruction or a near copy of one, except for what
may be shared on request; nor does any set hold an instruction of the lists that a user names. The report is computed
from the outcome, not from the construction.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, Self

from pydantic import Field

from resources.record import Record
from taskgraph.records.task import Task
from taskgraph.text_folding import fold_text
from warehouse.sets.names import SPLITS, SplitName
from warehouse.sets.wording import InstructionIndex, wording_of

LeakKind = Literal["template", "value", "intent", "instruction"]
"""What two sets must not share: subtask templates, resource values, intents, instructions."""
LEAK_KINDS: Final[tuple[LeakKind, ...]] = ("template", "value", "intent", "instruction")
"""All kinds of shared things that count as a leak."""


class Leak(Record):
    """Something that occurs in two sets, or in a set and in a named list of instructions."""

    kind: LeakKind
    """What it is."""
    value: str
    """The thing itself; for an instruction the task's id."""
    found_in: tuple[str, str]
    """The two places: sets, `SET: TASK` for the other task of two, or `LIST:LINE`."""


class LeakageReport(Record):
    """What was requested, checked and found."""

    sizes: dict[str, int]
    """Tasks per set."""
    asked: dict[str, float] = Field(default_factory=dict)
    """Shares of the sets that were asked for."""
    given: dict[str, float] = Field(default_factory=dict)
    """Shares of the sets among all tasks that are in one, before any were drawn."""
    may_share: tuple[LeakKind, ...] = ()
    """What the sets were allowed to share."""
    left_out: int
    """Tasks in no set; `left_out.jsonl` names each with the reason."""
    left_out_reasons: dict[str, int] = Field(default_factory=dict)
    """Their number by reason."""
    advice: tuple[str, ...] = ()
    """Where the sets are not what was asked for: what holds the tasks together, and what would part them."""
    removed: tuple[Leak, ...] = ()
    """Tasks taken out of their set, because their instruction stands, or nearly stands, elsewhere."""
    checked: dict[str, int]
    """Distinct things compared, per kind."""
    leaks: tuple[Leak, ...] = ()
    """The leaks; empty when there are none."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared of a task."""

    task_id: str
    """The task."""
    keys: tuple[str, ...]
    """What no other set may hold, each with its kind in front."""
    wording: array[int]
    """Its instruction."""
    parts: tuple[array[int], ...] = ()
    """The instructions of its subtasks, where lists are compared."""

    @classmethod
    def of(cls, task: Task, kinds: Collection[LeakKind] = LEAK_KINDS) -> Self:
        """What is compared of a task record."""
        return cls(
            task.task_id,
            keys_of(task, kinds),
            wording_of(task.instruction),
            tuple(wording_of(node.instruction) for node in task.graph.nodes),
        )


def keys_of(task: Task, kinds: Collection[LeakKind] = LEAK_KINDS) -> tuple[str, ...]:
    """The keys of a task that no other set may contain, sorted."""
    values = (item.value for node in task.graph.nodes for item in (*node.inputs, *node.outputs))
    return named_keys(
        (node.subtask_id for node in task.graph.nodes),
        values,
        task.intent_id,
        task.intent,
        task.instruction,
        kinds,
    )


def named_keys(
    templates: Iterable[str],
    values: Iterable[str],
    intent_id: str,
    intent: str,
    instruction: str,
    kinds: Collection[LeakKind] = LEAK_KINDS,
) -> tuple[str, ...]:
    """The same, from a task's fields."""
    keys: set[str] = set()
    if "template" in kinds:
        keys.update(f"template {name}" for name in templates)
    if "value" in kinds:
        keys.update(f"value {value}" for value in values if value)
    if "intent" in kinds:
        keys.update(f"intent {text}" for text in (intent_id, fold_text(intent)) if text)
    if "instruction" in kinds and instruction:
        keys.add(f"instruction {fold_text(instruction)}")
    return tuple(sorted(keys))


def resembling(
    tasks: Mapping[SplitName, Sequence[Compared]],
    named_lists: Mapping[str, Sequence[str]] | None = None,
    *,
    between_sets: bool = True,
) -> list[Leak]:
    """Tasks whose instruction, or a subtask's, stands in a named list, or whose instruction stands in another set.

    Of two tasks in two sets the one in the larger set is named. Lines of a list are numbered from 1.
    """
    found: list[Leak] = []
    if named_lists:
        named = InstructionIndex(
            (f"{source}:{number}", wording_of(text))
            for source, texts in named_lists.items()
            for number, text in enumerate(texts, start=1)
        )
        for name, members in tasks.items():
            for task in members:
                place = next(filter(None, map(named.resembled_by, (task.wording, *task.parts))), None)
                if place:
                    found.append(Leak(kind="instruction", value=task.task_id, found_in=(name, place)))
    gone = {leak.value for leak in found}
    by_size = sorted(tasks, key=lambda name: len(tasks[name]))
    for position, smaller in enumerate(by_size[:-1] if between_sets else ()):
        index = InstructionIndex(
            (task.task_id, task.wording) for task in tasks[smaller] if task.task_id not in gone
        )
        for larger in by_size[position + 1 :]:
            for task in tasks[larger]:
                twin = index.resembled_by(task.wording) if task.task_id not in gone else None
                if twin:
                    gone.add(task.task_id)
                    found.append(
                        Leak(kind="instruction", value=task.task_id, found_in=(larger, f"{smaller}: {twin}"))
                    )
    return found


def leakage(
    tasks: Mapping[SplitName, Sequence[Compared]],
    named_lists: Mapping[str, Sequence[str]] | None = None,
    may_share: Collection[LeakKind] = (),
) -> LeakageReport:
    """Everything that occurs in two sets, and every instruction of a set that is in a named list, literally or nearly."""
    places: dict[str, set[SplitName]] = defaultdict(set)
    for name, members in tasks.items():
        for task in members:
            for key in task.keys:
                places[key].add(name)
    checked = Counter(key.partition(" ")[0] for key in places)
    intents = {
        tuple(key for key in task.keys if key.startswith("intent "))
        for members in tasks.values()
        for task in members
    }
    if "intent" in checked:
        checked["intent"] = len(intents - {()})
    checked["instruction"] = sum(bool(task.wording) for members in tasks.values() for task in members)
    if named_lists:
        checked["named instruction"] = sum(
            bool(text.strip()) for texts in named_lists.values() for text in texts
        )
    return LeakageReport(
        sizes={name: len(members) for name, members in tasks.items()},
        left_out=0,
        may_share=tuple(kind for kind in LEAK_KINDS if kind in may_share),
        checked=dict(sorted(checked.items())),
        leaks=(
            *_shared(places, may_share),
            *resembling(tasks, named_lists, between_sets="instruction" not in may_share),
        ),
    )


def _shared(places: Mapping[str, set[SplitName]], may_share: Collection[LeakKind]) -> Iterator[Leak]:
    for key, found in sorted(item for item in places.items() if len(item[1]) > 1):
        kind, _, value = key.partition(" ")
        if kind in may_share or kind == "instruction":
            continue
        for first, second in combinations([name for name in SPLITS if name in found], 2):
            yield Leak.model_validate({"kind": kind, "value": value, "found_in": (first, second)})
