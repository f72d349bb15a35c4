"""Something else was given at the start: what was pasted, imported, exported or counted was not this.

With the recorded end that is wrong work; with an end that holds the other content as well it is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from taskloom.evaluators_api.state.editing import change_of, rewritten, text_at, undone, with_edits, with_text
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.operators import altered
from taskloom.evaluators_api.state.reading import FALLBACK, read
from taskloom.evaluators_api.state.records import parts_of, records_of, text_of
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.prompts.shown_effects import Origin
from taskloom.synthesis.evaluation_functions.origins import SCREEN
from taskloom.synthesis.examination.subject import Case, Subject
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import CLIPBOARD, Evidence, FileState

_States = tuple[Evidence, Evidence]
_Address = tuple[str, ...]
_Edit = tuple[Node, str | None]
_MOST_VALUES = 200
_MOST = 8
_FEWEST = 2
_SHORTEST_NAMED, _SHORTEST = 3, 4
_OTHER_CONTENT = "Quite another note, zq7"
_FIELD = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def other_content_given(subject: Subject) -> Iterator[Case]:
    """Wrong work: for each place that holds what was somewhere at the start, all these sources held something
    else, and the end is the same."""
    explained = {
        effect.container or CLIPBOARD
        for effect in subject.asked
        if effect.address in ((), ("text",)) and _is_given(effect.after_template or "")
    }
    sources: dict[str, set[str]] = {}
    for origin in subject.origins:
        sources.setdefault(origin.target, set()).add(origin.source)
    for target, places in sources.items():
        if SCREEN in places or target in explained:
            continue
        states = (subject.start, subject.end)
        for place in places:
            states = _with_other(*states, place, target)
        if states[0] is not subject.start:
            told = f"{' and '.join(sorted(places))} held something else at the start than what is in"
            yield subject.case("wrong_value", f"{told} {target} now", states[1], states[0])


def given_otherwise(subject: Subject) -> Iterator[Case]:
    """Right work: for each value and each file that was taken over, the same where it was another one at the
    start."""
    held = (subject.start.clipboard.text or "").strip()
    if len(held) >= _SHORTEST and any(held in _plain(effect.after) for effect in subject.asked):
        told = f"the same was done when the clipboard held {_OTHER_CONTENT!r}"
        begin, end = _with_all(subject, held, _OTHER_CONTENT)
        yield subject.case("second_positive", told, end, begin)
    seen: set[tuple[str, str]] = set()
    for origin in subject.origins:
        place = (origin.source, origin.source_at)
        states = _otherwise(subject, origin) if place not in seen and len(seen) < _MOST else None
        if states is not None:
            seen.add(place)
            told = f"the same was done when {': '.join(filter(None, place))} held something else"
            yield subject.case("second_positive", told, states[1], states[0])


def _is_given(template: str) -> bool:
    """Whether the parameters say all of a text, so that it comes from nowhere else."""
    return "{" in template and not re.search(r"\w", _FIELD.sub("", template))


def _plain(text: str | None) -> str:
    return (text or "").replace("\r\n", "\n")


def _with_other(start: Evidence, end: Evidence, place: str, target: str) -> _States:
    """Both ends with other content at `place`; at the end only where it is still what it was."""
    file, held = start.file(place), text_at(start, place)
    text = altered(held or "") if place == CLIPBOARD else None if file is None else _altered_file(file)
    if text is None:
        return start, end
    kept = place != target and text_at(end, place) == held
    return with_text(start, place, text), with_text(end, place, text) if kept else end


def _altered_file(file: FileState) -> str | None:
    """The text of a file without its last record, and with other values in all others; where there are very
    many, in the longest."""
    if not file.text or file.truncated:
        return None
    tree = read(file.path, file.text)[1]
    rows = tree.at(("rows",))
    records = rows.children if rows is not None else list(records_of(tree))
    gone = next((node for node in reversed(records) if node.extent is not None), None)
    cuts: list[_Edit] = [(gone, None)] if gone is not None and len(records) > 1 else []
    begin, end = (gone.extent if gone is not None and cuts else None) or (0, 0)
    said = [
        node
        for _, node in tree.walk()
        if node.naming != "schema" and (node.value or "").strip() and not begin <= node.raw[0] < end
    ]
    said.sort(key=lambda node: -len(node.value or ""))
    values: list[_Edit] = [(node, altered(node.value or "")) for node in said[:_MOST_VALUES]]
    edits = [*cuts, *_possible(file.path, file.text, values)]
    return rewritten(file.path, file.text, edits) if edits else None


def _possible(path: str, text: str, edits: Sequence[_Edit]) -> Sequence[_Edit]:
    if not edits or rewritten(path, text, edits) is not None:
        return edits
    half = len(edits) // 2
    return [*_possible(path, text, edits[:half]), *_possible(path, text, edits[half:])] if half else []


def _otherwise(subject: Subject, origin: Origin) -> _States | None:
    source = subject.start.file(origin.source)
    if source is None or not source.text or source.truncated:
        return None
    if origin.kind == "records":
        return _one_less(subject, source)
    old, new, places = source.text, None, {}
    if origin.kind == "field":
        places = {origin.target: parts_of(origin.target_at), origin.source: parts_of(origin.source_at)}
        node = read(source.path, source.text)[1].at(places[origin.source])
        old = "" if node is None else text_of(node)
        new = None if has_phrase(old, subject.positive.instruction) else altered(old)
    elif origin.kind == "whole":
        places = {origin.target: (), origin.source: ()}
        new = _altered_file(source)
    if new is None or not old.strip() or _named_in(subject, old):
        return None
    states = _with_all(subject, old, new, places)
    made, was = (text_at(state, origin.target) for state in (states[1], subject.end))
    return None if made == was or text_at(states[0], origin.source) == source.text else states


def _with_all(subject: Subject, old: str, new: str, places: Mapping[str, _Address] | None = None) -> _States:
    """Both ends as they would be if `old` had been `new` from the start, wherever it stood; in files only at
    `places`, where they are given."""
    old, new = old.strip(), new.strip()
    return _with_new(subject.start, old, new, places), _with_new(subject.end, old, new, places)


def _with_new(evidence: Evidence, old: str, new: str, places: Mapping[str, _Address] | None) -> Evidence:
    if _plain(evidence.clipboard.text).strip() == old:
        evidence = with_text(evidence, CLIPBOARD, new)
    longest = max(_WORD.findall(old), key=len, default="")
    for file in evidence.files:
        text = _plain(file.text)
        if longest not in text or (places is not None and file.path not in places):
            continue
        form, tree = read(file.path, file.text or "")
        if text.strip() == old or (form == FALLBACK and old in text):
            evidence = with_text(evidence, file.path, text.replace(old, new))
            continue
        within = tree.at(() if places is None else places[file.path])
        leaves = () if within is None else (node for _, node in within.walk())
        edits: list[_Edit] = [(node, new) for node in leaves if _plain(node.value).strip() == old]
        evidence = (with_edits(evidence, file.path, edits) if edits else None) or evidence
    return evidence if len(old) < _SHORTEST else _showing(evidence, old, new)


def _showing(evidence: Evidence, old: str, new: str) -> Evidence:
    """The state with `new` on the screen where it showed `old`: what was open showed what it held."""
    whole = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    controls = []
    for control in evidence.controls:
        shown = {name: whole.sub(lambda _: new, getattr(control, name)) for name in ("text", "value")}
        controls.append(control.model_copy(update=shown))
    return evidence.model_copy(update={"controls": tuple(controls)})


def _one_less(subject: Subject, source: FileState) -> _States | None:
    """The source had one record less, and so have the files that it was taken over into: how many there are
    is no part of the work."""
    records = [
        node
        for node in records_of(read(source.path, source.text or "")[1], outermost=True)
        if node.extent is not None
    ]
    if len(records) < _FEWEST or _named_in(subject, records[-1].content()):
        return None
    gone, end = records[-1], subject.end
    for path in subject.files:
        added = (item for item in subject.asked if item.container == path and item.kind == "added")
        copy = next((item for item in added if _is_copy(subject, item, gone)), None)
        end = (undone(subject.start, end, copy) if copy is not None else None) or end
    rest = rewritten(source.path, source.text or "", [(gone, None)])
    if end is subject.end or rest is None:
        return None
    kept = text_at(end, source.path) == source.text
    return with_text(subject.start, source.path, rest), with_text(end, source.path, rest) if kept else end


def _is_copy(subject: Subject, effect: Effect, record: Node) -> bool:
    change = change_of(subject.start, subject.end, effect) if effect.address else None
    made = change.after if change is not None else None
    values = {node.value for _, node in record.walk()}
    return made is not None and bool(made.children) and values <= {node.value for _, node in made.walk()}


def _named_in(subject: Subject, text: str) -> bool:
    """Whether a parameter stands in `text`, so that it cannot be something else."""
    values = subject.positive.parameters.values()
    return any(len(value) >= _SHORTEST_NAMED and value in text for value in values)
