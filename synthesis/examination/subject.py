"""What is examined: a recording of right work, and the effects that make it right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Division, divide, folders_meant
from taskloom.evaluators_api.state.formats.drawing import SHAPE
from taskloom.evaluators_api.state.kept_data import is_kept, kept_counts
from taskloom.evaluators_api.state.nodes import ID_KEYS
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.records import is_choice, is_note_of_change, reference
from taskloom.evaluators_api.state.templates import steady_path, templated
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.resources.categories import ResourceKind
from taskloom.synthesis.examination.histories import without_histories
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_ON_SCREEN = {ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
_ALL_COUNTS = frozenset({"lines", "delimited", "drawing", ""})
"""Formats in which nothing in a file of the user is a default."""
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{3}")
_DRAWING = "drawing"
_ONE_PARAMETER = re.compile(r"\{(\w+)\}")
_NUMBERS = re.compile(r"[-+\d.,;:%\s]*(px|pt|em)?")
_LASTING = frozenset({"file", "directory", "clipboard"})
_DEEP = 3
"""Length from which on an address leads into a record of a list or table."""


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
    constant: frozenset[tuple[str, ...]]
    """Keys of essential effects whose values are the same whatever the parameters."""
    kept: frozenset[str] = frozenset()
    """Of `added` and `changed`, what every performance does to equally many records of the applications."""
    references: frozenset[tuple[tuple[str, ...], str, str]] = frozenset()
    """Keys of effects whose number refers to a record named by a parameter, with its fields."""
    folders: tuple[str, ...] | None = None
    """Folders of the user that the recording made or removed; None where they are incidental."""
    touched: frozenset[tuple[str, str]] = frozenset()
    """Files that some performance changed, each with "" and, of a database, with every differing table."""
    names_its_files: bool = True
    """Whether every file made among the data of applications is named by parameters, or made by all."""
    once: tuple[str, ...] = ()
    """Texts given by parameters that every performance shows in one place, where nothing else is left."""

    @property
    def start(self) -> Evidence:
        """The state before the first step of the performance that is altered into cases."""
        return self.positive.initial_evidence

    @property
    def end(self) -> Evidence:
        """The state after its last step."""
        return self.positive.final_evidence

    @property
    def keeps_nothing(self) -> bool:
        """Whether no application keeps anything of the work in its data: the screen alone tells."""
        return not any(
            effect.area == "file" and is_kept(effect.container)
            for effect in (*self.essential, *self.incidental)
        )

    @property
    def guarded(self) -> tuple[Effect, ...]:
        """The lasting effects that a function must notice one by one.

        Left out are empty values, folders that come and go with what is in them, and defaults: what an
        application writes of itself into a record that it makes, the same every time and not mentioned by the
        instruction; groups of nothing but these, unless a parameter names them, such as an empty table;
        records that only accompany another one of their table, such as the entries of a log; the history of a
        table that is changed itself.
        """
        counted = [
            effect
            for effect in self.essential
            if not self._is_empty(effect) and not self._is_holder(effect) and not self._is_default(effect)
        ]
        counted = [effect for effect in counted if not self._only_accompanies(effect, counted)]
        counted = without_histories(counted, self.end)
        leaves = [effect for effect in counted if is_leaf(effect, self.essential)]
        return tuple(
            effect
            for effect in counted
            if not effect.address
            or is_leaf(effect, self.essential)
            or any(_inside(inner, effect) for inner in leaves)
            or (is_outermost(effect, self.essential) and _names_parameter(effect.address_template[-1]))
        )

    @property
    def defaults(self) -> tuple[Effect, ...]:
        """Words and zeros that an application writes of itself into a new record of its data, the same in
        every performance."""
        records: dict[tuple[str, ...], list[str]] = {}
        for effect in self.essential:
            records.setdefault((effect.container, *effect.address[:-1]), []).append(
                effect.address[-1] if effect.address else ""
            )
        return tuple(
            effect
            for effect in self.essential
            if effect.key in self.constant
            and not is_note_of_change(records[(effect.container, *effect.address[:-1])])
            and is_kept(effect.container)
            and len(effect.address) >= (_DEEP if effect.format == "database" else _DEEP - 1)
            and is_leaf(effect, self.essential)
            and self._is_default(effect)
            and is_choice(effect.after or "")
        )

    def is_touched(self, path: str, table: str = "") -> bool:
        """Whether some performance changed the file at `path`, or that table of it."""
        return (templated(steady_path(path), self.positive.parameters), table) in self.touched

    def reached(self, evidence: Evidence) -> bool:
        """Whether all that makes the work right is there in `evidence`."""
        wanted = {_outcome(effect) for effect in (*self.essential, *self.shown)}
        if not wanted:
            return False
        found = effects(
            self.start,
            evidence,
            self.positive.parameters,
            files={effect.container for effect in self.essential},
            screen=bool(self.shown),
        )
        return wanted <= {_outcome(effect) for effect in found}

    def _is_empty(self, effect: Effect) -> bool:
        nested = any(_inside(effect, other) for other in self.essential)
        return nested and effect.kind == "added" and not (effect.after or "").strip('[]{}" ')

    def _is_holder(self, effect: Effect) -> bool:
        return effect.area == "directory" and any(
            other.container.startswith(f"{effect.container}/") for other in self.essential
        )

    def _is_default(self, effect: Effect) -> bool:
        """Whether an application writes this of itself into something that it makes.

        In tables and plain texts of the user everything counts. Elsewhere what is the same every time and not
        mentioned by the instruction is a default, and a number that no parameter names is a measure that the
        application works out.
        """
        if effect.kind != "added" or not any(_inside(effect, other) for other in self.essential):
            return False
        own = effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
        if not own and effect.format in _ALL_COUNTS and effect.address[-1:] != (SHAPE,):
            return False
        value = effect.after or ""
        if own and value.isdigit() and self._refers(effect, value):
            return False
        if _names_parameter(effect.after_template) or effect.source:
            return False
        own_kind = effect.format == _DRAWING and effect.address[-1:] == (SHAPE,)
        known = own_kind or effect.key in self.constant or _NUMBERS.fullmatch(value) is not None
        return (known or (own and self._was_replaced(effect, value))) and (
            not value.strip() or not has_phrase(value, self.positive.instruction)
        )

    def _was_replaced(self, effect: Effect, value: str) -> bool:
        """Whether it is the former value of something that was changed, as a log of changes keeps it."""
        return any(
            other.kind == "changed" and other.container == effect.container and other.before == value
            for other in self.essential
        )

    def _only_accompanies(self, effect: Effect, counted: Sequence[Effect]) -> bool:
        """Whether it is the id in a record that says nothing else, beside another new record of the table
        that says more of the same."""
        value = effect.after or ""
        if effect.kind != "added" or len(effect.address) < _DEEP or not value.isdigit():
            return False
        record, field = effect.address[:-1], effect.address[-1]
        told: dict[tuple[str, ...], dict[str, str | None]] = {}
        for other in counted:
            if other.kind == "added" and other.container == effect.container and other.address:
                told.setdefault(other.address[:-1], {})[other.address[-1]] = other.after
        return (
            len(told[record]) == 1
            and self._refers(effect, value)
            and any(
                place != record
                and place[:-1] == record[:-1]
                and fields.get(field) == value
                and len(fields) > 1
                for place, fields in told.items()
            )
        )

    def _refers(self, effect: Effect, value: str) -> bool:
        """Whether it is the id of a record that a parameter names, such as the number of a ticket."""
        if effect.address[-1].casefold() in ID_KEYS or self._by_chance(effect):
            return False
        found = _reference(self.positive, effect, value)
        return found is not None and (effect.key, *found) in self.references

    def _by_chance(self, effect: Effect) -> bool:
        """Whether it is always the same number, and only here the id in another field of its record."""
        return effect.key in self.constant and any(
            other.container == effect.container
            and other.address[:-1] == effect.address[:-1]
            and other.after == effect.after
            and other.key not in self.constant
            for other in self.essential
        )


def subject_of(
    positive: Trajectory, others: Sequence[Trajectory] = (), instance: BoundSubtask | None = None
) -> Subject:
    """The subject of `positive`, told from other performances of the same subtask in `others`."""
    performances = [positive, *(item for item in others if item.subtask_id == positive.subtask_id)]
    found = [
        (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
        for item in performances
    ]
    divisions = divide(found)
    division = divisions[0]
    folders = [
        folders_meant(one, item.initial_evidence, item.final_evidence)
        for one, item in zip(divisions, performances, strict=True)
    ]
    lasting = tuple(effect for effect in division.essential if effect.area in _LASTING)
    on_screen = not lasting or (instance is not None and is_on_screen(instance))
    seen = [
        effect for effect in division.essential if effect.area not in _LASTING and _says_something(effect)
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
            if all(other.get(key) == texts for other in values) and not any(map(_names_parameter, texts))
        ),
        kept=_kept(division, performances),
        references=frozenset.intersection(
            *(
                frozenset(_referring(item, changes))
                for item, (changes, _) in zip(performances, found, strict=True)
            )
        ),
        folders=None if None in folders else folders[0],
        touched=frozenset(
            (effect.container_template, part)
            for changes, _ in found
            for effect in changes
            if effect.area == "file"
            for part in ("", *(effect.address[:1] if effect.format == "database" else ()))
        ),
        names_its_files=_all_named([changes for changes, _ in found]),
        once=() if lasting else tuple(_shown_once(seen, performances)),
    )


def _all_named(performances: Sequence[Sequence[Effect]]) -> bool:
    made = [
        {
            effect.container_template
            for effect in changes
            if effect.area == "file"
            and effect.kind == "added"
            and not effect.address
            and is_kept(effect.container)
        }
        for changes in performances
    ]
    always = set.intersection(*made)
    return all(_names_parameter(path) or "*" in path or path in always for path in set[str]().union(*made))


def _referring(
    performance: Trajectory, changes: Sequence[Effect]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    for effect in changes:
        if effect.area == "file" and effect.address and effect.after is not None and effect.after.isdigit():
            found = _reference(performance, effect, effect.after)
            if found is not None:
                yield (effect.key, *found)


def _reference(performance: Trajectory, effect: Effect, value: str) -> tuple[str, str] | None:
    """Fields of the id and the name of the record that `value` refers to, if a parameter names it."""
    file = performance.initial_evidence.file(effect.container)
    if file is None or file.text is None:
        return None
    found = reference(read(file.path, file.text)[1], value, performance.parameters.values())
    return None if found is None else found[:2]


def _shown_once(seen: Sequence[Effect], performances: Sequence[Trajectory]) -> Iterator[str]:
    for effect in seen:
        named = _ONE_PARAMETER.fullmatch(effect.address_template[-1]) if effect.area == "screen" else None
        if (
            named
            and effect.kind == "added"
            and all(
                view(item.final_evidence).times_shown(item.parameters.get(named[1], "")) == 1
                for item in performances
            )
        ):
            yield effect.address[-1]


def _kept(division: Division, performances: Sequence[Trajectory]) -> frozenset[str]:
    essential = division.essential
    whole = {effect.container for effect in essential if effect.area == "file" and not effect.address}
    if any(
        effect.area == "file" and is_kept(effect.container) and effect.container not in whole
        for effect in division.incidental  # times in a file that is new as a whole are no changes beside it
    ):
        return frozenset()
    if any(
        effect.area == "file"
        and effect.address
        and is_kept(effect.container)
        and effect.container not in whole
        for effect in essential
    ):
        return frozenset()
    counts = [kept_counts(item.initial_evidence, item.final_evidence) for item in performances]
    if any(item is None for item in counts):
        return frozenset()
    return frozenset(
        name for name in ("added", "changed") if len({getattr(item, name) for item in counts}) == 1
    )


def _values_by_key(changes: Sequence[Effect]) -> dict[tuple[str, ...], Counter[str | None]]:
    found: dict[tuple[str, ...], Counter[str | None]] = {}
    for effect in changes:
        found.setdefault(effect.key, Counter())[effect.after_template] += 1
    return found


def is_on_screen(instance: BoundSubtask) -> bool:
    """Whether an output is something that only the screen shows: a selection, a tab, a setting."""
    return any(resource.kind in _ON_SCREEN for resource in instance.outputs)


def _outcome(effect: Effect) -> tuple[tuple[str, ...], str | None]:
    """What an effect brought about: where, and which value is there now, or which is gone."""
    return effect.key, effect.before if effect.kind == "removed" else effect.after


def is_leaf(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether no other effect lies inside this one."""
    return not any(_inside(other, effect) for other in among)


def is_outermost(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether this effect lies inside no other one."""
    return not any(_inside(effect, other) for other in among)


def _inside(inner: Effect, outer: Effect) -> bool:
    depth = len(outer.address)
    return (
        inner.area == outer.area
        and inner.container == outer.container
        and len(inner.address) > depth
        and inner.address[:depth] == outer.address
        and outer.kind == inner.kind
    )


def _says_something(effect: Effect) -> bool:
    """Whether it is more than a digit of a clock or a letter that is painted alone."""
    return effect.area != "screen" or _SAYS_SOMETHING.search(effect.address[-1]) is not None


def _names_parameter(template: str | None) -> bool:
    return "{" in (template or "").replace("{{", "")
