"""The account of an episode: the differences at its end beyond what its subtasks may change. Wrong values at
places that depend on parameters are wrong outcomes, which evaluation functions detect."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from taskloom.evaluators_api.state.allowances import Place, holder_in, is_count, stored
from taskloom.evaluators_api.state.effects import effects, is_holder, is_implied, lies_in, record_folders
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import fields_in
from taskloom.evaluators_api.state.templates import filled
from taskloom.resources.noise import EffectKind
from taskloom.taskgraph.records.effect import ANY, Allowance, Effect, SideEffects
from taskloom.taskgraph.records.evidence import Evidence

Bound = tuple[Sequence[Allowance], Mapping[str, str]]
"""What one subtask may change, and its parameters."""
_CONSTITUENTS: Mapping[EffectKind, tuple[EffectKind, ...]] = {"changed": ("removed", "added")}
_MOST_EXAMPLES = 10
_EMPTY_VALUE = re.compile(r"[\s\[\]{}\"]*|0|0\.0|false|null|none", re.IGNORECASE)


def _loose_literal(text: str) -> str:
    """A pattern for `text` in which punctuation may differ: applications make file names of titles."""
    return "".join(
        re.escape(sign) if sign.isalnum() or sign in " ._-/" else f"(?:{re.escape(sign)}|[^/]{{0,3}}?)"
        for sign in text
    )


@lru_cache(maxsize=8192)
def _pattern(template: str, parameters: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    parts = (_loose_literal(filled(part, dict(parameters))) for part in template.split(ANY))
    return re.compile("[^/]*?".join(parts), re.DOTALL)


class _BoundAllowance:
    """An allowance filled with the parameters of its subtask."""

    def __init__(self, allowance: Allowance, parameters: Mapping[str, str]) -> None:
        def fill(*texts: str) -> tuple[str, ...]:
            return tuple(filled(text, parameters) for text in texts)

        self.allowance, self.parameter_values = allowance, frozenset(parameters.values())
        self.holds, self.values = fill(*allowance.holds), fill(*(allowance.values or ()))
        self.key = fill(allowance.area, allowance.container, *allowance.address)
        self.is_listed = allowance.address[-1:] == (ANY,) or ANY in allowance.container.split("/")
        self._parameters = tuple(sorted(parameters.items()))

    def covers(self, effect: Effect, record: str = "") -> bool:
        """Whether this covers the location of `effect`, which may lie in an added `record`."""
        allowed, content = self.allowance, record or ((effect.after or "") if effect.kind == "added" else "")
        return (
            allowed.area == effect.area
            and len(allowed.address) == len(effect.address)
            and (None in (allowed.content, effect.content) or allowed.content == effect.content)
            and all(text in effect.holds or text in content for text in self.holds)
            and self._is_at(effect.container, effect.address)
        )

    def is_near(self, effect: Effect) -> bool:
        """Whether `effect` is in the same file or folder and, in a file with parts, in the same part."""
        return self._is_at(effect.container, effect.address[:1])

    def admits(self, value: str | None) -> bool:
        """Whether this value is allowed. If a number is, so is any but zero, as it may be a count."""
        if self.allowance.values is None or value in self.values:
            return True
        return is_count(value or "") and any(map(is_count, self.values))

    def _is_at(self, container: str, address: Sequence[str]) -> bool:
        """Whether file or folder match, and the addresses agree up to the shorter length."""
        parts = zip(self.allowance.address, address, strict=False)
        return self._matches(self.allowance.container, container) and all(
            part == ANY or self._matches(part, name) for part, name in parts
        )

    def _matches(self, template: str, text: str) -> bool:
        return _pattern(template, self._parameters).fullmatch(text) is not None


def find_side_effects(
    start: Evidence, end: Evidence, bound: Iterable[Bound], about: Bound | None = None
) -> SideEffects:
    """The lasting changes from `start` to `end` that no work in `bound` accounts for.

    Effects inside an addition or removal count as part of it. An allowance that says what its record holds
    does not cover other records. An added record may hold former values and parameters of other work. With
    `about`, only changes in its files and tables count.
    """
    account = _Account(bound, (start, end))
    found = stored(effects(start, end, {}, screen=False, held=account.texts))
    changes = _outermost([item for item in found if not is_implied(end, item)])
    if about is not None:
        rules = [_BoundAllowance(item, about[1]) for item in about[0]]
        changes = [effect for effect in changes if any(rule.is_near(effect) for rule in rules)]
    return account.side_effects(changes)


class _Account:
    def __init__(self, bound: Iterable[Bound], states: Sequence[Evidence]) -> None:
        self._rules: dict[int, list[_BoundAllowance]] = defaultdict(list)
        self._remaining: dict[Place, Counter[EffectKind]] = defaultdict(Counter)
        self._unlimited: set[tuple[Place, EffectKind]] = set()
        self._known_values: Counter[str | None] = Counter()
        self.texts: set[str] = set()
        """Texts that any allowance requires in its record."""
        self._used_inside: Counter[tuple[Place, Place]] = Counter()
        """How often each rule was used inside each addition."""
        for items, parameters in bound:
            self._known_values.update(set(parameters.values()))
            for item in items:
                rule = _BoundAllowance(item, parameters)
                self._rules[len(item.address)].append(rule)
                self.texts.update(rule.holds)
                if item.inside:
                    continue
                most = item.most
                if item.most_of and most:
                    most = _record_count(filled(item.most_of, parameters), states)
                parts = _CONSTITUENTS.get(item.kind, (item.kind,)) if rule.is_listed else (item.kind,)
                self._remaining[rule.key].update(dict.fromkeys(parts, most))
                if not most:
                    self._unlimited.add((rule.key, item.kind))

    def side_effects(self, changes: Sequence[Effect]) -> SideEffects:
        counts: Counter[str] = Counter()
        problems: list[Effect] = []
        allowed: dict[Place, Effect] = {}
        problem_places: set[Place] = set()
        bounded_places: set[Place] = set()
        self._known_values.update({effect.before or "" for effect in changes if effect.kind == "changed"})
        for effect in changes:
            if effect.kind != "changed" and not problem_places.isdisjoint(effect.around):
                continue
            holder = holder_in(effect, allowed)
            if holder is None:
                problem = self._problem_outside(effect)
            elif holder.place in bounded_places:
                problem = self._problem_inside(effect, holder)
            else:
                continue
            if problem:
                problem_places.add(effect.place)
                counts[problem] += 1
                problems.append(effect)
            elif holder is None and effect.kind != "changed":
                allowed[effect.place] = effect
                if any(rule.allowance.bounded for rule in self._covering(effect)):
                    bounded_places.add(effect.place)
        examples = tuple(effect.describe() for effect in problems[:_MOST_EXAMPLES])
        return SideEffects(total=counts.total(), examples=examples, **counts)

    def _covering(self, effect: Effect, *, inside: bool = False, record: str = "") -> list[_BoundAllowance]:
        rules = self._rules[len(effect.address)]
        return [rule for rule in rules if rule.allowance.inside <= inside and rule.covers(effect, record)]

    def _problem_outside(self, effect: Effect) -> str:
        """The field of `SideEffects` that counts an effect not inside another one; empty if it is allowed."""
        if any(self._use_up(rule, effect.kind) for rule in self._covering(effect)):
            return ""
        for depth in range(len(effect.address)):
            around = self._covering(effect.model_copy(update={"address": effect.address[:depth]}))
            if {"added", "removed"} <= {rule.allowance.kind for rule in around}:
                return ""  # it was replaced together with its container
        what = "records" if effect.address else "files"
        return {"added": f"{what}_added", "removed": f"{what}_lost"}.get(effect.kind, "values_changed")

    def _use_up(self, rule: _BoundAllowance, kind: EffectKind) -> bool:
        """Use up one change of this kind at the rule's location, if any remains.

        A change of a part named by position, or of a file with a generated name, counts as a removal and an
        addition.
        """
        key, remaining = rule.key, self._remaining[rule.key]
        if (key, kind) in self._unlimited:
            return True
        if not rule.is_listed and kind != "removed":
            return remaining["added"] + remaining["changed"] > 0 or (
                kind == "changed" and (key, "added") in self._unlimited
            )
        parts = _CONSTITUENTS.get(kind, (kind,))
        if any(remaining[part] < 1 for part in parts):
            return False
        remaining.subtract(parts)
        return True

    def _problem_inside(self, effect: Effect, holder: Effect) -> str:
        rules = self._covering(effect, inside=True, record=holder.after or "")
        if not rules:
            return "" if _EMPTY_VALUE.fullmatch(effect.after or "") else "records_added"
        if any(rule.allowance.kind == "changed" for rule in rules):
            return ""
        self._used_inside.update({(holder.place, rule.key) for rule in rules})
        uses = [(rule.allowance.most, self._used_inside[holder.place, rule.key]) for rule in rules]
        if not any(most == 0 or times <= most for most, times in uses):
            return "records_added"
        value = effect.after
        known = any(self._known_values[value] > (value in rule.parameter_values) for rule in rules)
        allowed = known and not _EMPTY_VALUE.fullmatch(value or "")
        return "" if allowed or any(rule.admits(value) for rule in rules) else "values_changed"


def _record_count(path: str, states: Sequence[Evidence]) -> int:
    """Number of records in a file, at the start or otherwise at the end; 0 if it only existed in between."""
    files = (file for state in states for file in (state.file(path),) if file is not None and file.text)
    return next((len(fields_in(read(file.path, file.text or "")[1])) for file in files), 0)


def _outermost(changes: list[Effect]) -> list[Effect]:
    """`changes` without folders added or removed together with their files, and without the files of removed
    folders that were records."""
    removed = [folder for folder in record_folders(changes) if folder.kind == "removed"]
    changes = [effect for effect in changes if not lies_in(effect, removed)]
    files = [effect for effect in changes if effect.area == "file" and not effect.address]
    return [effect for effect in changes if not is_holder(effect, files)]
