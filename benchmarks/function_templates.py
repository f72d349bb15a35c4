"""Good and flawed evaluation functions for a recorded subtask, made from templates.

A good one states what a careful person would: every lasting change of the recordings, in terms of the parameters; and what
the screen shows where nothing lasting changes. The flawed ones are wrong by construction, each in a way that the recordings
themselves demonstrate. Nothing here asks whether the examination accepts a function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from synthesis.examination.state_comparison import is_volatile, lasting_state

from benchmarks.recordings import RecordedSubtask
from evaluators_api.checks.declaration import Scene
from evaluators_api.checks.registry import checks
from evaluators_api.evidence.evidence_view import EvidenceView
from evaluators_api.evidence.ocr import ScreenReader
from synthesis.examination.unfinished_work import unfinished_steps
from taskgraph.records.evidence import Evidence
from taskgraph.records.trajectory import Trajectory

_READER = ScreenReader()
_SHORTEST_SHOWN = 3


@dataclass(frozen=True)
class Fact:
    """A call of a check whose text arguments are expressions over the parameters."""

    check: str
    arguments: tuple[str, ...]
    """Names of parameters, or Python literals."""
    negated: bool = False

    @property
    def source(self) -> str:
        """The fact as Python."""
        call = f"{self.check}({', '.join(self.arguments)})"
        return f"not {call}" if self.negated else call

    def mentions(self, name: str) -> bool:
        """Whether a parameter occurs in it."""
        return any(name in argument for argument in self.arguments)

    def holds(self, evidence: Evidence, parameters: Mapping[str, str]) -> bool:
        """Whether it is so in `evidence`."""
        scene = Scene(EvidenceView(evidence), _READER)
        doors = {"get_clipboard_text": lambda: evidence.clipboard.text or ""}
        values = tuple(eval(argument, doors, dict(parameters)) for argument in self.arguments)
        return bool(checks()[self.check].ask(scene, values, {})[1]) is not self.negated


@dataclass(frozen=True)
class Labelled:
    """A function with the label a person would give it."""

    name: str
    good: bool
    source: str


def labelled_functions(recorded: RecordedSubtask) -> list[Labelled]:
    """One good function and all flawed ones that this subtask allows; empty where no good one can be written."""
    facts = good_facts(recorded)
    if not facts:
        return []
    names = tuple(recorded.subtask.available_parameters[0])
    good = Labelled("good", True, function(names, [fact.source for fact in facts]))
    flawed: dict[str, Labelled] = {}
    for item in _flawed(recorded, names, facts):
        if all(item.source != other.source for other in (good, *flawed.values())):
            flawed.setdefault(item.name, item)
    return [good, *flawed.values()]


def good_facts(recorded: RecordedSubtask) -> list[Fact]:
    """Facts that together hold at the end of every recording and nowhere before the work was done, nor with the values
    of another parameter set (unless they are there from the start), and that cover what the subtask makes; none where checks cannot see the work."""
    holding = [fact for fact in dict.fromkeys(_candidates(recorded)) if _always_at_the_end(fact, recorded)]
    lasting = [fact for fact in holding if checks()[fact.check].reads in ("files", "clipboard")]
    chosen = lasting or [fact for fact in holding if checks()[fact.check].reads == "screen"]
    for name in made_parameters(recorded):
        if not any(fact.mentions(name) for fact in chosen):
            chosen += [fact for fact in holding if fact.mentions(name)][:1]
    if not _says_no_where_it_must(chosen, recorded):
        chosen += _only_at_the_end(recorded)
    covered = all(any(fact.mentions(name) for fact in chosen) for name in made_parameters(recorded))
    return chosen if covered and _says_no_where_it_must(chosen, recorded) else []


def _says_no_where_it_must(facts: Sequence[Fact], recorded: RecordedSubtask) -> bool:
    for item in recorded.trajectories:
        states = (item.initial_evidence, *(step.evidence for step in item.steps))
        wrong = [(states[number], item.parameters) for number in unfinished_steps(item)]
        wrong += [
            (item.final_evidence, other)
            for other in recorded.subtask.available_parameters
            if other != item.parameters
            and not all(fact.holds(item.initial_evidence, other) for fact in facts)
        ]
        if any(all(fact.holds(*case) for fact in facts) for case in wrong):
            return False
    return True


def _only_at_the_end(recorded: RecordedSubtask) -> list[Fact]:
    """Fixed texts that every recording shows at its end and at no step before."""
    common: set[str] | None = None
    for item in recorded.trajectories:
        texts = {
            control.text for control in item.final_evidence.controls if len(control.text) >= _SHORTEST_SHOWN
        }
        common = texts if common is None else common & texts
    facts = [Fact("check_text_exists_via_control", (repr(text),)) for text in sorted(common or ())]
    title = recorded.trajectories[0].final_evidence.window_title
    facts += [Fact("check_window", (repr(title),))] if title else []
    return [
        fact
        for fact in facts
        if all(
            fact.holds(item.final_evidence, item.parameters)
            and not any(
                fact.holds(evidence, item.parameters)
                for evidence in (item.initial_evidence, *(step.evidence for step in item.steps[:-1]))
            )
            for item in recorded.trajectories
        )
    ][:2]


def made_parameters(recorded: RecordedSubtask) -> list[str]:
    """Parameters whose values come to be by the subtask."""
    subtask = recorded.subtask
    outputs = {item.parameter for item in subtask.outputs if item.parameter}
    inputs = {item.parameter for item in subtask.inputs if item.parameter}
    return [
        name for name in subtask.available_parameters[0] if name in (outputs | set(subtask.fresh)) - inputs
    ]


def function(names: Sequence[str], conditions: Sequence[str]) -> str:
    """An evaluation function that demands all conditions."""
    lines = [f"def evaluate_agent_task_completion({', '.join(f'{name}: str' for name in names)}):"]
    for number, condition in enumerate(conditions):
        progress = f"{number} / {len(conditions)}"
        lines.append(f"    if not ({condition}):")
        lines.append(
            f"        return EvalResult(False, {f'it does not hold that {condition}'!r}, {progress})"
        )
    return "\n".join([*lines, "    return EvalResult(True, 'done', 1.0)", ""])


def _candidates(recorded: RecordedSubtask) -> Iterator[Fact]:
    first = recorded.trajectories[0]
    before, after, parameters = first.initial_evidence, first.final_evidence, first.parameters
    old = {file.path for file in before.files}
    new = {file.path for file in after.files}
    for name, value in parameters.items():
        if value in new - old:
            yield Fact("check_file_exists", (name,))
        if value in old - new:
            yield Fact("check_file_missing", (name,))
        yield Fact("check_directory_exists", (name,))
        for other in parameters:
            if other != name:
                yield Fact("check_file_contains", (name, other))
        yield Fact("check_any_file_contains", (name,))
        yield Fact("check_any_file_contains", (name,), negated=True)
        yield Fact("clipboard_contains_text", (name,))
        yield Fact("check_file_contains", (name, "get_clipboard_text()"))
    for file in after.files:
        if not is_volatile(file.path) and file.path not in old:
            expression = _expressed(file.path, parameters)
            if expression not in parameters and expression != repr(file.path):
                yield Fact("check_file_exists", (expression,))
                for name in parameters:
                    yield Fact("check_file_contains", (expression, name))
    for name in parameters:
        yield Fact("check_text_exists_via_control", (name,))
        yield Fact("check_window", (name,))
        yield Fact("check_window", (f"'/' + {name}",))
        yield Fact("check_text_exists_via_control", (f"{name}.rpartition('/')[2]",))
        yield Fact("check_window", (f"{name}.rpartition('/')[2]",))
        for label in dict.fromkeys(control.text for control in after.controls if control.value):
            yield Fact("check_control_value", (repr(label), name))


def _expressed(path: str, parameters: Mapping[str, str]) -> str:
    """The path as an expression over the parameters, where one of their values is part of it."""
    for name, value in parameters.items():
        if len(value) >= _SHORTEST_SHOWN and value in path and value != path:
            head, _, tail = path.partition(value)
            return f"{head!r} + {name} + {tail!r}"
    return repr(path)


def _always_at_the_end(fact: Fact, recorded: RecordedSubtask) -> bool:
    return all(
        fact.holds(item.final_evidence, item.parameters)
        and not fact.holds(item.initial_evidence, item.parameters)
        for item in recorded.trajectories
    )


def _flawed(recorded: RecordedSubtask, names: tuple[str, ...], facts: list[Fact]) -> Iterator[Labelled]:
    positive, *rest = recorded.trajectories
    state = [fact.source for fact in facts]
    clicked = _clicks(positive)
    typed = [f"check_keyboard_types({name})" for name in names if _typed(positive, name)]

    def flawed(name: str, *conditions: str) -> Labelled:
        return Labelled(name, False, function(names, conditions))

    standing = _standing_texts(recorded)
    for number, text in enumerate(standing[:2]):
        yield flawed(f"passes on no-op {number + 1}", f"check_text_exists_via_control({text!r})")
    yield flawed("passes without an error message", "not check_text_exists_via_control('An error occurred')")
    title = positive.initial_evidence.window_title
    if title and title == positive.final_evidence.window_title:
        yield flawed("checks the window only", f"check_window({title!r})")
    fixture = next(
        (file.path for file in positive.initial_evidence.files if file.path in _final_paths(positive)), ""
    )
    if fixture:
        yield flawed("checks a file that was there before", f"check_file_exists({fixture!r})")
    if clicked:
        yield flawed("route only: clicks", *clicked)
        yield flawed("route only: the last click", clicked[-1])
    if typed:
        yield flawed("route only: typed text", *typed)
        if clicked:
            yield flawed("route only: typed text and the last click", *typed, clicked[-1])
    if clicked or typed:
        yield flawed(
            "state or route", f"({' and '.join(state)}) or ({' and '.join([*clicked[-1:], *typed[-1:]])})"
        )
        yield flawed(
            "route and a text that is always there",
            *clicked,
            *typed,
            *(f"check_text_exists_via_control({text!r})" for text in standing[:1]),
        )
    frozen = [_frozen(fact, positive.parameters) for fact in facts]
    if any(
        len({item[name] for item in recorded.subtask.available_parameters}) > 1
        and any(fact.mentions(name) for fact in facts)
        for name in names
    ):
        yield flawed("values of one recording written into it", *frozen)
    for name in made_parameters(recorded):
        kept = [fact.source for fact in facts if not fact.mentions(name)]
        if kept:
            yield flawed(f"parameter {name} is not checked", *kept)
    for text in _shown_too_early(recorded):
        yield flawed("shown before it is stored", text)
    yield flawed("negated", *state[:-1], f"not ({state[-1]})")
    yield flawed(
        "too strict: demands what never is",
        *state,
        "check_text_exists_via_control('Operation completed successfully!')",
    )
    yield flawed(
        "too strict: demands a file nobody makes",
        *state,
        "check_file_exists('Documents/evaluation-report.txt')",
    )
    if rest and rest[0].parameters != positive.parameters:
        yield flawed(
            "too strict: values of another recording", *(_frozen(fact, rest[0].parameters) for fact in facts)
        )
    yield Labelled(
        "success and failure swapped",
        False,
        function(names, state)
        .replace("EvalResult(True", "EvalResult(0 > 1")
        .replace("EvalResult(False", "EvalResult(1 > 0"),
    )
    shown = standing[0] if standing else "x"
    half = [*clicked[:2], *typed[:1], f"check_text_exists_via_control({shown!r})"]
    yield Labelled(
        "half is enough",
        False,
        f"def evaluate_agent_task_completion({', '.join(names)}):\n"
        f"    held = [{', '.join([*half, state[0]])}]\n"
        f"    return EvalResult(sum(held) >= {max(1, len(half))}, 'half', sum(held) / len(held))\n",
    )


def _clicks(trajectory: Trajectory) -> list[str]:
    events = trajectory.final_evidence.inputs
    texts = [
        event.control.text
        for event in events
        if event.kind == "click" and event.control and event.control.text
    ]
    return [f"check_mouse_clicks({text!r})" for text in dict.fromkeys(texts)]


def _typed(trajectory: Trajectory, name: str) -> bool:
    return Fact("check_keyboard_types", (name,)).holds(trajectory.final_evidence, trajectory.parameters)


def _standing_texts(recorded: RecordedSubtask) -> list[str]:
    """Texts that every state of every recording shows, longest first."""
    seen: set[str] | None = None
    for trajectory in recorded.trajectories:
        for evidence in (trajectory.initial_evidence, *(step.evidence for step in trajectory.steps)):
            texts = {control.text for control in evidence.controls if len(control.text) >= _SHORTEST_SHOWN}
            seen = texts if seen is None else seen & texts
    return sorted(seen or (), key=lambda text: (-len(text), text))


def _final_paths(trajectory: Trajectory) -> set[str]:
    return {file.path for file in trajectory.final_evidence.files}


def _shown_too_early(recorded: RecordedSubtask) -> Iterator[str]:
    """Texts that the screen shows at the end and already before anything lasting came about."""
    for name in recorded.subtask.available_parameters[0]:
        fact = Fact("check_text_exists_via_control", (name,))
        early = True
        for item in recorded.trajectories:
            start = lasting_state(item.initial_evidence, item.parameters)
            if lasting_state(item.final_evidence, item.parameters) == start:
                return
            unsaved = [
                step.evidence for step in item.steps if lasting_state(step.evidence, item.parameters) == start
            ]
            early = early and any(fact.holds(evidence, item.parameters) for evidence in unsaved)
        if early and _always_at_the_end(fact, recorded):
            yield fact.source


def _frozen(fact: Fact, parameters: Mapping[str, str]) -> str:
    values = tuple(
        argument if "()" in argument else repr(eval(argument, {}, dict(parameters)))
        for argument in fact.arguments
    )
    return Fact(fact.check, values, fact.negated).source
