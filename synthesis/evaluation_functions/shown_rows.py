"""Rows of tables and lists on the screen: what they show of one thing, of all others, and of what
applications keep."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.evaluators_api.checks.rows import shows_records
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.text_matching import is_passing
from taskloom.taskgraph.records.evidence import Evidence

_LONGEST_TEXT = 400


def changed_rows(start: Evidence, end: Evidence) -> dict[str, tuple[str, ...]]:
    """What rows that were there show now and did not show before, times and numbers left out."""
    before, after = _rows(start), _rows(end)
    found = {
        name: tuple(text for text in texts if text not in before[name])
        for name, texts in after.items()
        if name in before
    }
    return {name: texts for name, texts in found.items() if texts}


def shown_parts(start: Evidence, end: Evidence) -> Iterator[tuple[str, str]]:
    """Tables that applications keep, all of whose records are on the screen and were not at the start."""
    if not view(end).rows:
        return
    for path in (item for item in end.files_by_path() if item.startswith(".applications/")):
        tree = view(end).tree(path)
        for part in tree.children if tree is not None else ():
            if shows_records(view(end), path, part.name) and not shows_records(view(start), path, part.name):
                yield path, part.name


def _rows(evidence: Evidence) -> dict[str, list[str]]:
    lasting = {
        name: [text for text in texts if len(text) <= _LONGEST_TEXT and not is_passing(text)]
        for name, texts in view(evidence).rows.items()
    }
    return {name: texts for name, texts in lasting.items() if texts}
