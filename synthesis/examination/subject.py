"""What is examined: a recording of right work, the effects that make it right, and the cases that a function
must judge."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from taskloom.evaluators_api.state.effects import LASTING, effects, is_holder
from taskloom.evaluators_api.state.essential import (
    divided,
    is_index_entry,
    is_unreadable,
    known_texts,
    performances_of,
)
from taskloom.evaluators_api.state.templates import names_parameter, parameters_named
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.prompts.shown_effects import Origin
from taskloom.resources.categories import ResourceKind
from taskloom.resources.noise import EffectKind
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evaluation_function import GENUINE_FAMILIES, CaseFamily
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_ON_SCREEN = {ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
_HAS_WORD = re.compile(r"[^\W\d_]{3}")
_NUMERIC = re.compile(r"[-+\d.,;:%\s]*\w{0,2}")
_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of evidence that an evaluation function must judge."""

    family: CaseFamily
    description: str
    parameters: Mapping[str, str]
    evidence: Evidence
    start: Evidence
    excusable: bool = False
    """Whether a function that already passes at the start cannot be blamed: what it must check had happened
    before."""

    @property
    def right(self) -> bool:
        """Whether the work is right, so the function must accept it."""
        return self.family in GENUINE_FAMILIES


@dataclass(frozen=True, slots=True)
class _RecordAnalysis:
    """What a record contributes to the verdict."""

    decisive: list[Effect]
    """Effects that decide by themselves."""
    other_changes: list[Effect]
    """Other effects, without additions."""
    values: set[str]
    """Decisive values, in terms of the parameters."""
    stated: set[str]
    """Parameters whose values are in it, or were there before."""
    related: set[str]
    """These, and parameters that it held, or that are in a record that it refers to."""


@dataclass(frozen=True)
class Subject:
    """A recording of right work, and the effects that decide whether other work is also right."""

    positive: Trajectory
    others: tuple[Trajectory, ...]
    essential: tuple[Effect, ...]
    """Lasting effects that every right performance has."""
    shown: tuple[Effect, ...]
    """Effects on screen and window that all right performances have, if the screen is part of the result."""
    incidental: tuple[Effect, ...]
    """Effects that only some right performances have."""
    constant: frozenset[_Key]
    """Keys of essential effects whose values are the same for all parameters."""
    other_values: Mapping[_Key, Sequence[str]]
    """Values that performances with other parameters left, by the key of the effect."""

    @property
    def start(self) -> Evidence:
        """The state before the first step of the recording."""
        return self.positive.initial_evidence

    @property
    def end(self) -> Evidence:
        """The state after the last step."""
        return self.positive.final_evidence

    def with_first_screen(self, evidence: Evidence) -> Evidence:
        """`evidence` with what the screen showed at the start."""
        screen = {name: getattr(self.start, name) for name in ("controls", "window_title", "url")}
        return evidence.model_copy(update={**screen, "text_under_cursor": ""})

    @cached_property
    def _places(self) -> tuple[set[tuple[_Key, EffectKind]], set[tuple[_Key, EffectKind]]]:
        places = {(item.place, item.kind) for item in self.essential}
        return places, {(place, item.kind) for item in self.essential for place in item.around}

    def is_leaf(self, effect: Effect) -> bool:
        """Whether no essential effect lies inside this one."""
        return (effect.place, effect.kind) not in self._places[1]

    def is_outermost(self, effect: Effect) -> bool:
        """Whether this effect does not lie inside an essential one."""
        return self._places[0].isdisjoint((place, effect.kind) for place in effect.around)

    @property
    def files(self) -> list[str]:
        """Paths of the files whose changes a function must notice."""
        return list(dict.fromkeys(effect.container for effect in self.required if effect.area == "file"))

    @cached_property
    def origins(self) -> tuple[Origin, ...]:
        """Where the content of these files, and of the clipboard, was at the start."""
        return origins(self.start, self.end, self.files, tuple(self.positive.parameters.values()))

    def case(
        self,
        family: CaseFamily,
        description: str,
        evidence: Evidence,
        start: Evidence | None = None,
        *,
        parameters: Mapping[str, str] | None = None,
        excusable: bool = False,
    ) -> Case:
        """A case of this subject, with its own parameters and start unless others are given."""
        parameters = self.positive.parameters if parameters is None else parameters
        return Case(family, description, parameters, evidence, start or self.start, excusable)

    @cached_property
    def required(self) -> tuple[Effect, ...]:
        """The lasting effects that a function must notice one by one.

        The decisive ones of a record are what the parameters, the inputs and the instruction say about it,
        and every text that varies. By-products are left out: the rest of the record, and records of the same
        file with nothing else that is decisive, such as an entry of a history or index, or a counter of keys.
        The account of side effects limits these.
        """
        texts = known_texts(self.essential, self.positive.parameters)
        leaves: dict[_Key, list[Effect]] = {}
        for item in self.essential:
            varies = item.kind == "removed" or item.key not in self.constant
            if self.is_leaf(item) and not (varies and is_index_entry(item, texts)):
                leaves.setdefault(item.place[:-1], []).append(item)
        records = {place: self._analyse_record(items) for place, items in leaves.items()}
        added = {effect.place for effect in self.essential if effect.kind == "added"}
        kept = [
            item
            for place, record in records.items()
            if not _is_by_product(place, records, added)
            for item in record.decisive or record.other_changes
        ]
        around = {(place, leaf.kind) for leaf in kept for place in (leaf.place, *leaf.around)}
        found = [
            item
            for item in self.essential
            if (item.place, item.kind) in around and not is_holder(item, self.essential)
        ]
        outermost = [item for item in self.essential if self.is_outermost(item)]
        found = found or [item for item in outermost if not is_unreadable(item)]
        if not any(item.kind == "added" or _is_named(item) for item in found):
            found += [item for item in outermost if is_unreadable(item)]  # it may be all that was made
        return tuple(found or outermost)

    def is_reached(self, evidence: Evidence, start: Evidence | None = None) -> bool:
        """Whether everything that makes the work right is in `evidence`."""
        wanted = (*self.essential, *self.shown)
        return bool(wanted) and not self.missing(wanted, evidence, start)

    def missing(
        self, wanted: Sequence[Effect], evidence: Evidence, start: Evidence | None = None
    ) -> list[Effect]:
        """The `wanted` effects that did not happen in `evidence`."""
        files = {effect.container for effect in wanted}
        shown = any(effect.area == "screen" for effect in wanted)
        parameters, start = self.positive.parameters, start or self.start
        found = set(map(_outcome, effects(start, evidence, parameters, files=files, screen=shown)))
        return [effect for effect in wanted if _outcome(effect) not in found]

    def _analyse_record(self, leaves: Sequence[Effect]) -> _RecordAnalysis:
        flags = [self._is_decisive(item) for item in leaves]
        decisive = list(compress(leaves, flags))
        stated = set[str]().union(*map(_names_in, decisive))
        named = (parameters_named(item.refers_template, *item.holds) for item in decisive)
        return _RecordAnalysis(
            decisive=decisive,
            other_changes=[
                item for item, flag in zip(leaves, flags, strict=True) if not flag and item.kind != "added"
            ],
            values={item.after_template or "" for item in decisive},
            stated=stated,
            related=stated.union(*named),
        )

    def _is_decisive(self, effect: Effect) -> bool:
        """Whether the effect, as a value or as a whole, decides by itself whether the work is right."""
        if effect.kind == "added" and self.is_outermost(effect):
            if is_unreadable(effect):
                return False
            inside = (item for item in self.incidental if item.kind == "added")
            hollow = effect.address and any(effect.place in item.around for item in inside)
            return not hollow or any(map(names_parameter, effect.address_template))
        value = (effect.after or effect.before or "").strip('[]{}" \n')
        named = _names_in(effect) or (effect.refers_template and (effect.kind == "added" or effect.holds))
        if not value or named or effect.source or has_phrase(value, self.positive.instruction):
            return bool(value)
        if _NUMERIC.fullmatch(value) is not None:
            return False
        return effect.kind != "added" or effect.key not in self.constant


def subject_of(
    positive: Trajectory, others: Sequence[Trajectory] = (), instance: BoundSubtask | None = None
) -> Subject:
    """The subject of `positive`, compared with other performances of the same subtask in `others`."""
    same_subtask = tuple(item for item in others if item.subtask_id == positive.subtask_id)
    performances = performances_of((positive, *same_subtask))
    division = divided((positive, *same_subtask), performances)[0]
    lasting = tuple(effect for effect in division.essential if effect.area in LASTING)
    on_screen = not lasting or (instance is not None and is_on_screen(instance))
    seen = [
        effect
        for effect in division.essential
        if effect.area not in LASTING and (effect.area != "screen" or _HAS_WORD.search(effect.address[-1]))
    ]
    values = [_values_by_key(changes) for changes, _ in performances]
    other_values: dict[_Key, list[str]] = {}
    for changes, parameters in performances:
        for effect in changes if parameters != positive.parameters else ():
            if effect.after:
                other_values.setdefault(effect.key, []).append(effect.after)
    return Subject(
        positive=positive,
        others=same_subtask,
        essential=lasting,
        shown=tuple(seen) if on_screen else (),
        incidental=division.incidental,
        constant=frozenset(
            key
            for key, texts in values[0].items()
            if all(other.get(key) == texts for other in values) and not any(map(names_parameter, texts))
        ),
        other_values=other_values,
    )


def _is_counter(effect: Effect, counted: Collection[str]) -> bool:
    """Whether a number is a key of what was added, or grows by one or by as many as were added."""
    before, after = effect.before or "", effect.after or ""
    if not (before.isdecimal() and after.isdecimal()):
        return True  # other values that are not decisive are by-products
    return after in counted or str(int(after) - int(before)) in {"1", *counted}


def _is_by_product(place: _Key, records: Mapping[_Key, _RecordAnalysis], added: Collection[_Key]) -> bool:
    """Whether a record comes with others of its file: it is neither decisive nor named by a parameter, or
    another record states all that it states, and more or independently."""
    record = records[place]
    if not record.decisive:
        added_here = [key for key in added if key[:2] == place[:2]]
        counted = {key[-1] for key in added_here} | {str(len(added_here))}
        matters = any(effect.holds or not _is_counter(effect, counted) for effect in record.other_changes)
        return bool(added_here) and not matters
    return place in added and any(
        other != place
        and other[:2] == place[:2]
        and (
            record.values <= rival.values
            or (record.related and record.stated <= rival.stated and record.related <= rival.related)
        )
        and (
            other not in added
            or (len(rival.stated), len(rival.related)) > (len(record.stated), len(record.related))
        )
        for other, rival in records.items()
    )


def _names_in(effect: Effect) -> set[str]:
    return parameters_named(effect.after_template, effect.before_template, effect.source_template)


def _is_named(effect: Effect) -> bool:
    templates = (effect.container_template, *effect.address_template)
    return bool(_names_in(effect)) or any(map(names_parameter, templates))


def _values_by_key(changes: Sequence[Effect]) -> dict[_Key, Counter[str | None]]:
    found: dict[_Key, Counter[str | None]] = {}
    for effect in changes:
        found.setdefault(effect.key, Counter())[effect.after_template] += 1
    return found


def is_on_screen(instance: BoundSubtask) -> bool:
    """Whether an output is visible only on the screen: a selection, a tab, a setting."""
    return any(resource.kind in _ON_SCREEN for resource in instance.outputs)


def _outcome(effect: Effect) -> tuple[_Key, str | None]:
    """The outcome of an effect: its place, and the value that is there now or was removed."""
    return effect.key, effect.before if effect.kind == "removed" else effect.after
