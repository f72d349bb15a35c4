"""The essential effects of a subtask's work, told from recorded performances.

There is one computation of them: what a writer is shown, what an examination demands and what the account of
side effects takes for the work is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Division, Performance, divide
from taskloom.evaluators_api.state.templates import templated
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import Trajectory

_LASTING = frozenset({"file", "directory", "clipboard"})
_Atom = tuple[str, ...]


def performances_of(trajectories: Sequence[Trajectory]) -> list[Performance]:
    """What each of `trajectories` changed, with its parameters."""
    return [
        (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
        for item in trajectories
    ]


def divided(trajectories: Sequence[Trajectory]) -> tuple[Division, ...]:
    """The effects of each of `trajectories`, all of one subtask, told apart; see `essential.divide`.

    By-products are not essential: files and tables of the application itself in which every performance
    changes the same, whatever the parameters, while it leaves something else that depends on them.
    """
    divisions = divide(performances_of(trajectories))
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
    return frozenset(found) if any(holder not in found for holder in each[0]) else frozenset()


def _holder(effect: Effect) -> _Atom:
    """The file or folder; in a database the table."""
    return (effect.container, *(effect.address[:1] if effect.format == "database" else ()))


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
