"""What is examined: a recording of right work, and the effects that make it right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.evaluators_api.state.account import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.work import divided, performances_of
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


@dataclass(frozen=True, slots=True)
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

    @property
    def asked(self) -> tuple[Effect, ...]:
        """The lasting effects that a function must notice one by one.

        Left out is what an application writes of itself into something that it makes, the same every time and
        not mentioned by the instruction, or a number that no parameter names: the account of side effects
        bounds it. So is what another record of the file tells as well, such as the entry of a history.
        """
        own = {_place(effect): effect for effect in self.essential}
        leaves = [item for item in self.essential if self._says_something(item)]
        records: dict[_Key, set[str]] = {}
        for item in leaves:
            records.setdefault(_place(item)[:-1], set()).add(item.after_template or "")
        told = {place for place, values in records.items() if _is_told_elsewhere(place, values, records, own)}
        kept = [item for item in leaves if _place(item)[:-1] not in told]
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

    def _says_something(self, effect: Effect) -> bool:
        """Whether it is a value, or a whole, that decides whether the work is right."""
        if not is_leaf(effect, self.essential):
            return False
        if effect.kind != "added" or is_outermost(effect, self.essential):
            return True
        value = effect.after or ""
        if not value.strip('[]{}" \n'):
            return False
        if names_parameter(effect.after_template) or effect.source or effect.refers_template:
            return True
        known = effect.key in self.constant or _NUMBERS.fullmatch(value) is not None
        return not known or has_phrase(value, self.positive.instruction)


def subject_of(
    positive: Trajectory, others: Sequence[Trajectory] = (), instance: BoundSubtask | None = None
) -> Subject:
    """The subject of `positive`, told from other performances of the same subtask in `others`."""
    performances = [positive, *(item for item in others if item.subtask_id == positive.subtask_id)]
    found = performances_of(performances)
    division = divided(performances)[0]
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


def _is_told_elsewhere(
    place: _Key, values: set[str], records: Mapping[_Key, set[str]], own: Mapping[_Key, Effect]
) -> bool:
    """Whether another record of the file says all that this new one says, and more or for itself."""
    if place not in own or own[place].kind != "added":
        return False
    return any(
        other != place
        and other[:2] == place[:2]
        and values <= told
        and (other not in own or own[other].kind != "added" or len(told) > len(values))
        for other, told in records.items()
    )


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


def names_parameter(template: str | None) -> bool:
    """Whether a parameter stands in a template."""
    return "{" in (template or "").replace("{{", "")
