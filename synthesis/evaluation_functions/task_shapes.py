"""The shape of a subtask's changes: places and types, with values of other records; of the end of a
performance, only what nobody could guess: values common to all performances and without a parameter."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import parameter_sets
from taskloom.evaluators_api.state.noise import noise_between
from taskloom.evaluators_api.state.reading import FALLBACK, read, tree_at
from taskloom.evaluators_api.state.records import text_of
from taskloom.evaluators_api.state.templates import filled, names_parameter, templated_path
from taskloom.prompts.shown_effects import ChangeShape, StartingFile, TaskShape
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.taskgraph.text_folding import cut_text

_MOST_CHANGES, _MOST_FILES, _MOST_FIELDS, _MOST_SAMPLES = 60, 40, 16, 3
_MOST_OTHERS = 8
_LONGEST_SAMPLE = 120
_LEAST_PARAMETER_SETS = 2
_DATABASE, _GROUP = "database", "group"
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_SHORTEST_END = 4
HIDDEN = "(what it ends with)"
"""Replaces a value that only the end of a performance shows."""


def constants(
    trajectories: Sequence[Trajectory], changes: Sequence[Sequence[Effect]]
) -> dict[tuple[str, ...], str]:
    """Values that all of `trajectories`, with these `changes`, leave in one place, and that contain no
    parameter value, by the key of the effect. Empty if all were performed with the same parameters. Numeric
    keys of new records are left out: they are the same only because every performance starts from the same
    state."""
    if parameter_sets(trajectories) < _LEAST_PARAMETER_SETS:
        return {}
    left = list(map(_own_values, changes))
    common = {key: set.intersection(*(found.get(key, set()) for found in left)) for key in left[0]}
    return {key: next(iter(values)) for key, values in common.items() if len(values) == 1}


def _own_values(changes: Sequence[Effect]) -> dict[tuple[str, ...], set[str]]:
    """Short values without a parameter that a performance left, by the key of the effect."""
    keys = {item.address[-2] for item in changes if item.kind == "added" and len(item.address) > 1}
    found: dict[tuple[str, ...], set[str]] = {}
    for item in changes:
        value = item.after or ""
        plain = item.area != "screen" and value == item.after_template and _value_type(value) != _GROUP
        if plain and 0 < len(value) <= _LONGEST_SAMPLE and not (value in keys and value.isdigit()):
            found.setdefault(item.key, set()).add(value)
    return found


def task_shape(
    trajectory: Trajectory, essential: Sequence[Effect], constant: Mapping[tuple[str, ...], str]
) -> TaskShape:
    """The shape of a performance with these `essential` effects and the `constants` of its subtask."""
    start = trajectory.initial_evidence
    shown = [effect for effect in essential if effect.area != "screen"] or list(essential)
    changes = {
        (item.container, item.address, item.kind): item
        for item in (_change_shape(effect, start, trajectory, constant) for effect in shown)
    }
    touched = _touched_fields(trajectory, shown)
    noise = noise_between(start, trajectory.final_evidence)
    files = [file for file in start.files if file.path in touched or not noise.concerns(file.path)]
    named = {file.path for file in files if names_parameter(templated_path(file.path, trajectory.parameters))}
    files = _worth_showing(files, touched, named)
    return TaskShape(
        files=tuple(_starting_file(file, touched.get(file.path, ())) for file in files[:_MOST_FILES]),
        clipboard=cut_text(start.clipboard.text or "", _LONGEST_SAMPLE),
        changes=tuple(changes.values())[:_MOST_CHANGES],
    )


def _worth_showing(
    files: Iterable[FileState], touched: Container[str], named: Container[str]
) -> list[FileState]:
    """The files that the work touches, then those named by a parameter, then people's files, then a few text
    files of applications' own data, the outermost first."""

    def rank(file: FileState) -> tuple[object, ...]:
        depth = file.path.count("/") if file.path.startswith(".") else 0
        return file.path not in touched, file.path not in named, depth, file.path

    def is_own(file: FileState) -> bool:
        return file.path in touched or file.path in named or not file.path.startswith(".")

    ranked = sorted(files, key=rank)
    others = [file for file in ranked if not is_own(file) and file.text is not None]
    return [*filter(is_own, ranked), *others[:_MOST_OTHERS]]


def _touched_fields(trajectory: Trajectory, shown: Sequence[Effect]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for effect in shown:
        names = found.setdefault(effect.container, {})
        evidence = trajectory.initial_evidence if effect.kind == "removed" else trajectory.final_evidence
        tree = tree_at(evidence, effect.container)
        if tree is None or not effect.address:
            continue
        for depth in (len(effect.address), len(effect.address) - 1):
            node = tree.at(effect.address[:depth])
            own = [child.name for child in node.children if child.naming == "field"] if node else []
            if own:
                if depth > 1 and effect.format == _DATABASE:
                    names.setdefault(effect.address[0])
                changed = effect.address[depth : depth + 1]
                names.update(dict.fromkeys((*changed, *own)))
                break
    return {path: tuple(names) for path, names in found.items()}


def _change_shape(
    effect: Effect, start: Evidence, trajectory: Trajectory, constant: Mapping[tuple[str, ...], str]
) -> ChangeShape:
    return ChangeShape(
        container=effect.container_template or effect.area,
        format=effect.format,
        address=effect.address_template[:1] if effect.area == "screen" else effect.address_template,
        kind=effect.kind,
        value_type=_value_type(effect.after),
        always=constant.get(effect.key, ""),
        samples=tuple(_samples(effect, start, trajectory.parameters)),
    )


def _value_type(value: str | None) -> str:
    if value is None:
        return ""
    text = value.strip()
    if text[:1] in ("[", "{"):
        return _GROUP
    if text.casefold() in ("true", "false", "on", "off", "yes", "no"):
        return "yes or no"
    return "date" if _DATE.fullmatch(text) else "number" if _NUMBER.fullmatch(text) else "text"


def _samples(effect: Effect, start: Evidence, parameters: dict[str, str]) -> Iterator[str]:
    """Values of other records of the file at the same place at the start."""
    tree = tree_at(start, effect.container)
    if tree is None or not effect.address:
        return iter(())
    parts = tuple(filled(part, parameters) for part in effect.address_template)
    parents = [part if tree.at(parts[:depth]) else ANY for depth, part in enumerate(parts[:-1], 1)]
    found = (
        cut_text(text_of(node), _LONGEST_SAMPLE)
        for address, node in tree.walk()
        if node.value is not None and len(address) == len(parts)
        if all(part in (ANY, name) for name, part in zip(address, (*parents, parts[-1]), strict=True))
    )
    return islice(found, _MOST_SAMPLES)


def _starting_file(file: FileState, first_fields: Sequence[str]) -> StartingFile:
    if file.text is None:
        return StartingFile(path=file.path)
    name, tree = read(file.path, file.text)
    all_fields = (node.name for _, node in tree.walk() if node.naming == "field" and node.name)
    fields = dict.fromkeys((*first_fields, *all_fields)) if name != FALLBACK else ()
    return StartingFile(path=file.path, format=name, fields=tuple(fields)[:_MOST_FIELDS])


def without_ends(message: str, trajectories: Sequence[Trajectory]) -> str:
    """`message` without values that performances ended with and that are neither in the instruction or start
    nor the same in every performance; cases that then read the same are merged."""
    values: set[str] = set()
    changes = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    shown = set(constants(trajectories, changes).values())
    for trajectory, found in zip(trajectories, changes, strict=True):
        known_text = " ".join((trajectory.instruction, *trajectory.parameters.values()))
        known = {effect.before for effect in found} | shown
        ends = [effect.after for effect in found if effect.after]
        texts = {text.strip() for end in ends for text in (end, *end.splitlines())}
        values |= {text for text in texts - known if len(text) >= _SHORTEST_END and text not in known_text}
    for value in sorted(values, key=len, reverse=True):
        for form in dict.fromkeys((repr(value), repr(value)[1:-1], value)):
            message = message.replace(form, HIDDEN)
    return "\n".join(line for line, _ in groupby(message.split("\n")))
