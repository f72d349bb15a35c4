"""What is examined: a recording of right work, and the effects that make it right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from environments.machines.sandbox import APPLICATIONS_FOLDER
from evaluators_api.evidence.text_matching import has_phrase
from evaluators_api.state.effects import effects
from evaluators_api.state.essential import divide
from evaluators_api.state.formats.drawing import SHAPE
from evaluators_api.state.nodes import ID_KEYS
from evaluators_api.state.reading import read
from evaluators_api.state.records import reference
from resources.categories import ResourceKind
from taskgraph.records.effect import Effect
from taskgraph.records.evidence import Evidence
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory

_ON_SCREEN = {ResourceKind.SELECTION, ResourceKind.TAB, ResourceKind.SETTING}
_ALL_COUNTS = frozenset({"lines", "delimited", "drawing", ""})
"""Formats in which nothing in a file of the user is a default."""
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{3}")
_DRAWING = "drawing"
_NUMBERS = re.compile(r"[-+\d.,;:%\s]*(px|pt|em)?")
_LASTING = frozenset({"file", "directory", "clipboard"})


@dataclass(frozen=True, slots=True)
class Subject:
    """A recording of right work, and the effects that decide whether other work is right as well."""

    positive: Trajectory
    """The recording."""
    essential: tuple[Effect, ...]
    """Lasting effects that every right performance has."""
    shown: tuple[Effect, ...]
    """Effects on the screen and the window that every right performance has; empty where the screen is no part of the result."""
    incidental: tuple[Effect, ...]
    """Effects that only some right performances have."""
    constant: frozenset[tuple[str, ...]]
    """Keys of essential effects whose value is the same whatever the parameters."""

    @property
    def start(self) -> Evidence:
        """The state before the first step of the performance that is altered into cases."""
        return self.positive.initial_evidence

    @property
    def end(self) -> Evidence:
        """The state after its last step."""
        return self.positive.final_evidence

    @property
    def guarded(self) -> tuple[Effect, ...]:
        """The lasting effects that a function must notice one by one.

        Left out are empty values, folders that come and go with what is in them, and defaults: what an application writes of
        itself into a record that it makes, the same every time and not mentioned by the instruction; groups of nothing
        but these.
        """
        counted = [
            effect
            for effect in self.essential
            if not self._is_empty(effect) and not self._is_holder(effect) and not self._is_default(effect)
        ]
        leaves = [effect for effect in counted if is_leaf(effect, self.essential)]
        return tuple(
            effect
            for effect in counted
            if not effect.address
            or is_leaf(effect, self.essential)
            or any(_inside(inner, effect) for inner in leaves)
        )

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

        In tables and plain texts of the user everything counts. Elsewhere what is the same every time and not mentioned by
        the instruction is a default, and a number that no parameter names is a measure that the application works out.
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
        return (own_kind or effect.key in self.constant or _NUMBERS.fullmatch(value) is not None) and (
            not value.strip() or not has_phrase(value, self.positive.instruction)
        )

    def _refers(self, effect: Effect, value: str) -> bool:
        """Whether it is the id of a record that a parameter names, such as the number of a ticket."""
        file = next((item for item in self.start.files if item.path == effect.container), None)
        if file is None or file.text is None or effect.address[-1].casefold() in ID_KEYS:
            return False
        tree = read(file.path, file.text)[1]
        return reference(tree, value, self.positive.parameters.values()) is not None


def subject_of(
    positive: Trajectory, others: Sequence[Trajectory] = (), instance: BoundSubtask | None = None
) -> Subject:
    """The subject of `positive`, told from other performances of the same subtask in `others`."""
    performances = [positive, *(item for item in others if item.subtask_id == positive.subtask_id)]
    found = [
        (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
        for item in performances
    ]
    division = divide(found)[0]
    lasting = tuple(effect for effect in division.essential if effect.area in _LASTING)
    on_screen = not lasting or (instance is not None and is_on_screen(instance))
    seen = [
        effect for effect in division.essential if effect.area not in _LASTING and _says_something(effect)
    ]
    values: dict[tuple[str, ...], set[str | None]] = {}
    for changes, _ in found:
        for effect in changes:
            values.setdefault(effect.key, set()).add(effect.after_template)
    return Subject(
        positive=positive,
        essential=lasting,
        shown=tuple(seen) if on_screen else (),
        incidental=division.incidental,
        constant=frozenset(
            key
            for key, texts in values.items()
            if len(texts) == 1
            and all(any(effect.key == key for effect in changes) for changes, _ in found)
            and not _names_parameter(next(iter(texts)))
        ),
    )


def is_on_screen(instance: BoundSubtask) -> bool:
    """Whether an output of the subtask is something that only the screen shows: a selection, a tab, a setting."""
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
