"""The essential effects of a subtask's work, told from recorded performances.

There is one computation of them: what a writer is shown, what an examination demands and what the account of
side effects takes for the work is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Division, Performance, divide
from taskloom.evaluators_api.state.references import References
from taskloom.evaluators_api.state.templates import names_parameter, templated
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import Trajectory

_LASTING = frozenset({"file", "directory", "clipboard"})
_DATABASE = "database"
_CELL = re.compile(r'": "([^"]*)"')
_NUMBER = re.compile(r"[-+\d.,]*|NULL")
_Atom = tuple[str, ...]


def performances_of(trajectories: Sequence[Trajectory]) -> list[Performance]:
    """What each of `trajectories` changed, with its parameters.

    A number stands for the record of that number whose parameter it is in all of them: one performance alone
    cannot tell which table is meant. What a record itself is called by in all of them stands for another one
    only where it holds nothing but numbers, as a link.
    """
    found = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    if len({tuple(sorted(item.parameters.items())) for item in trajectories}) > 1:
        called = frozenset.intersection(*map(_called, found))
        meant = [_meant(item, changes, called) for item, changes in zip(trajectories, found, strict=True)]
        found = [tuple(_referring(effect, meant) for effect in changes) for changes in found]
    return [(changes, item.parameters) for item, changes in zip(trajectories, found, strict=True)]


def _called(changes: Sequence[Effect]) -> frozenset[_Atom]:
    """Places of what records with texts are called by."""
    texts = {(item.container, *item.address[:-1]) for item in changes if not (item.after or "").isdigit()}
    other = {item.key for item in changes if item.address[-2:-1] != (item.after,)}
    found = (item for item in changes if item.key not in other)
    return frozenset(item.key for item in found if (item.container, *item.address[:-1]) in texts)


def _meant(
    trajectory: Trajectory, changes: Sequence[Effect], called: frozenset[_Atom]
) -> dict[_Atom, dict[str, frozenset[str]]]:
    """Numbers by place, each with the parameters that records of that number hold at the end."""
    references = References(trajectory.final_evidence, trajectory.parameters)
    held: dict[_Atom, dict[str, frozenset[str]]] = {}
    for item in changes:
        number = item.after or ""
        if item.area == "file" and item.kind != "removed" and number.isdigit() and item.key not in called:
            held.setdefault(item.key, {})[number] = references.numbered(number)
    return held


def _referring(effect: Effect, meant: Sequence[Mapping[_Atom, Mapping[str, frozenset[str]]]]) -> Effect:
    """`effect` with the parameters that its number stands for in every performance."""
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
    """The effects of each of `trajectories`, all of one subtask, told apart; see `essential.divide`. Their
    `performances` may be given where they are known.

    By-products are not essential: files and tables of the application itself in which every performance
    changes the same, whatever the parameters, while it leaves something else that depends on them.
    """
    divisions = divide(performances_of(trajectories) if performances is None else performances)
    left_out = _by_products(trajectories, divisions)
    if not left_out:
        return divisions
    return tuple(
        Division(
            tuple(item for item in division.essential if _holder(item) not in left_out),
            (*division.incidental, *(item for item in division.essential if _holder(item) in left_out)),
        )
        for division in divisions
    )


def told_texts(found: Sequence[Effect], parameters: Mapping[str, str]) -> tuple[str, ...]:
    """What the parameters say, and the files that they name."""
    return (*parameters.values(), *(item.after or "" for item in found if item.source and not item.address))


def is_index_entry(effect: Effect, texts: Sequence[str]) -> bool:
    """Whether all that it holds, or held, besides numbers are words of `texts`: the entry of an index that an
    application keeps for its search. How many there are depends on the words."""
    if effect.area != "file" or effect.format != _DATABASE:
        return False
    shown = [text for text in (effect.before, effect.after) if text]
    words = [word for text in shown for word in _CELL.findall(text) or [text] if not _NUMBER.fullmatch(word)]
    if not words or any(map(names_parameter, (effect.before_template, effect.after_template))):
        return False
    return all(any(has_phrase(word, text) for text in texts) for word in words)


def is_unsure(trajectories: Sequence[Trajectory]) -> bool:
    """Whether a value may be essential or not, which only the same work with the same parameters can tell: it
    is another one with other parameters, and neither they nor what was there at the start say which."""
    if len({tuple(sorted(item.parameters.items())) for item in trajectories}) < len(trajectories):
        return False
    each = [
        [item for item in division.essential if item.area == "file" and _is_value(item, division.essential)]
        for division in divided(trajectories)
    ]
    told = [{(item.key, item.after_template) for item in found} for found in each]
    return any(
        not all((item.key, item.after_template) in other for other in told)
        and not _was_there(item.after or "", trajectory.initial_evidence)
        for found, trajectory in zip(each, trajectories, strict=True)
        for item in found
    )


def _is_value(effect: Effect, among: Sequence[Effect]) -> bool:
    """Whether it left a text that nothing but this effect tells."""
    depth = len(effect.address)
    whole = any(
        item.container == effect.container
        and len(item.address) > depth
        and item.address[:depth] == effect.address
        for item in among
    )
    said = bool(effect.source or effect.refers_template) or effect.after in (None, "")
    return bool(effect.format) and not whole and not said


def _was_there(value: str, start: Evidence) -> bool:
    held = (start.clipboard.text, *(file.text for file in start.files))
    return any(text is not None and value.strip() in text for text in held)


def _by_products(trajectories: Sequence[Trajectory], divisions: Sequence[Division]) -> frozenset[_Atom]:
    """Files, folders and tables of the application that are changed alike whatever the parameters, and of
    which the instruction says nothing."""
    if len({tuple(sorted(item.parameters.items())) for item in trajectories}) < 2:
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
    found -= {_holder(item) for item in divisions[0].essential if item.refers_template}
    return frozenset(found) if any(holder not in found for holder in each[0]) else frozenset()


def _holder(effect: Effect) -> _Atom:
    """The file or folder; in a database the table."""
    return (effect.container, *(effect.address[:1] if effect.format == _DATABASE else ()))


def _by_container(found: Sequence[Effect]) -> Mapping[_Atom, frozenset[_Atom]]:
    """What is changed in each file, folder and table; a copy of something that was there is one change, and
    of what holds no text it only counts that it changed."""
    copies = {item.container for item in found if not item.address and item.source}
    held: dict[_Atom, set[_Atom]] = {}
    for item in found:
        if item.area in _LASTING and not (item.address and item.container in copies):
            told = item.after or "" if item.format or item.area == "clipboard" else ""
            value = f"= {item.source}" if item.source else told
            held.setdefault(_holder(item), set()).add((item.area, item.kind, *item.address, value))
    return {holder: frozenset(atoms) for holder, atoms in held.items()}
