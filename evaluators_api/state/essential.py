"""Which effects every correct performance has, and which only some (method section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.reading import FALLBACK
from taskloom.evaluators_api.state.templates import (
    filled,
    is_generated,
    names_parameter,
    parameters_named,
)
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import is_open_document

_LASTING = frozenset({"file", "directory", "clipboard"})
Performance = tuple[Sequence[Effect], Mapping[str, str]]
"""Effects of a performance, and its parameters."""
_Key = tuple[str, ...]
_Place = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Division:
    """The effects of one performance, told apart by all performances."""

    essential: tuple[Effect, ...]
    """Those that every performance has."""
    incidental: tuple[Effect, ...]
    """The others: times, generated ids, settings of the user interface, what only one route does."""


def divide(performances: Sequence[Performance]) -> tuple[Division, ...]:
    """The effects of each performance, told apart. An effect is essential if all of these hold:

    - Every performance with the same parameters has it at the same address, and with the same value; where
      those of one set do not, it is essential with no other parameters either.
    - Every performance with other parameters has one at the same address in terms of the parameters; or it
      lies inside of something added that they all have, because what a file or record holds may differ with
      the parameters.
    - What is left of its value without the parameters does not look generated (a time, a hash, a random id),
      unless all performances agree on it, or it is the id of a record that a parameter names.
    """
    tables = [_Table.of(effects, parameters) for effects, parameters in performances]
    divisions = []
    for effects, parameters in performances:
        wholes = {effect.address[:depth] for effect in effects for depth in range(len(effect.address))}
        there: set[_Key] = set()
        found: tuple[list[Effect], list[Effect]] = ([], [])
        for effect in effects:
            whole = effect.address in wholes
            if _essential(effect, parameters, performances, tables, whole=whole, there=there):
                found[0].append(effect)
                if effect.kind == "added":
                    there.add((effect.area, effect.container, *effect.address))
            else:
                found[1].append(effect)
        divisions.append(Division(tuple(found[0]), tuple(found[1])))
    return tuple(map(_without_passing, _alike(divisions)))


def _alike(divisions: Sequence[Division]) -> list[Division]:
    """With what is essential nowhere at its place in one performance, because it does not come about again
    with the same parameters, essential in none."""
    needed = [{effect.key for effect in division.essential} for division in divisions]
    passing = {
        effect.key
        for division, keys in zip(divisions, needed, strict=True)
        for effect in division.incidental
        if effect.key not in keys
    }
    return [
        Division(
            tuple(item for item in division.essential if item.key not in passing),
            (*division.incidental, *(item for item in division.essential if item.key in passing)),
        )
        for division in divisions
    ]


def _without_passing(division: Division) -> Division:
    """What is only open in an editor counts where nothing else lasts: what was saved may be closed
    afterwards.
    """
    opened = [item for item in division.essential if item.area == "file" and is_open_document(item.container)]
    others = [item for item in division.essential if item not in opened]
    if not any(item.area in _LASTING for item in others):
        return division
    return Division(tuple(others), (*division.incidental, *opened))


def essential(performances: Sequence[Performance]) -> tuple[tuple[Effect, ...], ...]:
    """The essential effects of each performance; see `divide`."""
    return tuple(item.essential for item in divide(performances))


@dataclass(slots=True)
class _Table:
    """Values of one performance by address in terms of the parameters, and by plain address."""

    values: dict[_Key, set[str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, effects: Sequence[Effect], parameters: Mapping[str, str]) -> _Table:
        table = cls()
        for effect in effects:
            for key in {effect.key, _plain_key(effect, parameters), _reference_key(effect)} - {()}:
                table.values.setdefault(key, set()).update((effect.after, effect.after_template))
                if effect.refers_template:
                    table.values[key].add(effect.refers_template)
        return table

    def at(self, effect: Effect, parameters: Mapping[str, str]) -> set[str | None] | None:
        """What this performance ended with where `effect` of another one is; None where it has no such
        effect."""
        for key in (effect.key, _plain_key(effect, parameters), _reference_key(effect)):
            found = self.values.get(key) if key else None
            if found is not None:
                return found
        return None


def _plain_key(effect: Effect, parameters: Mapping[str, str]) -> _Key:
    return ("=", *(filled(part, parameters) for part in effect.key))


def _reference_key(effect: Effect) -> _Key:
    """A reference to one record is the same whether it is the first or stands for another one."""
    if not effect.refers_template or effect.kind == "removed":
        return ()
    return ("refers", effect.area, effect.container_template, *effect.address_template)


def _essential(
    effect: Effect,
    parameters: Mapping[str, str],
    performances: Sequence[Performance],
    tables: Sequence[_Table],
    *,
    whole: bool,
    there: set[_Key],
) -> bool:
    agreed = True
    for (_, others), table in zip(performances, tables, strict=True):
        values = table.at(effect, parameters)
        same_parameters = dict(others) == dict(parameters)
        if values is None:
            if same_parameters or not _within(effect, there):
                return False
            continue
        same_value = bool(
            {effect.after, effect.after_template, effect.refers_template or effect.after} & values
        )
        if same_parameters and not same_value and not whole:
            return False
        agreed = agreed and same_value
    generated = effect.after_template is not None and not whole and is_generated(effect.after_template)
    return not generated or (agreed and len(performances) > 1) or bool(effect.refers_template)


def _within(effect: Effect, there: set[_Key]) -> bool:
    return any(
        (effect.area, effect.container, *effect.address[:depth]) in there
        for depth in range(len(effect.address))
    )


def passing_places(performances: Sequence[Sequence[Effect]]) -> set[_Place]:
    """Places of records that every performance adds, of which nothing but references is said by a parameter,
    and with a value that no two performances share, such as a time: tokens, entries of a history."""
    each = [_fields_added(effects) for effects in performances]
    found = set.intersection(*(set(held) for held in each)) if len(each) > 1 else set()
    return {place for place in found if _is_passing([held[place] for held in each])}


def entries_of_saves(performances: Sequence[Sequence[Effect]]) -> dict[_Place, frozenset[str]]:
    """Places where every performance adds what says no more than that something was saved: a line of a text
    that an application keeps for all that is in it, with a value that no two performances share, such as a
    time; a file that is unreadable, under a name that was made up.

    What parameters say there stands, in every performance, at a place that a parameter names as well, and
    there the account bounds it. A record under a name that was made up, of which no other place tells,
    is the work itself, and so are unreadable files where no line tells of saves. Each place has the words
    with parameters that all its entries have.
    """
    each = [_entries(effects) for effects in performances]
    found = set.intersection(*(set(held) for held in each)) if len(each) > 1 else set()
    told = [_told_at_named_places(effects) for effects in performances]
    entries = {
        place: _named_by_all([text for held in each for text in held[place]])
        for place in found
        if all(
            known and all(parameters_named(text) <= known for text in held[place])
            for held, known in zip(each, told, strict=True)
        )
        and _differ([held[place] for held in each])
    }
    return entries if any(address for _, _, address in entries) else {}


def _named_by_all(texts: Sequence[str]) -> frozenset[str]:
    return frozenset.intersection(*(frozenset(filter(names_parameter, text.split())) for text in texts))


def _entries(effects: Sequence[Effect]) -> dict[_Place, list[str]]:
    """What may be entries of saves, place by place."""
    new = {effect.container for effect in effects if effect.kind == "added" and not effect.address}
    held: dict[_Place, list[str]] = {}
    for effect in effects:
        place = (effect.area, effect.container_template, effect.address_template)
        line = effect.address_template == (ANY,) and effect.container not in new and effect.format == FALLBACK
        if (
            effect.kind == "added"
            and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
            and not names_parameter(effect.container_template)
            and (line or is_unreadable(effect))
        ):
            held.setdefault(place, []).append(effect.after_template or "")
    return held


def _told_at_named_places(effects: Sequence[Effect]) -> set[str]:
    """Parameters that stand in files, or at places in a file, that a parameter names."""
    found = set[str]()
    for effect in effects:
        place = (effect.container_template, *effect.address_template)
        if effect.area in _LASTING and ANY not in place[0] and any(map(names_parameter, place)):
            found |= parameters_named(*place, effect.before_template, effect.after_template)
    return found


def _differ(each: Sequence[Sequence[str]]) -> bool:
    """Whether each performance has a value that looks generated and that no other one has."""
    counted = Counter(text for texts in each for text in {*texts} if is_generated(text))
    return all(any(counted[text] == 1 for text in texts) for texts in each)


def is_unreadable(effect: Effect) -> bool:
    """Whether it is a file that neither its name, which an application made up, nor its bytes tell anything
    of, and that is no copy of another one."""
    made_up = effect.container.startswith(f"{APPLICATIONS_FOLDER}/") and ANY in effect.container_template
    bare = effect.area == "file" and not effect.address and (effect.after or "").startswith("sha256:")
    return bare and made_up and not effect.source and not names_parameter(effect.container_template)


def _fields_added(effects: Sequence[Effect]) -> dict[_Place, dict[_Key, set[str]]]:
    """What is in the fields of records that were added and have no name of their own, place by place."""
    held: dict[_Place, dict[_Key, set[str]]] = {}
    for effect in effects:
        address = effect.address_template
        if effect.kind == "added" and address[-2:-1] == (ANY,):
            told = "{" if effect.source else effect.after_template or ""
            place = held.setdefault((effect.area, effect.container_template, address[:-1]), {})
            place.setdefault(effect.key, set()).add(told)
    return held


def _is_passing(each: Sequence[Mapping[_Key, set[str]]]) -> bool:
    if any(names_parameter(told) for held in each for values in held.values() for told in values):
        return False
    keys = set.intersection(*(set(held) for held in each))
    return any(
        len(set[str]().union(*(held[key] for held in each))) == sum(len(held[key]) for held in each)
        and any(is_generated(told) for held in each for told in held[key])
        for key in keys
    )
