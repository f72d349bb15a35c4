"""Divides effects into those of every correct performance and those of only some (method section 3). What
writers see, examinations demand and the account attributes to the work all rest on this one division."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import DATABASE, LASTING, effects, holder_of
from taskloom.evaluators_api.state.references import References
from taskloom.evaluators_api.state.templates import filled, is_generated, names_parameter, templated
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence, is_open_document
from taskloom.taskgraph.records.trajectory import Trajectory

_CELL = re.compile(r'": "([^"]*)"')
_NUMBER = re.compile(r"[-+\d.,]*|NULL")
Performance = tuple[Sequence[Effect], Mapping[str, str]]
"""Effects of a performance, and its parameters."""
_Key = tuple[str, ...]
_Table = dict[_Key, set[str | None]]
"""Values that a performance left, by address in terms of the parameters and by literal address."""


@dataclass(frozen=True, slots=True)
class Division:
    """The effects of one performance, divided by comparing all performances."""

    essential: tuple[Effect, ...]
    """Effects that every performance has."""
    incidental: tuple[Effect, ...]
    """All others: times, generated ids, settings of the user interface, effects of one route only."""

    def without(self, condition: Callable[[Effect], bool]) -> Division:
        """This division with the essential effects that meet `condition` made incidental."""
        essential = tuple(item for item in self.essential if not condition(item))
        return Division(essential, (*self.incidental, *filter(condition, self.essential)))


def divide(performances: Sequence[Performance]) -> tuple[Division, ...]:
    """Divide the effects of each performance. An effect is essential if all of these hold:

    - Every performance with the same parameters has it at the same address with the same value. If those with
      one parameter set do not, the effect is not essential with any other set either.
    - Every performance with other parameters has one at the same address in terms of the parameters; or it
      lies inside an addition that they all have, because the content of a file or record may depend on the
      parameters.
    - The rest of its value without the parameters does not look generated (a time, a hash, a random id),
      unless all performances agree on it, or it is the id of a record that a parameter names.
    """
    tables: list[_Table] = []
    for changes, parameters in performances:
        tables.append({})
        for effect in changes:
            for key in _lookup_keys(effect, parameters):
                tables[-1].setdefault(key, set()).update(_values_left(effect))
    divisions = [_divide_one(performance, performances, tables) for performance in performances]
    return tuple(_consistent(divisions))


def _divide_one(
    performance: Performance, performances: Sequence[Performance], tables: Sequence[_Table]
) -> Division:
    changes, parameters = performance
    groups = {effect.address[:depth] for effect in changes for depth in range(len(effect.address))}
    added_places: set[_Key] = set()

    def is_essential(effect: Effect) -> bool:
        agreed, keys, is_group = True, _lookup_keys(effect, parameters), effect.address in groups
        for (_, others), table in zip(performances, tables, strict=True):
            values = next((table[key] for key in keys if key in table), None)
            same_parameters = dict(others) == dict(parameters)
            if values is None:
                if same_parameters or added_places.isdisjoint(effect.around):
                    return False
                continue
            same_value = not values.isdisjoint(_values_left(effect))
            if same_parameters and not same_value and not is_group:
                return False
            agreed = agreed and same_value
        generated = effect.after_template is not None and not is_group and is_generated(effect.after_template)
        return not generated or (agreed and len(performances) > 1) or bool(effect.refers_template)

    essential, incidental = [], []
    for effect in changes:
        if not is_essential(effect):
            incidental.append(effect)
            continue
        essential.append(effect)
        if effect.kind == "added":
            added_places.add(effect.place)
    return Division(tuple(essential), tuple(incidental))


def _consistent(divisions: Sequence[Division]) -> Iterator[Division]:
    """The divisions, with whatever is only incidental at an address in one performance made incidental in
    all, because the same parameters do not reproduce it. Open documents count only if nothing else lasts: a
    saved document may be closed afterwards."""
    incidental: set[_Key] = set()
    for division in divisions:
        incidental |= {item.key for item in division.incidental} - {item.key for item in division.essential}
    for division in divisions:
        repeated = division.without(lambda item: item.key in incidental)
        saved = repeated.without(lambda item: item.area == "file" and is_open_document(item.container))
        yield saved if any(item.area in LASTING for item in saved.essential) else repeated


def _values_left(effect: Effect) -> set[str | None]:
    """The value that an effect left, in all forms in which another performance may have left the same."""
    return {effect.after, effect.after_template, effect.refers_template or effect.after}


def _lookup_keys(effect: Effect, parameters: Mapping[str, str]) -> list[_Key]:
    """Keys by which an effect is found: in terms of the parameters, literally, and as a reference, which is
    the same for a new reference and one that replaces another."""
    keys: list[_Key] = [effect.key, ("=", *(filled(part, parameters) for part in effect.key))]
    if effect.refers_template and effect.kind != "removed":
        keys.append(("refers", effect.area, effect.container_template, *effect.address_template))
    return keys


def is_unreadable(effect: Effect) -> bool:
    """Whether an effect is on an application's file with a generated name and unreadable content that is not
    a copy of another file."""
    has_generated_name = (
        effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
        and ANY in effect.container_template
        and not names_parameter(effect.container_template)
    )
    is_binary = effect.area == "file" and not effect.address and (effect.after or "").startswith("sha256:")
    return is_binary and has_generated_name and not effect.source


def parameter_sets(trajectories: Sequence[Trajectory]) -> int:
    """Number of different parameter sets of `trajectories`."""
    return len({tuple(sorted(item.parameters.items())) for item in trajectories})


def performances_of(trajectories: Sequence[Trajectory]) -> list[Performance]:
    """The effects of each of `trajectories`, with its parameters.

    A number refers to the record with that id that holds the same parameter in all of them; one performance
    cannot show in which table. A value that is its record's own id in all of them refers to another record
    only if the record holds nothing but numbers, like a link.
    """
    found = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    if parameter_sets(trajectories) > 1:
        own_id_keys = frozenset.intersection(*map(_own_id_keys, found))
        references = [
            _parameters_by_number(item, changes, own_id_keys)
            for item, changes in zip(trajectories, found, strict=True)
        ]
        found = [tuple(_with_reference(effect, references) for effect in changes) for changes in found]
    return [(changes, item.parameters) for item, changes in zip(trajectories, found, strict=True)]


def _own_id_keys(changes: Sequence[Effect]) -> frozenset[_Key]:
    """Keys of fields that hold their record's own id, in records that hold values other than numbers."""
    textual = {(item.container, *item.address[:-1]) for item in changes if not (item.after or "").isdigit()}
    not_own_ids = {item.key for item in changes if item.address[-2:-1] != (item.after,)}
    keys = {item.key for item in changes if (item.container, *item.address[:-1]) in textual}
    return frozenset(keys - not_own_ids)


def _parameters_by_number(
    trajectory: Trajectory, changes: Sequence[Effect], excluded: frozenset[_Key]
) -> dict[_Key, dict[str, frozenset[str]]]:
    """Parameters in the records to which the numbers at each key may refer."""
    references = References(trajectory.final_evidence, trajectory.parameters)
    by_key: dict[_Key, dict[str, frozenset[str]]] = {}
    for item in changes:
        number = item.after or ""
        if item.area == "file" and item.kind != "removed" and number.isdigit() and item.key not in excluded:
            by_key.setdefault(item.key, {})[number] = references.templates_by_number.get(number, frozenset())
    return by_key


def _with_reference(
    effect: Effect, references: Sequence[Mapping[_Key, Mapping[str, frozenset[str]]]]
) -> Effect:
    each = [by_key.get(effect.key, {}) for by_key in references]
    after = effect.after or ""
    own = next((found[after] for found in each if after in found), frozenset[str]())
    common = own.intersection(*(frozenset[str]().union(*found.values()) for found in each))
    if not common or effect.refers_template:
        return effect
    return effect.model_copy(update={"refers_template": " ".join(sorted(common))})


def divided(
    trajectories: Sequence[Trajectory], performances: Sequence[Performance] | None = None
) -> tuple[Division, ...]:
    """Divide the effects of each of `trajectories`, all of one subtask; see `divide`. `performances` saves
    computing them again.

    By-products are not essential: files and tables of the application itself that every performance changes
    in the same way, whatever the parameters, while it leaves something else that depends on them.
    """
    divisions = divide(performances_of(trajectories) if performances is None else performances)
    excluded = by_products(trajectories, divisions)
    return tuple(division.without(lambda item: holder_of(item) in excluded) for division in divisions)


def known_texts(found: Sequence[Effect], parameters: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the parameters, and the contents of copied files."""
    return (*parameters.values(), *(item.after or "" for item in found if item.source and not item.address))


def is_index_entry(effect: Effect, texts: Sequence[str]) -> bool:
    """Whether all its values, apart from numbers, are words of `texts`: an entry in the search index of an
    application. The number of entries depends on the words."""
    if effect.area != "file" or effect.format != DATABASE:
        return False
    values = [text for text in (effect.before, effect.after) if text]
    words = [word for text in values for word in _CELL.findall(text) or [text] if not _NUMBER.fullmatch(word)]
    if not words or any(map(names_parameter, (effect.before_template, effect.after_template))):
        return False
    return all(any(has_phrase(word, text) for text in texts) for word in words)


def is_unsure(trajectories: Sequence[Trajectory]) -> bool:
    """Whether some value may or may not be essential, which only repeating the work with the same parameters
    can show: it differs between parameter sets, and neither they nor the start state explain it."""
    if parameter_sets(trajectories) < len(trajectories):
        return False
    each = [
        [item for item in division.essential if _is_unexplained_value(item, division.essential)]
        for division in divided(trajectories)
    ]
    known = [{(item.key, item.after_template) for item in found} for found in each]
    return any(
        not all((item.key, item.after_template) in other for other in known)
        and not any((item.after or "").strip() in text for text in _texts(trajectory.initial_evidence))
        for found, trajectory in zip(each, trajectories, strict=True)
        for item in found
    )


def _is_unexplained_value(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether an effect left a text in a file that no other effect, source or reference explains."""
    is_group = any(effect.place in item.around for item in among)
    is_explained = bool(effect.source or effect.refers_template) or effect.after in (None, "")
    return effect.area == "file" and bool(effect.format) and not is_group and not is_explained


def _texts(evidence: Evidence) -> list[str]:
    return [
        text
        for text in (evidence.clipboard.text, *(file.text for file in evidence.files))
        if text is not None
    ]


def by_products(trajectories: Sequence[Trajectory], divisions: Sequence[Division]) -> frozenset[_Key]:
    """Files, folders and tables of the application that change in the same way whatever the parameters and
    that the instruction does not mention, provided that the work leaves something else as well."""
    if parameter_sets(trajectories) < 2:
        return frozenset()
    by_performance = [_by_container(division.essential) for division in divisions]
    instruction = templated(trajectories[0].instruction, trajectories[0].parameters)
    candidates = {
        holder
        for holder, changes in by_performance[0].items()
        if holder[0].startswith(f"{APPLICATIONS_FOLDER}/")
        and all(other.get(holder) == changes for other in by_performance)
        and not any(has_phrase(atom[-1], instruction) for atom in changes if atom[-1])
    }
    candidates -= {holder_of(item) for item in divisions[0].essential if item.refers_template}
    leaves_more = any(holder not in candidates for holder in by_performance[0])
    return frozenset(candidates) if leaves_more else frozenset()


def _by_container(found: Sequence[Effect]) -> dict[_Key, set[_Key]]:
    """The changes in each file, folder and table. A copy of something from the start is one change; if there
    is no text, only the fact of a change counts."""
    copies = {item.container for item in found if not item.address and item.source}
    changes: dict[_Key, set[_Key]] = {}
    for item in found:
        if item.area in LASTING and not (item.address and item.container in copies):
            text = item.after or "" if item.format or item.area == "clipboard" else ""
            value = f"= {item.source}" if item.source else text
            changes.setdefault(holder_of(item), set()).add((item.area, item.kind, *item.address, value))
    return changes
