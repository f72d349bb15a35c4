"""Finds what must not occur in two sets, and reports on the resulting sets."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from pydantic import Field

from taskloom.resources.record import Record
from taskloom.warehouse.sets.compared import ComparedTasks, Rows, find_similar
from taskloom.warehouse.sets.key_table import LEAK_KINDS, SPLITS, LeakKind, SplitName

Members = Mapping[SplitName, Rows]
"""The numbers of the tasks of each set."""


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
    """Requested shares of the sets."""
    given: dict[str, float] = Field(default_factory=dict)
    """Actual shares of the sets among all tasks that are in one, before any were drawn."""
    may_share: tuple[LeakKind, ...] = ()
    """What the sets were allowed to share."""
    left_out: int
    """Tasks in no set; `left_out.jsonl` names each with the reason."""
    left_out_reasons: dict[str, int] = Field(default_factory=dict)
    """Their number by reason."""
    advice: tuple[str, ...] = ()
    """Where the sets differ from the request: what connects the tasks, and what would separate them."""
    removed: tuple[Leak, ...] = ()
    """Tasks removed from their set, because their instruction resembles one of another set or of a list."""
    named: dict[str, int] = Field(default_factory=dict)
    """Number of instructions in each list or collection with which all tasks were compared."""
    resembling: dict[str, int] = Field(default_factory=dict)
    """Number of tasks removed because they resemble an instruction of it."""
    checked: dict[str, int]
    """Distinct things compared, per kind."""
    leaks: tuple[Leak, ...] = ()
    """The leaks; empty when there are none."""


def find_resembling(
    tasks: ComparedTasks,
    members: Members,
    places: Sequence[str] = (),
    *,
    between_sets: bool = True,
) -> list[Leak]:
    """Tasks whose instruction resembles one in a list (or a subtask's does), or one in another, smaller set.

    `places` names the lines of the lists that were compared.
    """
    names = tasks.table.tasks
    leaks: list[Leak] = []
    removed = np.zeros(len(names), bool)
    if places:
        line_of = _line_of_each(tasks, members, len(places))
        for name, numbers in members.items():
            for task in numbers[line_of[numbers] >= 0]:
                place = places[int(line_of[task])]
                leaks.append(Leak(kind="instruction", value=names[task], found_in=(name, place)))
        removed = line_of >= 0
    by_size = sorted(members, key=lambda name: len(members[name]))
    for position, smaller in enumerate(by_size[:-1] if between_sets else ()):
        among = members[smaller][~removed[members[smaller]]]
        for larger in by_size[position + 1 :]:
            numbers = members[larger][~removed[members[larger]]]
            twins = find_similar(tasks.wordings, numbers, among)
            for task, twin in zip(numbers[twins >= 0], twins[twins >= 0], strict=True):
                place = f"{smaller}: {names[twin]}"
                leaks.append(Leak(kind="instruction", value=names[task], found_in=(larger, place)))
            removed[numbers[twins >= 0]] = True
    return leaks


def leakage(
    tasks: ComparedTasks,
    members: Members,
    places: Sequence[str] = (),
    may_share: Collection[LeakKind] = (),
    compared: tuple[Members, Sequence[Leak]] | None = None,
) -> LeakageReport:
    """Everything that occurs in two sets, and every instruction of a set that resembles one of a list.

    Instructions are not compared again where `compared` (sets, and the result of `find_resembling` for them)
    covers `members`.
    """
    chosen = np.concatenate([np.zeros(0, np.int64), *members.values()])
    holders, held = tasks.table.holders(), tasks.table.numbers()
    found_in: dict[SplitName, Rows] = {}
    for name, numbers in members.items():
        inside = np.zeros(len(tasks.table.tasks), bool)
        inside[numbers] = True
        found_in[name] = np.bincount(held[inside[holders]], minlength=len(tasks.table.keys))
    anywhere = np.sum(list(found_in.values()), axis=0)
    checked = Counter(
        key.partition(" ")[0] for key, count in zip(tasks.table.keys, anywhere, strict=True) if count
    )
    if "intent" in checked:
        checked["intent"] = tasks.count_intents(chosen)
    checked["instruction"] = int(np.count_nonzero(tasks.wordings.sizes[chosen]))
    if places:
        checked["named instruction"] = int(np.count_nonzero(tasks.wordings.sizes[tasks.first_line :]))
    in_several = np.flatnonzero(np.sum([count > 0 for count in found_in.values()], axis=0) > 1)
    shared = {
        tasks.table.keys[key]: [name for name in SPLITS if name in found_in and found_in[name][key]]
        for key in in_several
    }
    resembling: Sequence[Leak] = ()
    if compared is None or not _is_part(tasks, members, *compared):
        resembling = find_resembling(tasks, members, places, between_sets="instruction" not in may_share)
    return LeakageReport(
        sizes={name: len(numbers) for name, numbers in members.items()},
        left_out=0,
        may_share=tuple(kind for kind in LEAK_KINDS if kind in may_share),
        checked=dict(sorted(checked.items())),
        leaks=(*_key_leaks(shared, may_share), *resembling),
    )


def _is_part(tasks: ComparedTasks, members: Members, compared: Members, leaks: Sequence[Leak]) -> bool:
    """Whether every task is in the same set of `compared`, and none is among `leaks`."""
    removed = {leak.value for leak in leaks}
    return all(
        np.isin(numbers, compared[name]).all()
        and not any(tasks.table.tasks[task] in removed for task in numbers)
        for name, numbers in members.items()
    )


def _line_of_each(tasks: ComparedTasks, members: Members, lines: int) -> Rows:
    """The line of a list that each task's instruction resembles, else a subtask's, else -1."""
    chosen = np.concatenate([np.zeros(0, np.int64), *members.values()])
    among = np.arange(tasks.first_line, tasks.first_line + lines)
    line_of = np.full(len(tasks.table.tasks), -1, np.int64)
    line_of[chosen] = find_similar(tasks.wordings, chosen, among)
    of_part = find_similar(tasks.wordings, np.arange(len(tasks.table.tasks), tasks.first_line), among)
    holders, held = tasks.parts.holders(), of_part[tasks.parts.numbers()]
    from_parts = (held >= 0) & (line_of[holders] < 0)
    line_of[holders[from_parts][::-1]] = held[from_parts][::-1]
    inside = np.zeros(len(line_of), bool)
    inside[chosen] = True
    line_of[~inside] = -1
    return np.where(line_of >= 0, line_of - tasks.first_line, -1)


def _key_leaks(shared: Mapping[str, Sequence[SplitName]], may_share: Collection[LeakKind]) -> Iterator[Leak]:
    for key, names in sorted(shared.items()):
        kind, _, value = key.partition(" ")
        if kind in may_share or kind == "instruction":
            continue
        for first, second in combinations(names, 2):
            yield Leak.model_validate({"kind": kind, "value": value, "found_in": (first, second)})
