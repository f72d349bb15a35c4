"""The account of an episode: what is different at its end beyond what its subtasks may change.

`allowances` says what the verified performances of one subtask change. `beyond` takes the changes of a whole
episode, from its start to its end, and leaves those that no subtask of it may make. Values that depend on
parameters are not judged here: a wrong value at the right place is a wrong outcome, which functions notice.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from taskloom.evaluators_api.state.effects import effects, is_implied, lies_in, record_folders
from taskloom.evaluators_api.state.essential import Performance, entries_of_saves, passing_places
from taskloom.evaluators_api.state.formats.key_values import BODY
from taskloom.evaluators_api.state.templates import filled, names_parameter
from taskloom.resources.noise import EffectKind
from taskloom.taskgraph.records.allowance import Allowance
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence, is_open_document
from taskloom.taskgraph.records.side_effects import SideEffects

Bound = tuple[Sequence[Allowance], Mapping[str, str]]
"""What one subtask may change, and the parameters it is done with."""
_Address = tuple[str, ...]
_Place = tuple[str, str, _Address]
_LASTING = frozenset({"file", "directory"})
_MOST_EXAMPLES = 10
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EMPTY = re.compile(r"[\s\[\]{}\"]*|0|0\.0|false|null|none", re.IGNORECASE)


def lasting(found: Iterable[Effect]) -> Iterator[Effect]:
    """Effects on files and folders; clipboard, window, screen and what is only open are means, not
    possessions."""
    return (effect for effect in found if effect.area in _LASTING and not is_open_document(effect.container))


def allowances(performances: Sequence[Performance]) -> tuple[Allowance, ...]:
    """What work may change that does what one of `performances`, all of one subtask, does.

    Inside of something added, performances that agree bound what may be there: how long its lists are, and
    values that are the same whatever the parameters. A copy is one value, whatever is in it, and so are the
    lines of a new text. Of tokens and entries of a history any number may come: as many as saves.
    """
    changes = [found for found, _ in performances]
    entries = entries_of_saves(changes)
    free = passing_places(changes) | entries.keys()
    seen: dict[tuple[_Place, EffectKind], _Seen] = {}
    within: dict[tuple[_Place, EffectKind], list[frozenset[_Place]]] = defaultdict(list)
    for number, (found, _) in enumerate(performances):
        outermost: dict[_Place, Effect] = {}
        parts: dict[tuple[_Place, EffectKind], set[_Place]] = defaultdict(set)
        counts: Counter[tuple[tuple[_Place, EffectKind], _Place | None]] = Counter()
        for effect in lasting(found):
            holder = _holder(effect, outermost)
            if holder is None:
                outermost[_where(effect)] = effect
            if holder is not None and holder.source:
                continue
            key = (_pattern(effect), effect.kind)
            if holder is not None and not _is_line(effect, holder):
                parts[_pattern(holder), effect.kind].add(key[0])
            counts[key, None if holder is None else _where(holder)] += 1
            entry = seen.setdefault(key, _Seen(inner=holder is not None))
            entry.follows |= effect.follows
            entry.values.setdefault(number, set()).add(_value(effect, key[0][2]))
            entry.holds = frozenset(effect.holds) if entry.holds is None else entry.holds & {*effect.holds}
        for (key, _), count in counts.items():
            seen[key].counts.append(count)
        for outer in {key for key, entry in seen.items() if not entry.inner and number in entry.values}:
            within[outer].append(frozenset(parts[outer]))
    for (place, _), entry in seen.items():
        entry.holds = (entry.holds or frozenset()) | entries.get(place, frozenset())
    return tuple(
        entry.allowance(place, kind, within.get((place, kind), []), passing=place in free)
        for (place, kind), entry in sorted(seen.items(), key=str)
    )


@dataclass(slots=True)
class _Seen:
    """What performances have at one place."""

    inner: bool
    follows: bool = False
    counts: list[int] = field(default_factory=list)
    values: dict[int, set[str | None]] = field(default_factory=dict)
    holds: frozenset[str] | None = None

    def allowance(
        self, place: _Place, kind: EffectKind, within: Sequence[frozenset[_Place]], *, passing: bool
    ) -> Allowance:
        area, container, address = place
        made_up = ANY in container or any(ANY in part for part in address)
        each = list(self.values.values())
        known = self.inner and len(each) > 1 and all(held == each[0] for held in each)
        told = tuple(sorted(value for value in each[0] if value is not None)) if known else ()
        same = known and None not in each[0] and not any(map(names_parameter, told))
        if not self.inner:
            most = 0 if passing or self.follows or _is_version(address) else max(self.counts)
        else:
            listed = ANY in address[-1:] and not same and None not in each[0]
            most = max(self.counts) if len(each) > 1 and not listed and len(set(self.counts)) == 1 else 0
        return Allowance.model_validate(
            {
                "area": area,
                "container": container,
                "address": address,
                "kind": kind,
                "holds": sorted(self.holds or ()) if made_up and not self.inner else (),
                "inside": self.inner,
                "most": most,
                "bounded": not passing and len(within) > 1 and bool(within[0]) and len(set(within)) == 1,
                "values": told if same else None,
            }
        )


def _value(effect: Effect, pattern: _Address) -> str | None:
    """The value as all performances may share it; None for one that says nothing when it differs."""
    value = effect.after
    free = (
        value is None
        or bool(effect.source)
        or (value in ("", *effect.address[:-1]) and ANY in pattern)
        or (pattern[-1:] == (ANY,) and _counts(value))
        or _DATE.search(value) is not None
    )
    if value is not None and not free:
        free = value.lstrip()[:1] in ("[", "{")
    return None if free else effect.after_template


def _counts(text: str) -> bool:
    """Whether it is a number that is not nought."""
    return _NUMBER.fullmatch(text) is not None and text not in ("0", "0.0")


def _where(effect: Effect) -> _Place:
    return effect.area, effect.container, effect.address


def _holder(effect: Effect, outermost: Mapping[_Place, Effect]) -> Effect | None:
    """The outermost effect that `effect` lies in."""
    for depth in range(len(effect.address)):
        found = outermost.get((effect.area, effect.container, effect.address[:depth]))
        if found is not None and found.kind == effect.kind != "changed":
            return found
    return None


def _is_line(effect: Effect, holder: Effect) -> bool:
    """Whether it is a line of a file that is new as a whole, or of the text after its header."""
    address = effect.address
    return not holder.address and address[-1].isdigit() and address[:-1] in ((), (BODY,))


def _pattern(effect: Effect) -> _Place:
    return effect.area, effect.container_template, effect.address_template


def _is_version(address: _Address) -> bool:
    """Whether it is a record known by what it belongs to and a number, of which every save may add one."""
    last = address[-1] if address else ""
    return ", " in last and ANY in last and last.replace(ANY, "").strip(", ") != ""


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

    def covers(self, effect: Effect) -> bool:
        """Whether it is about the place of `effect`."""
        allowed, told = self.allowance, (effect.after or "") if effect.kind == "added" else ""
        return (
            allowed.area == effect.area
            and len(allowed.address) == len(effect.address)
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
        return _counts(value or "") and any(map(_counts, values))

    def _is(self, template: str, text: str) -> bool:
        return _expression(template, self.parameters).fullmatch(text) is not None


def beyond(start: Evidence, end: Evidence, bound: Iterable[Bound], about: Bound | None = None) -> SideEffects:
    """The lasting changes from `start` to `end` that no work in `bound` makes.

    Effects inside of something new or lost count with it. Where an allowance says what the record holds that
    is meant, a change of another record is none of it. A record that is added may tell what was there before,
    and what other work was told. Only what lies in the files and tables of `about` counts, where it is given.
    """
    account = _Account(bound)
    changes = lasting(effects(start, end, {}, screen=False, held=account.texts))
    found = list(_outer([item for item in changes if not is_implied(end, item)]))
    if about is not None:
        places = [_Rule(item, tuple(sorted(about[1].items()))) for item in about[0]]
        found = [effect for effect in found if any(place.is_near(effect) for place in places)]
    return account.side_effects(found)


class _Account:
    def __init__(self, bound: Iterable[Bound]) -> None:
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
                self._left[key][item.kind] += item.most
                if not item.most:
                    self._free.add((key, item.kind))

    @property
    def texts(self) -> frozenset[str]:
        """What the records hold that are meant."""
        return frozenset(text for rules in self._rules.values() for rule in rules for text in rule.holds)

    def side_effects(self, found: Sequence[Effect]) -> SideEffects:
        """What no rule explains."""
        counts: Counter[str] = Counter()
        examples: list[str] = []
        expected: dict[_Place, Effect] = {}
        inside: Counter[tuple[_Place, tuple[object, ...]]] = Counter()
        closed: set[_Place] = set()
        bounded: set[_Place] = set()
        self._told.update({effect.before or "" for effect in found if effect.kind == "changed"})
        for effect in found:
            places = [(*_where(effect)[:2], effect.address[:depth]) for depth in range(len(effect.address))]
            if effect.kind != "changed" and any(place in closed for place in places):
                continue
            holder = _holder(effect, expected)
            if holder is None:
                problem = self._outside(effect)
            elif _where(holder) in bounded:
                problem = self._inside(effect, _where(holder), inside)
            else:
                continue
            if not problem:
                if holder is None and effect.kind != "changed":
                    expected[_where(effect)] = effect
                    if any(rule.allowance.bounded for rule in self._covering(effect)):
                        bounded.add(_where(effect))
                continue
            closed.add(_where(effect))
            counts[problem] += 1
            if len(examples) < _MOST_EXAMPLES:
                examples.append(effect.describe())
        return SideEffects(total=counts.total(), examples=tuple(examples), **counts)

    def _covering(self, effect: Effect, *, inside: bool = False) -> list[_Rule]:
        rules = self._rules[len(effect.address)]
        return [rule for rule in rules if rule.allowance.inside <= inside and rule.covers(effect)]

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
        self, effect: Effect, holder: _Place, inside: Counter[tuple[_Place, tuple[object, ...]]]
    ) -> str:
        rules = self._covering(effect, inside=True)
        if not rules:
            return "" if _EMPTY.fullmatch(effect.after or "") else "records_added"
        if any(rule.allowance.kind == "changed" for rule in rules):
            return ""
        keys = {rule.key() for rule in rules}
        inside.update((holder, key) for key in keys)
        if not any(
            rule.allowance.most == 0 or inside[holder, rule.key()] <= rule.allowance.most for rule in rules
        ):
            return "records_added"
        value, owns = effect.after, [dict(rule.parameters).values() for rule in rules]
        told = any(self._told[value] > (value in own) for own in owns) and not _EMPTY.fullmatch(value or "")
        return "" if told or any(rule.admits(value) for rule in rules) else "values_changed"


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
