"""Evidence in which something else was given at the start: what is pasted, imported, exported or counted was
not this.

A consumer of content must fail when the content is not the one it was given, so its function must look at the
start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from taskloom.evaluators_api.state.editing import with_text
from taskloom.evaluators_api.state.reading import all_formats, read
from taskloom.evaluators_api.state.records import records_of
from taskloom.synthesis.evaluation_functions.origins import SCREEN, origins
from taskloom.synthesis.examination.altering import altered
from taskloom.synthesis.examination.cases import Case
from taskloom.synthesis.examination.subject import Subject
from taskloom.taskgraph.records.evidence import Evidence, FileState

CLIPBOARD = "clipboard"
_MOST_VALUES = 200
_FIELD = re.compile(r"\{[^{}]*\}")
_WORDS = re.compile(r"\w")


def other_content_given(subject: Subject) -> Iterator[Case]:
    """For each place that holds what was somewhere at the start: all these sources held something else, the
    end is the same."""
    explained = {
        effect.container or CLIPBOARD
        for effect in subject.asked
        if effect.address in ((), ("text",)) and _is_given(effect.after_template or "")
    }
    containers = list(dict.fromkeys(effect.container for effect in subject.asked if effect.area == "file"))
    sources: dict[str, set[str]] = {}
    named = tuple(subject.positive.parameters.values())
    for origin in origins(subject.start, subject.end, containers, named):
        sources.setdefault(origin.target, set()).add(origin.source)
    for target, places in sources.items():
        if SCREEN in places or target in explained:
            continue
        start, end = subject.start, subject.end
        for place in places:
            start, end = _with_other(start, end, place, target)
        if start is not subject.start:
            yield Case(
                "wrong_value",
                f"{' and '.join(sorted(places))} held something else at the start than what is in"
                f" {target} now",
                subject.positive.parameters,
                end,
                start,
                change=f"{target}: its content",
            )


def _is_given(template: str) -> bool:
    """Whether the parameters say all of a text, so that it comes from nowhere else."""
    return "{" in template and not _WORDS.search(_FIELD.sub("", template))


def _with_other(start: Evidence, end: Evidence, place: str, target: str) -> tuple[Evidence, Evidence]:
    """Both ends with other content at `place`; at the end only where it is still what it was."""
    if place == CLIPBOARD:
        held = start.clipboard
        start = start.model_copy(
            update={"clipboard": held.model_copy(update={"text": altered(held.text or "")})}
        )
        if end.clipboard == held and target != CLIPBOARD:
            end = end.model_copy(update={"clipboard": start.clipboard})
        return start, end
    before = start.file(place)
    text = None if before is None else altered_file(before)
    if before is None or text is None:
        return start, end
    after = end.file(place)
    if after is not None and after.text == before.text:
        end = with_text(end, place, text)
    return with_text(start, place, text), end


def altered_file(file: FileState) -> str | None:
    """The text of a file without its last record, and with other values in all others; where there are very
    many, in the longest."""
    if not file.text or file.truncated:
        return None
    name, tree = read(file.path, file.text)
    rows = tree.at(("rows",))
    records = rows.children if rows is not None else list(records_of(tree))
    last = next((node.extent for node in reversed(records) if node.extent is not None), None)
    gone = last if len(records) > 1 else None
    edits = [] if gone is None else [(gone, "")]
    for node in sorted((node for _, node in tree.walk()), key=lambda node: -len(node.value or "")):
        if (
            node.value is None
            or not node.value.strip()
            or node.naming == "schema"
            or len(edits) > _MOST_VALUES
        ):
            continue
        inside = gone is not None and gone[0] <= node.raw[0] < gone[1]
        written = None if inside else all_formats()[name].encode(altered(node.value), node, file.text)
        if written is not None:
            edits.append((node.raw, written))
    text = file.text
    for (begin, finish), written in sorted(edits, reverse=True):
        text = text[:begin] + written + text[finish:]
    return text if edits else None
