"""Evidence of work that is not the subtask's: unfinished, done with other values, or of other subtasks.

Whether work is unfinished is decided by what lasts (files, clipboard), and by the screen if outputs are there
or nothing lasting changes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.operators import altered
from taskloom.evaluators_api.state.reading import FALLBACK, read, tree_at
from taskloom.evaluators_api.state.records import fields_around, records_of
from taskloom.evaluators_api.state.templates import filled, parameters_named, templated
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.trajectory import Trajectory

_MOST_OTHER_SUBTASKS = 8
_MOST_PARAMETER_SETS = 6
_SHORTEST_SHOWN = 3
_LONGEST_ENTRY = 65_536
_FIELD = "Edit"
_SHOWN_CHANGES = 3


def unfinished_work(subject: Subject) -> Iterator[Case]:
    """Nothing done, only some steps done, or all inputs made without a result."""
    description = f"nothing was done at all.{_missing_text(subject, subject.start)}"
    yield subject.case("no_op", description, subject.start)
    steps = subject.positive.steps
    states = [subject.start, *(step.evidence for step in steps)]
    unfinished = [index for index, state in enumerate(states[:-1]) if not subject.is_reached(state)]
    for index in filter(None, unfinished):
        step = steps[index - 1]
        action = step.action.operation.replace("_input", "").replace("_", " ")
        action += f" on {step.target.text!r}" if step.target is not None and step.target.text else ""
        description = f"only the first {index} of {len(steps)} steps were done, the last of them {action}."
        yield subject.case("truncation", description + _missing_text(subject, states[index]), states[index])
    # All inputs without their results: nothing changed, or only as much as before the result.
    inputs = {"inputs": subject.end.inputs, "step": subject.end.step}
    for index in dict.fromkeys((0, unfinished[-1])) if 0 in unfinished else ():
        outcome = f"all is as after step {index}, and no more came of it" if index else "nothing changed"
        description = f"every click was made and every text typed, but {outcome}."
        description += _missing_text(subject, states[index])
        yield subject.case("not_saved", description, states[index].model_copy(update=inputs))


def _missing_text(subject: Subject, evidence: Evidence) -> str:
    missing = [effect.describe() for effect in subject.missing(subject.essential or subject.shown, evidence)]
    more = f"; and {len(missing) - _SHOWN_CHANGES} more" if len(missing) > _SHOWN_CHANGES else ""
    return f" Missing: {'; '.join(missing[:_SHOWN_CHANGES])}{more}" if missing else ""


def wrong_parameters(subject: Subject, other_sets: Sequence[Mapping[str, str]]) -> Iterator[Case]:
    """The finished state, to be judged with other values: other sets, each value changed alone, two values
    exchanged.

    Sets that were already fulfilled before the first step are left out: there was nothing left to do, and
    the account of side effects notices what else was changed. A value without a trace in the state, because
    another one represents it, is not changed alone, nor is one that the application ties to another: no valid
    task would combine them. The names of several changed records are changed alone but not exchanged, because
    the same may have been done to both; two things in one archive are neither exchanged nor made equal.
    """
    own = subject.positive.parameters
    traced, named = traced_parameters(subject), _names_of_changed_records(subject)
    tied, together = tied_parameters(subject), _packed_together(subject)
    sets = map(dict, other_sets)
    others = [item for item in sets if item != own and not _held_at_start(subject, item)]
    for other in others[:_MOST_PARAMETER_SETS]:
        description = f"the work was done for {_values(own)}, but {_values(other)} was asked for"
        yield _wrong_parameter(subject, other, description)
    for name, value in own.items():
        if not value.strip() or name not in traced | named or any(name in pair for pair in tied):
            continue
        other_value = next((item[name] for item in others if item.get(name, value) != value), "")
        for wrong in dict.fromkeys((other_value, altered(value))):
            twins = {own[other] for pair in together if name in pair for other in pair - {name}}
            if wrong and wrong not in twins:
                description = (
                    f"{name} is {value!r}, but {name}={wrong!r} was asked for, all else being the same"
                )
                yield _wrong_parameter(subject, {**own, name: wrong}, description)
    for one, two in combinations(own, 2):
        if own[one] != own[two] and {one, two} <= traced and {one, two} not in (*tied, *together):
            description = f"{one} and {two} were exchanged: {own[one]!r} and {own[two]!r}"
            yield _wrong_parameter(subject, {**own, one: own[two], two: own[one]}, description)


def _packed_together(subject: Subject) -> list[set[str]]:
    """Pairs of parameters that are packed into, or come from, one archive, whose contents have no order."""
    own = subject.positive.parameters
    ends = [
        (item.kind, *((item.target, item.source) if item.kind == "packed" else (item.source, item.target)))
        for item in subject.origins
        if item.kind in ("packed", "unpacked")
    ]
    packed = sorted({(*end[:2], name) for end in ends for name, value in own.items() if value == end[2]})
    return [{one[2], two[2]} for one, two in combinations(packed, 2) if one[:2] == two[:2]]


def _held_at_start(subject: Subject, parameters: Mapping[str, str]) -> bool:
    """Whether, for these parameters, the fields that the work changes had their new values at the start."""
    for effect in subject.required:
        tree = tree_at(subject.start, filled(effect.container_template, parameters))
        if effect.kind != "changed" or tree is None:
            return False
        field = tree.at(tuple(filled(part, parameters) for part in effect.address_template))
        if field is None or field.value != filled(effect.after_template or "", parameters):
            return False
    return bool(subject.required)


def traced_parameters(subject: Subject) -> frozenset[str]:
    """Parameters whose value, or the name of the file it is a path of, is in an essential change or its
    source.

    Of a folder and a path in it that are both parameters, the path represents both. A short value on the
    screen, such as a digit, does not count.
    """
    own = subject.positive.parameters
    traced: set[str] = set()
    for effect in (*subject.required, *subject.shown):
        shown = effect.area == "screen"
        before = effect.before_template if effect.area == "file" else ""
        places = (effect.container_template, *effect.address_template[shown:])
        named = parameters_named(*places, before, effect.after_template)
        traced |= {name for name in named if not shown or len(own[name]) >= _SHORTEST_SHOWN}
    for origin in subject.origins:
        places = (origin.source, origin.source_at, origin.target_at, *origin.belonging_to.values())
        traced |= parameters_named(*(templated(part, own) for part in places))
    return frozenset(
        name
        for name, value in own.items()
        if name in traced and not any(other.startswith(f"{value}/") for other in own.values())
    )


def _names_of_changed_records(subject: Subject) -> set[str]:
    """Parameters that identify the changed records, if there are several and no single parameter identifies
    all."""
    named: dict[tuple[str, ...], set[str]] = {}
    for effect in subject.required:
        tree = tree_at(subject.end, effect.container) if effect.area == "file" else None
        if effect.kind != "changed" or tree is None:
            continue
        place, held = fields_around(tree, effect.address)
        found = {name for name, value in subject.positive.parameters.items() if value in held.values()}
        if found:
            named.setdefault((effect.container, *place), set()).update(found)
    groups = list(named.values())
    return set[str]().union(*groups) if len(groups) > 1 and not set.intersection(*groups) else set()


def tied_parameters(subject: Subject) -> tuple[frozenset[str], ...]:
    """Pairs of parameters that the application combines at the start: the number and the title of a track in
    one entry of its list, the name of a job and the file it writes in one section of its settings."""
    own = {name: value for name, value in subject.positive.parameters.items() if value.strip()}
    entries = [control.text for control in subject.start.controls if control.text]
    for file in subject.start.files:
        if file.path.startswith(f"{APPLICATIONS_FOLDER}/") and file.text and not file.truncated:
            entries += _entries(file.path, file.text, own.values())
    named = [
        {name for name, value in own.items() if value in entry and has_phrase(value, entry)}
        for entry in entries
    ]
    return tuple(
        frozenset((one, two))
        for one, two in combinations(own, 2)
        if own[one] not in own[two]
        and own[two] not in own[one]
        and any({one, two} <= names for names in named)
    )


def _entries(path: str, text: str, values: Iterable[str]) -> list[str]:
    """The text of each record of a file, for files that mention at least two of the values."""
    if sum(value in text for value in values) <= 1:
        return []
    form, tree = read(path, text)
    if form == FALLBACK:
        return [] if len(text) > _LONGEST_ENTRY else text.splitlines()
    return [f"{record.name} {record.content()}" for record in records_of(tree)]


def recordings_with_other_parameters(subject: Subject) -> Iterator[Case]:
    """Recordings of the same subtask with other values, judged with the subject's; if nothing lasts, also
    with the subject's values typed over them, while the result of the others is still shown."""
    own = subject.positive.parameters
    for other in (item for item in subject.others if item.parameters != own):
        description = f"was done for {_values(other.parameters)}, but {_values(own)} was asked for"
        start, end = other.initial_evidence, other.final_evidence
        yield subject.case("wrong_parameter", f"the same subtask {description}", end, start, excusable=True)
        if subject.essential:
            continue
        replacements = {value: own.get(name, value) for name, value in other.parameters.items()}
        controls = tuple(
            control.model_copy(update={"value": replacements.get(control.value.strip(), control.value)})
            if control.control_type == _FIELD
            else control
            for control in end.controls
        )
        if controls != end.controls and _labels(controls) != _labels(subject.end.controls):
            description = f"the same was done for {_values(other.parameters)}, and {_values(own)}"
            end = end.model_copy(update={"controls": controls})
            yield subject.case("wrong_value", f"{description} was only typed over it", end, start)


def _labels(controls: Sequence[Control]) -> set[str]:
    return {control.text for control in controls if control.control_type != _FIELD}


def other_subtasks(subject: Subject, others: Sequence[Trajectory]) -> Iterator[Case]:
    """One recording per other subtask, those of its application first, and of these, those that share the
    most values, such as Restart for Stop.

    One that makes all changes of this subtask is not wrong work: moving a file away also removes it.
    """
    own = subject.positive
    application, values = own.subtask_id.partition(".")[0], set(own.parameters.values())
    seen = {own.subtask_id}

    def rank(item: Trajectory) -> tuple[bool, int, str]:
        shared = len(values & set(item.parameters.values()))
        return item.subtask_id.partition(".")[0] != application, -shared, item.subtask_id

    for other in sorted(others, key=rank):
        if len(seen) > _MOST_OTHER_SUBTASKS or other.subtask_id in seen:
            continue
        start, end = other.initial_evidence, other.final_evidence
        if not subject.missing((*subject.required, *subject.shown), end, start):
            continue
        seen.add(other.subtask_id)
        description = f"another subtask was done: {other.instruction}"
        yield subject.case("other_subtask", description, end, start, excusable=True)


def _wrong_parameter(subject: Subject, parameters: Mapping[str, str], description: str) -> Case:
    return subject.case("wrong_parameter", description, subject.end, parameters=parameters, excusable=True)


def _values(parameters: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "no parameters"
