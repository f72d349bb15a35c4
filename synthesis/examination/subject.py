"""What is examined: a recording of right work, and the effects that make it right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from taskloom.evaluators_api.state.account import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.formats import database
from taskloom.evaluators_api.state.templates import names_parameter, parameters_named
from taskloom.evaluators_api.state.work import divided, is_index_entry, performances_of, told_texts
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.records.allowance import Allowance
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_ON_SCREEN = {ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{3}")
_NUMBERS = re.compile(r"[-+\d.,;:%\s]*\w{0,2}")
_LASTING = frozenset({"file", "directory", "clipboard"})
_Key = tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """A recording of right work, and the effects that decide whether other work is right as well."""

    positive: Trajectory
    """The recording."""
    essential: tuple[Effect, ...]
    """Lasting effects that every right performance has."""
    shown: tuple[Effect, ...]
    """Effects on screen and window that all right performances have, if the screen is part of it."""
    incidental: tuple[Effect, ...]
    """Effects that only some right performances have."""
    constant: frozenset[_Key]
    """Keys of essential effects whose values are the same whatever the parameters."""
    allowed: tuple[Allowance, ...] = ()
    """What the work may change."""

    @property
    def start(self) -> Evidence:
        """The state before the first step of the performance that is altered into cases."""
        return self.positive.initial_evidence

    @property
    def end(self) -> Evidence:
        """The state after its last step."""
        return self.positive.final_evidence

    @cached_property
    def asked(self) -> tuple[Effect, ...]:
        """The lasting effects that a function must notice one by one.

        Left out is what an application writes of itself into something that it makes, the same every time and
        not mentioned by the instruction, or a number that no parameter names: the account of side effects
        bounds it. So is what another record of the file tells as well, such as the entry of a history or of
        an index, and what follows from records that were added: their number, and the next one's key.
        """
        added = {_place(effect): effect for effect in self.essential if effect.kind == "added"}
        leaves = [
            item for item in self.essential if self._says_something(item) and not self._follows(item, added)
        ]
        records: dict[_Key, _Told] = {}
        for item in leaves:
            records.setdefault(_place(item)[:-1], _Told()).add(item)
        told = {place for place in records if place in added and _is_told_elsewhere(place, records, added)}
        kept = [
            item
            for item in leaves
            if _place(item)[:-1] not in told and not self._goes_along(item, records[_place(item)[:-1]])
        ]
        found = [
            item
            for item in self.essential
            if not _is_holder(item, self.essential)
            and (item in kept or any(_inside(leaf, item) for leaf in kept))
        ]
        return tuple(found) or tuple(item for item in self.essential if is_outermost(item, self.essential))

    def reached(self, evidence: Evidence, start: Evidence | None = None) -> bool:
        """Whether all that makes the work right is there in `evidence`."""
        wanted = {_outcome(effect) for effect in (*self.essential, *self.shown)}
        if not wanted:
            return False
        found = effects(
            start or self.start,
            evidence,
            self.positive.parameters,
            files={effect.container for effect in self.essential},
            screen=bool(self.shown),
        )
        return wanted <= {_outcome(effect) for effect in found}

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """What the parameters say, and the files that they name."""
        return told_texts(self.essential, self.positive.parameters)

    def _says_something(self, effect: Effect) -> bool:
        """Whether it is a value, or a whole, that decides whether the work is right."""
        if not is_leaf(effect, self.essential):
            return False
        if effect.kind != "added":
            return True
        if is_outermost(effect, self.essential):
            hollow = effect.address and any(_inside(item, effect) for item in self.incidental)
            return not hollow or any(map(names_parameter, effect.address_template))
        value = effect.after or ""
        if not value.strip('[]{}" \n'):
            return False
        if names_parameter(effect.after_template) or effect.source or effect.refers_template:
            return True
        known = effect.key in self.constant or _NUMBERS.fullmatch(value) is not None
        return not known or has_phrase(value, self.positive.instruction)

    def _follows(self, effect: Effect, added: Mapping[_Key, Effect]) -> bool:
        """Whether it goes with the records that were added: their number, a counter of their keys, the entry
        of an index."""
        varies = effect.kind == "removed" or effect.key not in self.constant
        if varies and is_index_entry(effect, self._texts):
            return True
        if effect.kind != "changed" or _said(effect):
            return False
        place = _place(effect)
        beside = {key: item for key, item in added.items() if key[:2] == place[:2]}
        if effect.address[-1:] == (database.COUNT,):
            return any(key[:-2] == place[:-1] for key in beside)
        keys = {key[-1] for key, item in beside.items() if f': "{key[-1]}"' in (item.after or "")}
        return bool({effect.before, effect.after} & keys)

    def _goes_along(self, effect: Effect, record: _Told) -> bool:
        """Whether it is a number that changes in the same way whatever the parameters, beside a field that
        they say, such as who changed the record last."""
        return (
            effect.kind == "changed"
            and effect.key in self.constant
            and not _names(effect)
            and bool(record.names)
            and _NUMBERS.fullmatch(effect.after or "") is not None
            and not has_phrase(effect.after or "", self.positive.instruction)
        )


def subject_of(
    positive: Trajectory, others: Sequence[Trajectory] = (), instance: BoundSubtask | None = None
) -> Subject:
    """The subject of `positive`, told from other performances of the same subtask in `others`."""
    performances = [positive, *(item for item in others if item.subtask_id == positive.subtask_id)]
    found = performances_of(performances)
    division = divided(performances, found)[0]
    lasting = tuple(effect for effect in division.essential if effect.area in _LASTING)
    on_screen = not lasting or (instance is not None and is_on_screen(instance))
    seen = [
        effect
        for effect in division.essential
        if effect.area not in _LASTING
        and (effect.area != "screen" or _SAYS_SOMETHING.search(effect.address[-1]) is not None)
    ]
    values = [_values_by_key(changes) for changes, _ in found]
    return Subject(
        positive=positive,
        essential=lasting,
        shown=tuple(seen) if on_screen else (),
        incidental=division.incidental,
        constant=frozenset(
            key
            for key, texts in values[0].items()
            if all(other.get(key) == texts for other in values) and not any(map(names_parameter, texts))
        ),
        allowed=allowances(found),
    )


@dataclass(slots=True)
class _Told:
    """What the asked fields of one record tell."""

    values: set[str] = field(default_factory=set)
    """The values, in terms of the parameters."""
    said: set[str] = field(default_factory=set)
    """Parameters whose values stand in it, or stood there before."""
    meant: list[tuple[str, set[str]]] = field(default_factory=list)
    """Keys of other records, with the parameters that these hold."""

    def add(self, effect: Effect) -> None:
        self.values.add(effect.after_template or "")
        self.said |= _said(effect)
        meant = parameters_named(effect.refers_template)
        if meant:
            self.meant.append((effect.after or "", meant))

    @property
    def names(self) -> set[str]:
        """All parameters that it tells of."""
        return self.said.union(*(names for _, names in self.meant))

    @property
    def weight(self) -> tuple[int, int, int]:
        """How much it tells: for itself, of others, in all."""
        return len(self.said), len(self.names), len(self.values)


def _is_told_elsewhere(place: _Key, records: Mapping[_Key, _Told], added: Collection[_Key]) -> bool:
    """Whether another record of the file says all that this new one says, and more or for itself: the same
    values, or the same parameters, of which it may be the record itself."""
    record = records[place]
    return any(
        other != place
        and other[:2] == place[:2]
        and (record.values <= told.values or (record.names and _covers(other, told, record)))
        and (other not in added or told.weight > record.weight)
        for other, told in records.items()
    )


def _covers(place: _Key, told: _Told, record: _Told) -> bool:
    return record.said <= told.said and all(
        value == place[-1] or names <= told.names for value, names in record.meant
    )


def _said(effect: Effect) -> set[str]:
    """Parameters whose values stand, or stood, in a field itself."""
    return parameters_named(effect.after_template, effect.before_template, effect.source_template)


def _names(effect: Effect) -> set[str]:
    return _said(effect) | parameters_named(effect.refers_template)


def _place(effect: Effect) -> _Key:
    return (effect.area, effect.container, *effect.address)


def _values_by_key(changes: Sequence[Effect]) -> dict[_Key, Counter[str | None]]:
    found: dict[_Key, Counter[str | None]] = {}
    for effect in changes:
        found.setdefault(effect.key, Counter())[effect.after_template] += 1
    return found


def is_on_screen(instance: BoundSubtask) -> bool:
    """Whether an output is something that only the screen shows: a selection, a tab, a setting."""
    return any(resource.kind in _ON_SCREEN for resource in instance.outputs)


def _outcome(effect: Effect) -> tuple[_Key, str | None]:
    """What an effect brought about: where, and which value is there now, or which is gone."""
    return effect.key, effect.before if effect.kind == "removed" else effect.after


def is_leaf(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether no other effect lies inside this one."""
    return not any(_inside(other, effect) for other in among)


def is_outermost(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether this effect lies inside no other one."""
    return not any(_inside(effect, other) for other in among)


def _is_holder(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether it is a folder that comes and goes with what is in it."""
    return effect.area == "directory" and any(
        other.container.startswith(f"{effect.container}/") for other in among
    )


def _inside(inner: Effect, outer: Effect) -> bool:
    depth = len(outer.address)
    return (
        inner.area == outer.area
        and inner.container == outer.container
        and len(inner.address) > depth
        and inner.address[:depth] == outer.address
        and outer.kind == inner.kind
    )
