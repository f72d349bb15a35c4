"""The account of an episode: what is different at its end beyond what its subtasks may change.

`beyond` takes the changes of a whole
episode, from its start to its end, and leaves those that no subtask of it may make. Values that depend on
parameters are not judged here: a wrong value at the right place is a wrong outcome, which functions notice.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from taskloom.evaluators_api.state.allowances import Place, holder_in, is_count, lasting, place_of
from taskloom.evaluators_api.state.effects import effects, is_implied, lies_in, record_folders
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import fields_in
from taskloom.evaluators_api.state.templates import filled
from taskloom.resources.noise import EffectKind
from taskloom.taskgraph.records.allowance import Allowance
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.side_effects import SideEffects

Bound = tuple[Sequence[Allowance], Mapping[str, str]]
"""What one subtask may change, and the parameters it is done with."""
_MOST_EXAMPLES = 10
_EMPTY = re.compile(r"[\s\[\]{}\"]*|0|0\.0|false|null|none", re.IGNORECASE)


@lru_cache(maxsize=8192)
def _expression(template: str, parameters: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    parts = (_literally(filled(part, dict(parameters))) for part in template.split(ANY))
    return re.compile("[^/]*?".join(parts), re.DOTALL)


def _literally(text: str) -> str:
    """An expression for `text`, in which marks may be written otherwise: applications make file names of
    titles."""
    return "".join(
        re.escape(mark) if mark.isalnum() or mark in " ._-/" else f"(?:{re.escape(mark)}|[^/]{{0,3}}?)"
        for mark in text
    )


@dataclass(slots=True)
class _Rule:
    """An allowance with values for its parameters."""

    allowance: Allowance
    parameters: tuple[tuple[str, str], ...]
    holds: frozenset[str] = field(init=False)
    """What the record that is meant holds."""

    def __post_init__(self) -> None:
        values = dict(self.parameters)
        self.holds = frozenset(filled(text, values) for text in self.allowance.holds)

    def key(self) -> tuple[object, ...]:
        """Equal for rules about the same places."""
        values = dict(self.parameters)
        allowed = self.allowance
        return (
            allowed.area,
            filled(allowed.container, values),
            *(filled(part, values) for part in allowed.address),
        )

    def covers(self, effect: Effect, record: str = "") -> bool:
        """Whether it is about the place of `effect`, which may lie in an added `record`."""
        allowed, told = self.allowance, record or ((effect.after or "") if effect.kind == "added" else "")
        return (
            allowed.area == effect.area
            and len(allowed.address) == len(effect.address)
            and (None in (allowed.content, effect.content) or allowed.content == effect.content)
            and all(text in effect.holds or text in told for text in self.holds)
            and self._is(allowed.container, effect.container)
            and all(
                part == ANY or self._is(part, name)
                for part, name in zip(allowed.address, effect.address, strict=True)
            )
        )

    def is_near(self, effect: Effect) -> bool:
        """Whether `effect` is in the same file or folder; of files with parts, in the same one."""
        allowed = self.allowance
        if not self._is(allowed.container, effect.container):
            return False
        parts = zip(allowed.address[:1], effect.address[:1], strict=False)
        return all(part == ANY or self._is(part, name) for part, name in parts)

    def admits(self, value: str | None) -> bool:
        """Whether this value may be there. A number that is not nought may be another such number: it may
        count something."""
        values = self.allowance.values
        if values is None or any(filled(text, dict(self.parameters)) == value for text in values):
            return True
        return is_count(value or "") and any(map(is_count, values))

    def _is(self, template: str, text: str) -> bool:
        return _expression(template, self.parameters).fullmatch(text) is not None


def beyond(start: Evidence, end: Evidence, bound: Iterable[Bound], about: Bound | None = None) -> SideEffects:
    """The lasting changes from `start` to `end` that no work in `bound` makes.

    Effects inside of something new or lost count with it. Where an allowance says what the record holds that
    is meant, a change of another record is none of it. A record that is added may tell what was there before,
    and what other work was told. Only what lies in the files and tables of `about` counts, where it is given.
    """
    account = _Account(bound, (start, end))
    changes = lasting(effects(start, end, {}, screen=False, held=account.texts))
    found = list(_outer([item for item in changes if not is_implied(end, item)]))
    if about is not None:
        places = [_Rule(item, tuple(sorted(about[1].items()))) for item in about[0]]
        found = [effect for effect in found if any(place.is_near(effect) for place in places)]
    return account.side_effects(found)


class _Account:
    def __init__(self, bound: Iterable[Bound], ends: Sequence[Evidence]) -> None:
        self._rules: dict[int, list[_Rule]] = defaultdict(list)
        self._left: dict[tuple[object, ...], Counter[EffectKind]] = defaultdict(Counter)
        self._free: set[tuple[tuple[object, ...], EffectKind]] = set()
        self._told: Counter[str | None] = Counter()
        for items, parameters in bound:
            self._told.update(set(parameters.values()))
            values = tuple(sorted(parameters.items()))
            for item in items:
                rule = _Rule(item, values)
                self._rules[len(item.address)].append(rule)
                if item.inside:
                    continue
                key = rule.key()
                most = item.most
                if item.most_of and most:
                    most = _records_of(filled(item.most_of, parameters), ends)
                self._left[key][item.kind] += most
                if not most:
                    self._free.add((key, item.kind))

    @property
    def texts(self) -> frozenset[str]:
        """What the records hold that are meant."""
        return frozenset(text for rules in self._rules.values() for rule in rules for text in rule.holds)

    def side_effects(self, found: Sequence[Effect]) -> SideEffects:
        """What no rule explains."""
        counts: Counter[str] = Counter()
        examples: list[str] = []
        expected: dict[Place, Effect] = {}
        inside: Counter[tuple[Place, tuple[object, ...]]] = Counter()
        closed: set[Place] = set()
        bounded: set[Place] = set()
        self._told.update({effect.before or "" for effect in found if effect.kind == "changed"})
        for effect in found:
            places = [(*place_of(effect)[:2], effect.address[:depth]) for depth in range(len(effect.address))]
            if effect.kind != "changed" and any(place in closed for place in places):
                continue
            holder = holder_in(effect, expected)
            if holder is None:
                problem = self._outside(effect)
            elif place_of(holder) in bounded:
                problem = self._inside(effect, holder, inside)
            else:
                continue
            if not problem:
                if holder is None and effect.kind != "changed":
                    expected[place_of(effect)] = effect
                    if any(rule.allowance.bounded for rule in self._covering(effect)):
                        bounded.add(place_of(effect))
                continue
            closed.add(place_of(effect))
            counts[problem] += 1
            if len(examples) < _MOST_EXAMPLES:
                examples.append(effect.describe())
        return SideEffects(total=counts.total(), examples=tuple(examples), **counts)

    def _covering(self, effect: Effect, *, inside: bool = False, record: str = "") -> list[_Rule]:
        rules = self._rules[len(effect.address)]
        return [rule for rule in rules if rule.allowance.inside <= inside and rule.covers(effect, record)]

    def _outside(self, effect: Effect) -> str:
        for rule in self._covering(effect):
            if self._take(rule, effect.kind):
                return ""
        return "" if self._was_replaced(effect) else _sort(effect)

    def _take(self, rule: _Rule, kind: EffectKind) -> bool:
        """Use up one change of this kind at the rule's place.

        Of parts that are only known by their positions, and files by made-up names, a change is a loss and an
        addition, and each counts.
        """
        key, left = rule.key(), self._left[rule.key()]
        listed = rule.allowance.address[-1:] == (ANY,) or ANY in rule.allowance.container.split("/")
        if (key, kind) in self._free or (
            kind != "removed" and not listed and left["added"] + left["changed"]
        ):
            return True
        if left[kind] > 0:
            left[kind] -= 1
            return True
        if not listed:
            return kind == "changed" and (key, "added") in self._free
        if kind == "changed" and left["added"] > 0 and left["removed"] > 0:
            left.subtract({"added": 1, "removed": 1})
            return True
        if kind != "changed" and left["changed"] > 0:
            left.subtract({"changed": 1})
            left["removed" if kind == "added" else "added"] += 1
            return True
        return False

    def _was_replaced(self, effect: Effect) -> bool:
        """Whether it lies in something that may be removed and that may be added."""
        for depth in range(len(effect.address)):
            around = effect.model_copy(update={"address": effect.address[:depth]})
            kinds = {rule.allowance.kind for rule in self._covering(around)}
            if {"added", "removed"} <= kinds:
                return True
        return False

    def _inside(
        self, effect: Effect, holder: Effect, inside: Counter[tuple[Place, tuple[object, ...]]]
    ) -> str:
        rules = self._covering(effect, inside=True, record=holder.after or "")
        if not rules:
            return "" if _EMPTY.fullmatch(effect.after or "") else "records_added"
        if any(rule.allowance.kind == "changed" for rule in rules):
            return ""
        keys, place = {rule.key() for rule in rules}, place_of(holder)
        inside.update((place, key) for key in keys)
        if not any(
            rule.allowance.most == 0 or inside[place, rule.key()] <= rule.allowance.most for rule in rules
        ):
            return "records_added"
        value, owns = effect.after, [dict(rule.parameters).values() for rule in rules]
        told = any(self._told[value] > (value in own) for own in owns) and not _EMPTY.fullmatch(value or "")
        return "" if told or any(rule.admits(value) for rule in rules) else "values_changed"


def _records_of(path: str, ends: Sequence[Evidence]) -> int:
    """How many records a file has, at the start or else at the end; 0 where it was only there in between."""
    found = (file for state in ends for file in (state.file(path),) if file is not None and file.text)
    return next((len(fields_in(read(file.path, file.text or "")[1])) for file in found), 0)


def _outer(found: list[Effect]) -> Iterator[Effect]:
    """Without folders that came or went with the files in them; without the files of a record that was a
    folder and is gone."""
    gone = [folder for folder in record_folders(found) if folder.kind == "removed"]
    found = [effect for effect in found if not lies_in(effect, gone)]
    moved = [effect for effect in found if effect.area == "file" and not effect.address]
    for effect in found:
        if effect.area == "directory" and any(
            other.kind == effect.kind and other.container.startswith(f"{effect.container}/")
            for other in moved
        ):
            continue
        yield effect


def _sort(effect: Effect) -> str:
    if effect.kind == "changed":
        return "values_changed"
    what = "records" if effect.address else "files"
    return f"{what}_{'added' if effect.kind == 'added' else 'lost'}"
