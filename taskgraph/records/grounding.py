"""Finding a described control among live ones: by text, type and parent, never by stored coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from resources.applications import ControlQuery
from taskgraph.records.interaction import Control
from taskgraph.text_folding import same_label


def find_control(query: ControlQuery, controls: Sequence[Control]) -> Control | None:
    """The control that `query` describes, or None.

    Text, type and parent must agree where the query gives them; of several matches the enabled ones come first
    and `ordinal` chooses. Parents are given up before the answer is None: a tree may be laid out anew between
    two visits while the control itself stays what it was.
    """
    for use_parent in (True, False) if query.parent_text or query.parent_type else (True,):
        matches = [control for control in controls if _matches(query, control, use_parent=use_parent)]
        matches = [control for control in matches if not control.disabled] or matches
        if matches and -len(matches) <= query.ordinal < len(matches):
            return matches[query.ordinal]
    return None


def describe_control(control: Control, controls: Sequence[Control]) -> ControlQuery:
    """The query, ordinal included, by which `find_control` finds `control` again among `controls`."""
    query = control.describe()
    matches = [other for other in controls if _matches(query, other, use_parent=True)]
    matches = [other for other in matches if not other.disabled] or matches
    position = next((index for index, other in enumerate(matches) if other.label == control.label), 0)
    return query.model_copy(update={"ordinal": position})


def _matches(query: ControlQuery, control: Control, *, use_parent: bool) -> bool:
    if query.text and not same_label(query.text, control.text):
        return False
    if query.control_type and query.control_type != control.control_type:
        return False
    if not use_parent:
        return True
    if query.parent_type and query.parent_type != control.parent_type:
        return False
    return not query.parent_text or same_label(query.parent_text, control.parent_text)
