"""Which effects every correct performance has, and which only some (method section 3): the one computation
for what writers are shown, what examinations demand and what the account takes for the work."""

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
"""Values that a performance ended with, by address in terms of the parameters and by plain address."""


@dataclass(frozen=True, slots=True)
class Division:
    """The effects of one performance, told apart by all performances."""

    essential: tuple[Effect, ...]
    """Those that every performance has."""
    incidental: tuple[Effect, ...]
    """The others: times, generated ids, settings of the user interface, what only one route does."""

    def without(self, left_out: Callable[[Effect], bool]) -> Division:
        """With those essential ones among the others of which this holds."""
        essential = tuple(item for item in self.essential if not left_out(item))
        return Division(essential, (*self.incidental, *filter(left_out, self.essential)))


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
    tables: list[_Table] = []
    for changes, parameters in performances:
        tables.append({})
        for effect in changes:
            for key in _keys(effect, parameters):
                tables[-1].setdefault(key, set()).update(_left(effect))
    return tuple(_alike([_told_apart(performance, performances, tables) for performance in performances]))


def _told_apart(
    performance: Performance, performances: Sequence[Performance], tables: Sequence[_Table]
) -> Division:
    changes, parameters = performance
    wholes = {effect.address[:depth] for effect in changes for depth in range(len(effect.address))}
    there: set[_Key] = set()

    def is_essential(effect: Effect) -> bool:
        agreed, keys, whole = True, _keys(effect, parameters), effect.address in wholes
        for (_, others), table in zip(performances, tables, strict=True):
            values = next((table[key] for key in keys if key in table), None)
            same_parameters = dict(others) == dict(parameters)
            if values is None:
                if same_parameters or there.isdisjoint(effect.around):
                    return False
                continue
            same_value = not values.isdisjoint(_left(effect))
            if same_parameters and not same_value and not whole:
                return False
            agreed = agreed and same_value
        generated = effect.after_template is not None and not whole and is_generated(effect.after_template)
        return not generated or (agreed and len(performances) > 1) or bool(effect.refers_template)

    essential, incidental = [], []
    for effect in changes:
        if not is_essential(effect):
            incidental.append(effect)
            continue
        essential.append(effect)
        if effect.kind == "added":
            there.add(effect.place)
    return Division(tuple(essential), tuple(incidental))


def _alike(divisions: Sequence[Division]) -> Iterator[Division]:
    """With what is essential nowhere at its place in one performance, because it does not come about again
    with the same parameters, essential in none. What is only open counts where nothing else lasts: what was
    saved may be closed afterwards."""
    passing: set[_Key] = set()
    for division in divisions:
        passing |= {item.key for item in division.incidental} - {item.key for item in division.essential}
    for division in divisions:
        again = division.without(lambda item: item.key in passing)
        saved = again.without(lambda item: item.area == "file" and is_open_document(item.container))
        yield saved if any(item.area in LASTING for item in saved.essential) else again


def _left(effect: Effect) -> set[str | None]:
    """The value that it left, in all the ways in which another performance may have left the same."""
    return {effect.after, effect.after_template, effect.refers_template or effect.after}


def _keys(effect: Effect, parameters: Mapping[str, str]) -> list[_Key]:
    """What it is called by: in terms of the parameters, plainly, and as a reference, which is the same
    whether it is the first to a record or stands for another one."""
    keys: list[_Key] = [effect.key, ("=", *(filled(part, parameters) for part in effect.key))]
    if effect.refers_template and effect.kind != "removed":
        keys.append(("refers", effect.area, effect.container_template, *effect.address_template))
    return keys


def is_unreadable(effect: Effect) -> bool:
    """Whether it is a file that neither its name, which an application made up, nor its bytes tell anything
    of, and that is no copy of another one."""
    made_up = effect.container.startswith(f"{APPLICATIONS_FOLDER}/") and ANY in effect.container_template
    bare = effect.area == "file" and not effect.address and (effect.after or "").startswith("sha256:")
    return bare and made_up and not effect.source and not names_parameter(effect.container_template)


def parameter_sets(trajectories: Sequence[Trajectory]) -> int:
    """How many different parameters they were performed with."""
    return len({tuple(sorted(item.parameters.items())) for item in trajectories})


def performances_of(trajectories: Sequence[Trajectory]) -> list[Performance]:
    """What each of `trajectories` changed, with its parameters.

    A number stands for the record of that number whose parameter it is in all of them: one performance alone
    cannot tell which table is meant. What a record itself is called by in all of them stands for another one
    only where it holds nothing but numbers, as a link.
    """
    found = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    if parameter_sets(trajectories) > 1:
        called = frozenset.intersection(*map(_called, found))
        meant = [_meant(item, changes, called) for item, changes in zip(trajectories, found, strict=True)]
        found = [tuple(_referring(effect, meant) for effect in changes) for changes in found]
    return [(changes, item.parameters) for item, changes in zip(trajectories, found, strict=True)]


def _called(changes: Sequence[Effect]) -> frozenset[_Key]:
    texts = {(item.container, *item.address[:-1]) for item in changes if not (item.after or "").isdigit()}
    other = {item.key for item in changes if item.address[-2:-1] != (item.after,)}
    found = {item.key for item in changes if (item.container, *item.address[:-1]) in texts}
    return frozenset(found - other)


def _meant(
    trajectory: Trajectory, changes: Sequence[Effect], called: frozenset[_Key]
) -> dict[_Key, dict[str, frozenset[str]]]:
    references = References(trajectory.final_evidence, trajectory.parameters)
    held: dict[_Key, dict[str, frozenset[str]]] = {}
    for item in changes:
        number = item.after or ""
        if item.area == "file" and item.kind != "removed" and number.isdigit() and item.key not in called:
            held.setdefault(item.key, {})[number] = references.numbered.get(number, frozenset())
    return held


def _referring(effect: Effect, meant: Sequence[Mapping[_Key, Mapping[str, frozenset[str]]]]) -> Effect:
    each = [held.get(effect.key, {}) for held in meant]
    after = effect.after or ""
    own = next((found[after] for found in each if after in found), frozenset[str]())
    common = own.intersection(*(frozenset[str]().union(*found.values()) for found in each))
    if not common or effect.refers_template:
        return effect
    return effect.model_copy(update={"refers_template": " ".join(sorted(common))})


def divided(
    trajectories: Sequence[Trajectory], performances: Sequence[Performance] | None = None
) -> tuple[Division, ...]:
    """The effects of each of `trajectories`, all of one subtask, told apart; see `divide`. Their
    `performances` may be given where they are known.

    By-products are not essential: files and tables of the application itself in which every performance
    changes the same, whatever the parameters, while it leaves something else that depends on them.
    """
    divisions = divide(performances_of(trajectories) if performances is None else performances)
    left_out = by_products(trajectories, divisions)
    return tuple(division.without(lambda item: holder_of(item) in left_out) for division in divisions)


def told_texts(found: Sequence[Effect], parameters: Mapping[str, str]) -> tuple[str, ...]:
    """What the parameters say, and the files that they name."""
    return (*parameters.values(), *(item.after or "" for item in found if item.source and not item.address))


def is_index_entry(effect: Effect, texts: Sequence[str]) -> bool:
    """Whether all that it holds, or held, besides numbers are words of `texts`: the entry of an index that an
    application keeps for its search. How many there are depends on the words."""
    if effect.area != "file" or effect.format != DATABASE:
        return False
    shown = [text for text in (effect.before, effect.after) if text]
    words = [word for text in shown for word in _CELL.findall(text) or [text] if not _NUMBER.fullmatch(word)]
    if not words or any(map(names_parameter, (effect.before_template, effect.after_template))):
        return False
    return all(any(has_phrase(word, text) for text in texts) for word in words)


def is_unsure(trajectories: Sequence[Trajectory]) -> bool:
    """Whether a value may be essential or not, which only the same work with the same parameters can tell: it
    is another one with other parameters, and neither they nor what was there at the start say which."""
    if parameter_sets(trajectories) < len(trajectories):
        return False
    each = [
        [item for item in division.essential if item.area == "file" and _is_value(item, division.essential)]
        for division in divided(trajectories)
    ]
    told = [{(item.key, item.after_template) for item in found} for found in each]
    return any(
        not all((item.key, item.after_template) in other for other in told)
        and not any((item.after or "").strip() in text for text in _texts(trajectory.initial_evidence))
        for found, trajectory in zip(each, trajectories, strict=True)
        for item in found
    )


def _is_value(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether it left a text that nothing but this effect tells."""
    whole = any(effect.place in item.around for item in among)
    said = bool(effect.source or effect.refers_template) or effect.after in (None, "")
    return bool(effect.format) and not whole and not said


def _texts(evidence: Evidence) -> list[str]:
    return [
        text
        for text in (evidence.clipboard.text, *(file.text for file in evidence.files))
        if text is not None
    ]


def by_products(trajectories: Sequence[Trajectory], divisions: Sequence[Division]) -> frozenset[_Key]:
    """Files, folders and tables of the application that are changed alike whatever the parameters, and of
    which the instruction says nothing, where the work leaves something else as well."""
    if parameter_sets(trajectories) < 2:
        return frozenset()
    each = [_by_container(division.essential) for division in divisions]
    instruction = templated(trajectories[0].instruction, trajectories[0].parameters)
    found = {
        holder
        for holder, atoms in each[0].items()
        if holder[0].startswith(f"{APPLICATIONS_FOLDER}/")
        and all(other.get(holder) == atoms for other in each)
        and not any(has_phrase(atom[-1], instruction) for atom in atoms if atom[-1])
    }
    found -= {holder_of(item) for item in divisions[0].essential if item.refers_template}
    return frozenset(found) if any(holder not in found for holder in each[0]) else frozenset()


def _by_container(found: Sequence[Effect]) -> dict[_Key, set[_Key]]:
    """What is changed in each file, folder and table; a copy of something that was there is one change, and
    of what holds no text it only counts that it changed."""
    copies = {item.container for item in found if not item.address and item.source}
    held: dict[_Key, set[_Key]] = {}
    for item in found:
        if item.area in LASTING and not (item.address and item.container in copies):
            told = item.after or "" if item.format or item.area == "clipboard" else ""
            value = f"= {item.source}" if item.source else told
            held.setdefault(holder_of(item), set()).add((item.area, item.kind, *item.address, value))
    return held
