"""Checks of rows on the screen: what a table or list shows of one thing."""

from __future__ import annotations

from taskloom.evaluators_api.checks.declaration import Scene, check
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.records import parts_of, records_of, same_value, text_of
from taskloom.evaluators_api.text_matching import same_name, shown_in


@check("screen")
def check_row_shows(scene: Scene, row: str, text: str) -> bool:
    """Checks if the row called row, of a table or list on the last screen, shows this whole text: the state
    of one thing among others.

    Args:
        row: Name of the row, as the application writes it.

    Example:
        check_row_shows(row='backup', text='running')
    """
    return any(
        shown_in(text, shown)
        for name, texts in scene.view.rows.items()
        if same_name(row, name)
        for shown in texts
    )


@check("screen", of="records")
def check_records_shown(scene: Scene, file_path: str, part: str) -> bool:
    """Checks if a part of a file, such as a table of a database, has records and the last screen shows all of
    them, on whatever page.

    Each record must be seen with all of its values in one row. What else is on the screen does not matter.

    Example:
        check_records_shown(file_path='.applications/desk/shop.db', part='orders')
    """
    return shows_records(scene.view, file_path, part)


def shows_records(view: EvidenceView, file_path: str, part: str) -> bool:
    """Whether all records below the address `part` of a file are rows on the screen, each with all of its
    values."""
    tree = view.tree(file_path)
    found = [
        [text for child in record.children if (text := text_of(child)).strip()]
        for record in (records_of(tree, part) if tree is not None and parts_of(part) else ())
    ]
    return bool(found) and all(
        any(
            all(any(same_value(value, text) for text in (name, *texts)) for value in values)
            for name, texts in view.rows.items()
        )
        for values in found
    )
