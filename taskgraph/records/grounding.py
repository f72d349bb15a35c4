"""Finding a described control: by text, type, parent, row and section, never by stored coordinates."""

import re
from collections.abc import Sequence

from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.text_folding import same_label

_DIALOG = "Dialog"
_COUNTED = frozenset({"TreeItem", "TabItem"})
"""Types of controls whose names may end with a count; in names of files, such a number is no count."""
_COUNT = re.compile(r"(?<=\S)\s+\(\d+\)$")
"""The count behind a control's name, such as the number of unread messages in "Drafts (2)"."""


def find_control(query: ControlQuery, controls: Sequence[Control]) -> Control | None:
    """The control that `query` describes, or None.

    Text, type, parent and row must match if the query gives them. Among several matches, enabled ones come
    first, then the section decides. Remaining ties are broken by `ordinal`, but only if there are as many
    as the query says: a recorded "second of three" means nothing among four.

    If nothing matches, the parent is ignored, since a tree may be rearranged between two visits while the
    control itself stays the same. A recorded control, or one identified by its parent's text, must then
    be the only match, lest the button of another row be taken. A control of a dialog is never looked for
    outside dialogs: until the dialog opens, a field of the page behind it may look the same.

    If still nothing matches, counts after names in a tree or tab bar are ignored, provided that exactly one
    control then matches.
    """
    match = _find(query, controls)
    if match is None and query.text and query.equals < 2 and not query.ordinal:
        without_count = query.model_copy(update={"text": _COUNT.sub("", query.text), "equals": 1})
        counted = [item for item in controls if item.control_type in _COUNTED]
        stripped = [item.model_copy(update={"text": _COUNT.sub("", item.text)}) for item in counted]
        match = _find(without_count, stripped)
        return None if match is None else counted[stripped.index(match)]
    return match


def _find(query: ControlQuery, controls: Sequence[Control]) -> Control | None:
    for use_parent in (True, False) if query.parent_text or query.parent_type else (True,):
        matches = _matching(query, controls, use_parent=use_parent)
        if not matches:
            continue
        if query.equals and len(matches) != (query.equals if use_parent else 1):
            continue
        if query.parent_text and not use_parent and len(matches) > 1:
            continue
        if not use_parent and query.equals:
            moved = (query.parent_type == _DIALOG) != (matches[0].parent_type == _DIALOG)
            return None if moved else matches[0]
        if -len(matches) <= query.ordinal < len(matches):
            return matches[query.ordinal]
    return None


def describe_control(control: Control, controls: Sequence[Control]) -> ControlQuery:
    """The query, ordinal included, by which `find_control` finds `control` again among `controls`."""
    query = control.describe().model_copy(update={"equals": 1})
    matches = _matching(query, controls, use_parent=True)
    position = next((index for index, other in enumerate(matches) if other.label == control.label), 0)
    return query.model_copy(update={"ordinal": position, "equals": len(matches)})


def name_query(query: ControlQuery) -> str:
    """The control as a person would name it.

    >>> name_query(ControlQuery(text="Edit", control_type="Hyperlink", row="Library hours"))
    "Hyperlink 'Edit' in row 'Library hours'"
    """
    where = f" in row {query.row!r}" if query.row else f" under {query.section!r}" if query.section else ""
    return f"{query.control_type or 'control'} {query.text!r}{where}"


def _matching(query: ControlQuery, controls: Sequence[Control], *, use_parent: bool) -> list[Control]:
    matches = [control for control in controls if _matches(query, control, use_parent=use_parent)]
    matches = [control for control in matches if not control.disabled] or matches
    if query.section is not None and len(matches) > 1:
        matches = [control for control in matches if _labels_match(query.section, control.section)]
    return matches


def _matches(query: ControlQuery, control: Control, *, use_parent: bool) -> bool:
    if (query.text or query.equals) and not _labels_match(query.text, control.text):
        return False
    if query.control_type and query.control_type != control.control_type:
        return False
    if query.row is not None and not _labels_match(query.row, control.row):
        return False
    if not use_parent:
        return True
    if query.parent_type and query.parent_type != control.parent_type:
        return False
    return not query.parent_text or same_label(query.parent_text, control.parent_text)


def _labels_match(wanted: str, shown: str) -> bool:
    return wanted == shown or same_label(wanted, shown)
