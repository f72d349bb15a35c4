"""Other content at the start: what was pasted, imported, exported or counted was different.

With the recorded end that is wrong work; with an end that also holds the other content, it is right.
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
_MOST_CASES = 8
_FEWEST_RECORDS = 2
_SHORTEST_PARAMETER, _SHORTEST_VALUE = 3, 4
_OTHER_CONTENT = "Quite another note, zq7"
_FIELD = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def sources_changed_alone(subject: Subject) -> Iterator[Case]:
    """Wrong work: for each place whose content was elsewhere at the start, all its sources held something
    else, and the end is the same."""
    explained = {
        effect.container or CLIPBOARD
        for effect in subject.required
        if effect.address in ((), ("text",)) and _is_from_parameters(effect.after_template or "")
    }
    sources: dict[str, set[str]] = {}
    for origin in subject.origins:
        sources.setdefault(origin.target, set()).add(origin.source)
    for target, places in sources.items():
        if SCREEN in places or target in explained:
            continue
        states = (subject.start, subject.end)
        for place in places:
            states = _change_source(*states, place, target)
        if states[0] is not subject.start:
            description = f"{' and '.join(sorted(places))} held something else at the start than what is in"
            yield subject.case("wrong_value", f"{description} {target} now", states[1], states[0])


def sources_changed_throughout(subject: Subject) -> Iterator[Case]:
    """Right work: for each value and file that was carried over, the same work had it been different at
    the start."""
    held = (subject.start.clipboard.text or "").strip()
    if len(held) >= _SHORTEST_VALUE and any(held in _unix_lines(effect.after) for effect in subject.required):
        description = f"the same was done when the clipboard held {_OTHER_CONTENT!r}"
        start, end = _rewrite(subject, held, _OTHER_CONTENT)
        yield subject.case("second_positive", description, end, start)
    seen: set[tuple[str, str]] = set()
    for origin in subject.origins:
        place = (origin.source, origin.source_at)
        states = _change_origin(subject, origin) if place not in seen and len(seen) < _MOST_CASES else None
        if states is not None:
            seen.add(place)
            description = f"the same was done when {': '.join(filter(None, place))} held something else"
            yield subject.case("second_positive", description, states[1], states[0])


def _is_from_parameters(template: str) -> bool:
    """Whether the parameters determine all of a text, so it has no other source."""
    return "{" in template and not re.search(r"\w", _FIELD.sub("", template))


def _unix_lines(text: str | None) -> str:
    return (text or "").replace("\r\n", "\n")


def _change_source(start: Evidence, end: Evidence, place: str, target: str) -> _States:
    """Start and end with other content at `place`; at the end only if it is unchanged there."""
    file, content = start.file(place), text_at(start, place)
    text = altered(content or "") if place == CLIPBOARD else None if file is None else _alter_file(file)
    if text is None:
        return start, end
    unchanged = place != target and text_at(end, place) == content
    return with_text(start, place, text), with_text(end, place, text) if unchanged else end


def _alter_file(file: FileState) -> str | None:
    """The text of a file without its last record, and with other values in all others, or in the longest if
    there are very many."""
    if not file.text or file.truncated:
        return None
    tree = read(file.path, file.text)[1]
    rows = tree.at(("rows",))
    records = rows.children if rows is not None else list(records_of(tree))
    last = next((node for node in reversed(records) if node.extent is not None), None)
    cuts: list[_Edit] = [(last, None)] if last is not None and len(records) > 1 else []
    begin, end = (last.extent if last is not None and cuts else None) or (0, 0)
    nodes = [
        node
        for _, node in tree.walk()
        if node.naming != "schema" and (node.value or "").strip() and not begin <= node.raw[0] < end
    ]
    nodes.sort(key=lambda node: -len(node.value or ""))
    values: list[_Edit] = [(node, altered(node.value or "")) for node in nodes[:_MOST_VALUES]]
    edits = [*cuts, *_applicable(file.path, file.text, values)]
    return rewritten(file.path, file.text, edits) if edits else None


def _applicable(path: str, text: str, edits: Sequence[_Edit]) -> Sequence[_Edit]:
    if not edits or rewritten(path, text, edits) is not None:
        return edits
    half = len(edits) // 2
    return [*_applicable(path, text, edits[:half]), *_applicable(path, text, edits[half:])] if half else []


def _change_origin(subject: Subject, origin: Origin) -> _States | None:
    source = subject.start.file(origin.source)
    if source is None or not source.text or source.truncated:
        return None
    if origin.kind == "records":
        return _with_one_record_less(subject, source)
    old, new, places = source.text, None, {}
    if origin.kind == "field":
        places = {origin.target: parts_of(origin.target_at), origin.source: parts_of(origin.source_at)}
        node = read(source.path, source.text)[1].at(places[origin.source])
        old = "" if node is None else text_of(node)
        new = None if has_phrase(old, subject.positive.instruction) else altered(old)
    elif origin.kind == "whole":
        places = {origin.target: (), origin.source: ()}
        new = _alter_file(source)
    if new is None or not old.strip() or _named_in(subject, old):
        return None
    states = _rewrite(subject, old, new, places)
    changed, recorded = (text_at(state, origin.target) for state in (states[1], subject.end))
    return None if changed == recorded or text_at(states[0], origin.source) == source.text else states


def _rewrite(subject: Subject, old: str, new: str, places: Mapping[str, _Address] | None = None) -> _States:
    """Start and end as they would be if `old` had always been `new`, wherever it was; in files only at
    `places`, if given."""
    old, new = old.strip(), new.strip()
    return _rewrite_state(subject.start, old, new, places), _rewrite_state(subject.end, old, new, places)


def _rewrite_state(evidence: Evidence, old: str, new: str, places: Mapping[str, _Address] | None) -> Evidence:
    if _unix_lines(evidence.clipboard.text).strip() == old:
        evidence = with_text(evidence, CLIPBOARD, new)
    longest = max(_WORD.findall(old), key=len, default="")
    for file in evidence.files:
        text = _unix_lines(file.text)
        if longest not in text or (places is not None and file.path not in places):
            continue
        form, tree = read(file.path, file.text or "")
        if text.strip() == old or (form == FALLBACK and old in text):
            evidence = with_text(evidence, file.path, text.replace(old, new))
            continue
        within = tree.at(() if places is None else places[file.path])
        leaves = () if within is None else (node for _, node in within.walk())
        edits: list[_Edit] = [(node, new) for node in leaves if _unix_lines(node.value).strip() == old]
        evidence = (with_edits(evidence, file.path, edits) if edits else None) or evidence
    return evidence if len(old) < _SHORTEST_VALUE else _replace_on_screen(evidence, old, new)


def _replace_on_screen(evidence: Evidence, old: str, new: str) -> Evidence:
    """The state with `new` on the screen instead of `old`: open documents show what they hold."""
    whole = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    controls = []
    for control in evidence.controls:
        shown = {name: whole.sub(lambda _: new, getattr(control, name)) for name in ("text", "value")}
        controls.append(control.model_copy(update=shown))
    return evidence.model_copy(update={"controls": tuple(controls)})


def _with_one_record_less(subject: Subject, source: FileState) -> _States | None:
    """The source had one record fewer, and so do the files it was carried into: the number of records is no
    part of the work."""
    records = [
        node
        for node in records_of(read(source.path, source.text or "")[1], outermost=True)
        if node.extent is not None
    ]
    if len(records) < _FEWEST_RECORDS or _named_in(subject, records[-1].content()):
        return None
    last, end = records[-1], subject.end
    for path in subject.files:
        added = (item for item in subject.required if item.container == path and item.kind == "added")
        copy = next((item for item in added if _is_copy(subject, item, last)), None)
        end = (undone(subject.start, end, copy) if copy is not None else None) or end
    rest = rewritten(source.path, source.text or "", [(last, None)])
    if end is subject.end or rest is None:
        return None
    if text_at(end, source.path) == source.text:
        end = with_text(end, source.path, rest)
    return with_text(subject.start, source.path, rest), end


def _is_copy(subject: Subject, effect: Effect, record: Node) -> bool:
    change = change_of(subject.start, subject.end, effect) if effect.address else None
    copy = change.after if change is not None else None
    values = {node.value for _, node in record.walk()}
    return copy is not None and bool(copy.children) and values <= {node.value for _, node in copy.walk()}


def _named_in(subject: Subject, text: str) -> bool:
    """Whether a parameter is in `text`, so it cannot be different."""
    values = subject.positive.parameters.values()
    return any(len(value) >= _SHORTEST_PARAMETER and value in text for value in values)
