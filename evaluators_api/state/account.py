"""The account of an episode: what is different at its end beyond what its subtasks may change. Wrong values
at places that depend on parameters are wrong outcomes, which functions notice."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from taskloom.evaluators_api.state.allowances import Place, holder_in, is_count, lasting
from taskloom.evaluators_api.state.effects import effects, is_holder, is_implied, lies_in, record_folders
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import fields_in
from taskloom.evaluators_api.state.templates import filled
from taskloom.resources.noise import EffectKind
from taskloom.taskgraph.records.effect import ANY, Allowance, Effect, SideEffects
from taskloom.taskgraph.records.evidence import Evidence

Bound = tuple[Sequence[Allowance], Mapping[str, str]]
"""What one subtask may change, and the parameters it is done with."""
_PARTS: Mapping[EffectKind, tuple[EffectKind, ...]] = {"changed": ("removed", "added")}
_MOST_EXAMPLES = 10
_EMPTY = re.compile(r"[\s\[\]{}\"]*|0|0\.0|false|null|none", re.IGNORECASE)


def _literally(text: str) -> str:
    """An expression for `text` in which marks may differ: applications make file names of titles."""
    return "".join(
        re.escape(mark) if mark.isalnum() or mark in " ._-/" else f"(?:{re.escape(mark)}|[^/]{{0,3}}?)"
        for mark in text
    )


@lru_cache(maxsize=8192)
def _expression(template: str, parameters: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    parts = (_literally(filled(part, dict(parameters))) for part in template.split(ANY))
    return re.compile("[^/]*?".join(parts), re.DOTALL)


class _Rule:
    """An allowance with the values of its subtask in it."""

    def __init__(self, allowance: Allowance, parameters: Mapping[str, str]) -> None:
        def bound(*texts: str) -> tuple[str, ...]:
            return tuple(filled(text, parameters) for text in texts)

        self.allowance, self.own = allowance, frozenset(parameters.values())
        self.holds, self.values = bound(*allowance.holds), bound(*(allowance.values or ()))
        self.key = bound(allowance.area, allowance.container, *allowance.address)
        self.listed = allowance.address[-1:] == (ANY,) or ANY in allowance.container.split("/")
        self._parameters = tuple(sorted(parameters.items()))

    def covers(self, effect: Effect, record: str = "") -> bool:
        """Whether it is about the place of `effect`, which may lie in an added `record`."""
        allowed, told = self.allowance, record or ((effect.after or "") if effect.kind == "added" else "")
        return (
            allowed.area == effect.area
            and len(allowed.address) == len(effect.address)
            and (None in (allowed.content, effect.content) or allowed.content == effect.content)
            and all(text in effect.holds or text in told for text in self.holds)
            and self._is_at(effect.container, effect.address)
        )

    def is_near(self, effect: Effect) -> bool:
        """Whether `effect` is in the same file or folder; of files with parts, in the same one."""
        return self._is_at(effect.container, effect.address[:1])

    def admits(self, value: str | None) -> bool:
        """Whether this value may be there, or another number that is not nought: it may count something."""
        if self.allowance.values is None or value in self.values:
            return True
        return is_count(value or "") and any(map(is_count, self.values))

    def _is_at(self, container: str, address: Sequence[str]) -> bool:
        """Whether this is its file or folder, and its address as far as both go."""
        parts = zip(self.allowance.address, address, strict=False)
        return self._is(self.allowance.container, container) and all(
            part == ANY or self._is(part, name) for part, name in parts
        )

    def _is(self, template: str, text: str) -> bool:
        return _expression(template, self._parameters).fullmatch(text) is not None


def beyond(start: Evidence, end: Evidence, bound: Iterable[Bound], about: Bound | None = None) -> SideEffects:
    """The lasting changes from `start` to `end` that no work in `bound` makes.

    Effects inside of something new or lost count with it. Where an allowance says what the record holds that
    is meant, a change of another record is none of it. A record that is added may tell what was there before,
    and what other work was told. Only what lies in the files and tables of `about` counts, where it is given.
    """
    account = _Account(bound, (start, end))
    changes = lasting(effects(start, end, {}, screen=False, held=account.texts))
    found = _outer([item for item in changes if not is_implied(end, item)])
    if about is not None:
        places = [_Rule(item, about[1]) for item in about[0]]
        found = [effect for effect in found if any(place.is_near(effect) for place in places)]
    return account.side_effects(found)


class _Account:
    def __init__(self, bound: Iterable[Bound], ends: Sequence[Evidence]) -> None:
        self._rules: dict[int, list[_Rule]] = defaultdict(list)
        self._left: dict[Place, Counter[EffectKind]] = defaultdict(Counter)
        self._free: set[tuple[Place, EffectKind]] = set()
        self._told: Counter[str | None] = Counter()
        self.texts: set[str] = set()
        """What any record must hold."""
        self._within: Counter[tuple[Place, Place]] = Counter()
        """How often each rule was used inside of each addition."""
        for items, parameters in bound:
            self._told.update(set(parameters.values()))
            for item in items:
                rule = _Rule(item, parameters)
                self._rules[len(item.address)].append(rule)
                self.texts.update(rule.holds)
                if item.inside:
                    continue
                most = item.most
                if item.most_of and most:
                    most = _records_of(filled(item.most_of, parameters), ends)
                parts = _PARTS.get(item.kind, (item.kind,)) if rule.listed else (item.kind,)
                self._left[rule.key].update(dict.fromkeys(parts, most))
                if not most:
                    self._free.add((rule.key, item.kind))

    def side_effects(self, found: Sequence[Effect]) -> SideEffects:
        counts: Counter[str] = Counter()
        wrong: list[Effect] = []
        expected: dict[Place, Effect] = {}
        closed: set[Place] = set()
        bounded: set[Place] = set()
        self._told.update({effect.before or "" for effect in found if effect.kind == "changed"})
        for effect in found:
            if effect.kind != "changed" and not closed.isdisjoint(effect.around):
                continue
            holder = holder_in(effect, expected)
            if holder is None:
                problem = self._outside(effect)
            elif holder.place in bounded:
                problem = self._inside(effect, holder)
            else:
                continue
            if problem:
                closed.add(effect.place)
                counts[problem] += 1
                wrong.append(effect)
            elif holder is None and effect.kind != "changed":
                expected[effect.place] = effect
                if any(rule.allowance.bounded for rule in self._covering(effect)):
                    bounded.add(effect.place)
        examples = tuple(effect.describe() for effect in wrong[:_MOST_EXAMPLES])
        return SideEffects(total=counts.total(), examples=examples, **counts)

    def _covering(self, effect: Effect, *, inside: bool = False, record: str = "") -> list[_Rule]:
        rules = self._rules[len(effect.address)]
        return [rule for rule in rules if rule.allowance.inside <= inside and rule.covers(effect, record)]

    def _outside(self, effect: Effect) -> str:
        """The problem with an effect that lies in no other, as `SideEffects` counts it; empty for none."""
        if any(self._take(rule, effect.kind) for rule in self._covering(effect)):
            return ""
        for depth in range(len(effect.address)):
            around = self._covering(effect.model_copy(update={"address": effect.address[:depth]}))
            if {"added", "removed"} <= {rule.allowance.kind for rule in around}:
                return ""  # it was replaced with what it lies in
        what = "records" if effect.address else "files"
        return {"added": f"{what}_added", "removed": f"{what}_lost"}.get(effect.kind, "values_changed")

    def _take(self, rule: _Rule, kind: EffectKind) -> bool:
        """Use up one change of this kind at the rule's place.

        Of parts that are only known by their positions, and files by made-up names, a change is a loss and an
        addition, and each counts.
        """
        key, left = rule.key, self._left[rule.key]
        if (key, kind) in self._free:
            return True
        if not rule.listed and kind != "removed":
            return left["added"] + left["changed"] > 0 or (kind == "changed" and (key, "added") in self._free)
        parts = _PARTS.get(kind, (kind,))
        if any(left[part] < 1 for part in parts):
            return False
        left.subtract(parts)
        return True

    def _inside(self, effect: Effect, holder: Effect) -> str:
        rules = self._covering(effect, inside=True, record=holder.after or "")
        if not rules:
            return "" if _EMPTY.fullmatch(effect.after or "") else "records_added"
        if any(rule.allowance.kind == "changed" for rule in rules):
            return ""
        self._within.update({(holder.place, rule.key) for rule in rules})
        most = [(rule.allowance.most, self._within[holder.place, rule.key]) for rule in rules]
        if not any(allowed == 0 or times <= allowed for allowed, times in most):
            return "records_added"
        value = effect.after
        known = any(self._told[value] > (value in rule.own) for rule in rules)
        told = known and not _EMPTY.fullmatch(value or "")
        return "" if told or any(rule.admits(value) for rule in rules) else "values_changed"


def _records_of(path: str, ends: Sequence[Evidence]) -> int:
    """How many records a file has, at the start or else at the end; 0 where it was only there in between."""
    found = (file for state in ends for file in (state.file(path),) if file is not None and file.text)
    return next((len(fields_in(read(file.path, file.text or "")[1])) for file in found), 0)


def _outer(found: list[Effect]) -> list[Effect]:
    """Without folders that came or went with the files in them; without the files of a record that was a
    folder and is gone."""
    gone = [folder for folder in record_folders(found) if folder.kind == "removed"]
    found = [effect for effect in found if not lies_in(effect, gone)]
    moved = [effect for effect in found if effect.area == "file" and not effect.address]
    return [effect for effect in found if not is_holder(effect, moved)]
